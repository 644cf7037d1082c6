"""Markdown to blocks and to escaped HTML; the one place that knows markdown-it.

Raw HTML stays text, a picture becomes a link that names its host, and nothing here loads anything. The library is
imported at first use: the first window does not pay for it.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_NESTING: Final = 24
"""Quotes and lists deeper than this are shown as plain text: they would leave no width to write in."""
PARSER_FAULTS: Final = (IndexError, KeyError, ValueError, AttributeError, TypeError, RecursionError, RuntimeError)
"""What the parser and its plugins may raise on text made to break them."""


@dataclass(slots=True)
class References:
    """Link and footnote definitions of a message; its blocks share them."""

    links: dict[str, Any] = field(default_factory=dict)
    footnotes: dict[str, int] = field(default_factory=dict)

    def copy(self) -> "References":
        """Return the same definitions in dictionaries of their own."""
        return References(dict(self.links), dict(self.footnotes))

    def says_the_same(self, other: "References") -> bool:
        """Return whether every label leads to the same place in both."""
        return self.footnotes.keys() == other.footnotes.keys() and self._targets() == other._targets()

    def _targets(self) -> dict[str, str]:
        return {label: target["href"] for label, target in self.links.items()}

    def as_env(self) -> dict[str, Any]:
        """Return the parser's form; it writes new definitions into the same dictionaries."""
        return {"references": self.links, "footnotes": {"refs": self.footnotes, "list": {}}}


class TopBlock(NamedTuple):
    """A block at the outermost level: lines `first` to `last` (exclusive) of the text it was found in."""

    type: str
    first: int
    last: int
    depth: int
    """The deepest nesting inside it."""
    parts: tuple[int, ...]
    """First lines of a list's items."""
    info: str
    """What follows an opening fence."""
    content: str
    """The text of a code block."""


def find_blocks(source: str, references: References) -> list[TopBlock]:
    """Return the outermost blocks of `source` in order; definitions found are added to `references`."""
    parser = _parser()
    tokens: list[Any] = []
    parser.block.parse(source, parser, references.as_env(), tokens)
    found: list[TopBlock] = []
    start = 0
    for place, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            inner = tokens[start : place + 1]
            opening = inner[0]
            first, last = opening.map or (0, 0)
            depth = max(each.level for each in inner)
            parts = tuple(
                each.map[0] for each in inner if each.level == 1 and each.type == "list_item_open" and each.map
            )
            found.append(TopBlock(opening.type, first, last, depth, parts, opening.info, opening.content))
            start = place + 1
    return found


def render_html(source: str, references: References, *, any_scheme: bool = False) -> str:
    """Return `source` as HTML in which all of its text is escaped.

    A link to anything but the web or a mailbox is its words alone, unless `any_scheme` says that somebody asks
    before it is opened. A relative one always is.
    """
    env = references.copy().as_env() | {"any_scheme": any_scheme}
    rendered: str = _parser().render(source, env)
    return rendered


def fence_language(info: str) -> str:
    """Return the language that an opening fence names, without attributes; "" if none."""
    words = info.replace("{", " ").replace("}", " ").replace(",", " ").split()
    return words[0].lstrip(".").strip()[:40] if words else ""


@cache
def _parser() -> "MarkdownIt":
    from app.ui.chat.markdown_parser import build_parser

    return build_parser(max_nesting=MAX_NESTING + 4)
