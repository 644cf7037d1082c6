"""The HTML of a block: for its document, for Copy, for an export. All of the text in it is escaped."""

import re
from html import escape
from typing import Final

from app.ui.chat.blocks import Block, BlockKind
from app.ui.chat.markdown import PARSER_FAULTS, References, render_html

_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`]{3,2000}")
_TRAILING: Final = ".,;:!?)]}*_"


def block_html(block: Block, references: References, *, any_scheme: bool = False) -> str:
    """Return `block` as HTML; links that are not to the web or to a mailbox only with `any_scheme`."""
    match block.kind:
        case BlockKind.RULE:
            return "<hr>\n"
        case BlockKind.CODE:
            return f"<pre><code>{escape(block.code)}</code></pre>\n"
        case BlockKind.PLAIN:
            return plain_html(block.source)
        case BlockKind.MARKDOWN:
            try:
                return render_html(block.source, references, any_scheme=any_scheme)
            except PARSER_FAULTS:
                return plain_html(block.source)


def plain_html(text: str) -> str:
    """Return `text` as typed: a paragraph a line, with bare addresses as links."""
    lines = []
    for line in text.split("\n"):
        if line.strip():
            lines.append(f'<p style="white-space: pre-wrap; margin: 0">{_with_links(line)}</p>')
        else:
            lines.append('<p style="-qt-paragraph-type: empty; margin: 0"><br></p>')
    return "".join(lines)


def _with_links(line: str) -> str:
    made, end = [], 0
    for match in _ADDRESS.finditer(line):
        address = match[0].rstrip(_TRAILING)
        made += [escape(line[end : match.start()]), f'<a href="{escape(address)}">{escape(address)}</a>']
        end = match.start() + len(address)
    return "".join([*made, escape(line[end:])])
