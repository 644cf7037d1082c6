"""Puts parts of the transcript on the clipboard."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QClipboard, QGuiApplication

from app.ui.chat.block_html import block_html, plain_html
from app.ui.chat.blocks import BlockKind, clean
from app.ui.chat.items import Speaker
from app.ui.chat.section_text import ToolSection
from app.ui.chat.selection import BlockReader, Selection, item_text, selected_html, selected_text
from app.ui.chat.transcript_model import Node, RowKey, TranscriptModel

_MAX_HTML_CHARS: Final = 262_144
"""Beyond this the clipboard gets no HTML: a megabyte takes a second to render."""
_MAX_SHOWN_CHARS: Final = 65_536
_MAX_PRIMARY_CHARS: Final = 65_536


def copy_text(text: str) -> None:
    """Put `text` on the clipboard."""
    QGuiApplication.clipboard().setText(clean(text))


def copy_selection(model: TranscriptModel, selection: Selection, reader: BlockReader) -> None:
    """Put the selection on the clipboard, as Markdown and as HTML; nothing if nothing is selected."""
    text = selected_text(model, selection, reader)
    if not text:
        return
    data = QMimeData()
    data.setText(text)
    if len(text) <= _MAX_HTML_CHARS:
        data.setHtml(selected_html(model, selection, reader))
    QGuiApplication.clipboard().setMimeData(data)


def copy_plain(model: TranscriptModel, selection: Selection, reader: BlockReader) -> None:
    """Put the selection on the clipboard as it looks; a very long one as Markdown."""
    text = selected_text(model, selection, reader)
    if text:
        is_long = len(text) > _MAX_SHOWN_CHARS
        copy_text(text if is_long else selected_text(model, selection, reader, as_shown=True))


def copy_nodes(model: TranscriptModel, nodes: Sequence[Node]) -> None:
    """Put items on the clipboard, as Markdown and as HTML."""
    text = "\n\n".join(filter(None, map(item_text, nodes)))
    data = QMimeData()
    data.setText(text)
    if len(text) <= _MAX_HTML_CHARS:
        data.setHtml("".join(_item_html(model, node) for node in nodes))
    QGuiApplication.clipboard().setMimeData(data)


def copy_code(node: Node, key: RowKey) -> None:
    """Put a code block on the clipboard, with the parts that a long one goes on in."""
    code: list[str] = []
    for block in node.sections[key.section].blocks[key.block :]:
        if code and (block.gap == "\n\n" or block.kind is not BlockKind.CODE):
            break
        code.append((block.gap if code else "") + block.code)
    copy_text("".join(code))


def offer_selection(model: TranscriptModel, selection: Selection, reader: BlockReader) -> None:
    """Offer the selection to the middle mouse button where the system has that."""
    board = QGuiApplication.clipboard()
    bounds = selection.bounds
    if not board.supportsSelection() or bounds is None or bounds[1].item - bounds[0].item > 20:
        return
    text = selected_text(model, selection, reader)
    if text and len(text) <= _MAX_PRIMARY_CHARS:
        board.setText(text, QClipboard.Mode.Selection)


def _item_html(model: TranscriptModel, node: Node) -> str:
    if node.item.speaker is not Speaker.ASSISTANT:
        return plain_html(item_text(node))
    while any(section.is_pending and not section.is_live for section in node.sections) or not node.is_expanded:
        model.expand(node)
    made = []
    for at, section in enumerate(node.sections):
        if isinstance(section, ToolSection):
            made.append(plain_html(section.headline))
        if not node.is_folded(at):
            references = section.references
            made += [block_html(block, references) for block in section.blocks]
    return "".join(made)
