"""What is selected, across blocks and items, and the text that stands for it."""

from collections.abc import Iterator
from html import escape
from typing import Final, NamedTuple, Protocol

from app.ui.chat.block_html import block_html
from app.ui.chat.blocks import Block, BlockKind, clean
from app.ui.chat.items import Speaker
from app.ui.chat.transcript_model import Node, Place, Row, TranscriptModel

_FAR: Final = 1 << 30


class BlockReader(Protocol):
    """Reads what a row shows, by positions in its document."""

    def length(self, node: Node, at: int) -> int:
        """Return the last position."""

    def text(self, node: Node, at: int, start: int, end: int) -> str:
        """Return the visible text between two positions."""


class Part(NamedTuple):
    """A stretch of one row, or a whole item if `at` is None."""

    node: Node
    at: int | None
    start: int
    end: int
    is_whole: bool


class Selection:
    """From an anchor to a head, either of which may come first."""

    def __init__(self) -> None:
        self.anchor: Place | None = None
        self.head: Place | None = None

    def __bool__(self) -> bool:
        return self.anchor is not None and self.anchor != self.head

    @property
    def bounds(self) -> tuple[Place, Place] | None:
        """First and last place; None if nothing is selected."""
        if self.anchor is None or self.head is None or self.anchor == self.head:
            return None
        return min(self.anchor, self.head), max(self.anchor, self.head)

    @property
    def is_long(self) -> bool:
        """Whether more than one block is selected."""
        return (bounds := self.bounds) is not None and bounds[0][:3] != bounds[1][:3]

    def select_items(self, first: Node, last: Node) -> None:
        """Select items from the begin of the first to the end of the last."""
        self.select(Place(first.order, -2, 0, 0), Place(last.order, _FAR, _FAR, 0))

    def clear(self) -> None:
        """Select nothing."""
        self.anchor = self.head = None

    def select(self, anchor: Place, head: Place) -> None:
        """Select from `anchor` to `head`."""
        self.anchor, self.head = anchor, head

    def select_all(self, model: TranscriptModel) -> None:
        """Select every item."""
        if model.nodes:
            self.select(Place(model.nodes[0].order, -2, 0, 0), Place(model.nodes[-1].order, _FAR, _FAR, 0))

    def within(self, node: Node, row: Row, length: int) -> tuple[int, int] | None:
        """Return the selected positions of a row of that length."""
        if (bounds := self.bounds) is None:
            return None
        first, last = bounds
        here = (node.order, *row.key)
        if not first[:3] <= here <= last[:3]:
            return None
        start = min(first.position, length) if first[:3] == here else 0
        end = min(last.position, length) if last[:3] == here else length
        return (start, end) if start < end else None


def selected_text(model: TranscriptModel, selection: Selection, reader: BlockReader, *, as_shown: bool = False) -> str:
    """Return the selection as Markdown, or as it looks.

    A block that is not wholly selected is always as it looks, and so is code that nothing is selected beside.
    """
    parts = list(_parts(model, selection, reader))
    is_code_alone = bool(parts) and _code_end(parts, 0) == len(parts)
    made: list[str] = []
    last: Node | None = None
    at = 0
    while at < len(parts):
        end = max(at + 1, _code_end(parts, at))
        is_text = as_shown or is_code_alone or not _is_whole(parts[at:end])
        for part in parts[at:end]:
            if made:
                made.append(_gap(part) if part.node is last else "\n\n")
            made.append(_part_text(part, reader, as_shown=is_text))
            last = part.node
        at = end
    return "".join(made)


def selected_html(model: TranscriptModel, selection: Selection, reader: BlockReader) -> str:
    """Return the selection as HTML."""
    made = []
    for part in _parts(model, selection, reader, splits_items=True):
        block = _block(part)
        if block is None or part.at is None:
            continue
        if part.is_whole:
            section = part.node.sections[part.node.rows[part.at].key.section]
            made.append(block_html(block, section.references))
        else:
            text = escape(reader.text(part.node, part.at, part.start, part.end)).replace("\n", "<br>")
            made.append(f"<pre>{text}</pre>" if block.code else f"<p>{text}</p>")
    return "".join(made)


def item_text(node: Node) -> str:
    """Return the text of an item as it came, reasoning and what calls gave only where they are unfolded."""
    texts = [node.text_of(at) for at in range(len(node.sections))]
    return clean("\n\n".join(text.strip("\n") for text in texts if text.strip()))


def _parts(
    model: TranscriptModel, selection: Selection, reader: BlockReader, *, splits_items: bool = False
) -> Iterator[Part]:
    if (bounds := selection.bounds) is None:
        return
    first, last = bounds
    for node in model.nodes:
        if not first.item <= node.order <= last.item:
            continue
        is_inside = (first.item < node.order or first.section < 0) and (node.order < last.item or last.section == _FAR)
        if is_inside and not splits_items:
            yield Part(node, None, 0, 0, is_whole=True)
            continue
        if not node.is_expanded:
            model.expand(node)
        for at, row in enumerate(node.rows):
            if row.block is None:
                continue
            is_edge = (node.order, *row.key) in (first[:3], last[:3])
            length = reader.length(node, at) if is_edge else _FAR
            range_ = selection.within(node, row, length)
            if range_ is not None:
                yield Part(node, at, *range_, is_whole=range_ == (0, length))


def _code_end(parts: list[Part], start: int) -> int:
    """Return where the code ends that begins with a part: that of one fence may take several rows."""
    end = start
    while end < len(parts) and (block := _block(parts[end])) is not None and block.kind is BlockKind.CODE:
        if end > start and block.gap == "\n\n":
            break
        end += 1
    return end


def _is_whole(parts: list[Part]) -> bool:
    """Return whether nothing is missing of a block, or of code in several rows."""
    first, last = _block(parts[0]), parts[-1]
    if not all(part.is_whole for part in parts):
        return False
    if first is None or last.at is None or first.kind is not BlockKind.CODE:
        return True
    below = last.node.rows[last.at + 1].block if last.at + 1 < len(last.node.rows) else None
    goes_on = below is not None and below.kind is BlockKind.CODE and below.gap != "\n\n"
    return first.gap == "\n\n" and not goes_on


def _block(part: Part) -> Block | None:
    return None if part.at is None else part.node.rows[part.at].block


def _part_text(part: Part, reader: BlockReader, *, as_shown: bool) -> str:
    if part.at is None:
        if not as_shown or part.node.item.speaker is not Speaker.ASSISTANT:
            return _with_files(part.node)
        rows = [at for at, row in enumerate(part.node.rows) if row.block is not None]
        return "\n\n".join(reader.text(part.node, at, 0, _FAR) for at in rows)
    block = _block(part)
    if part.is_whole and block is not None and not as_shown:
        return block.source
    return reader.text(part.node, part.at, part.start, part.end)


def _with_files(node: Node) -> str:
    """Return the text of an item below the names of its files."""
    names = "\n".join(f"[{file.name}]" for file in node.item.files)
    return "\n\n".join(text for text in (names, item_text(node)) if text)


def _gap(part: Part) -> str:
    block = _block(part)
    return "\n\n" if block is None else block.gap
