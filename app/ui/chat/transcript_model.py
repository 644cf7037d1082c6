"""What the transcript consists of: items, their rows (one a block) and the heights of both.

Holds values, no widgets. An item is one row of estimated height until it comes near the window; then `expand` cuts its
text into blocks, a slice at a time if it is long.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from time import monotonic
from typing import Final, NamedTuple

from app.ui.chat.blocks import Block, BlockKind
from app.ui.chat.heights import Heights
from app.ui.chat.items import Item, Section, SectionKind, Speaker, ToolCall
from app.ui.chat.section_text import SectionText, ToolSection

_LAST: Final = 1 << 30
_BELOW_BLOCKS: Final = _LAST + 1
_BELOW_ALL: Final = _LAST + 2
_SLICE_SECONDS: Final = 0.02


class RowKind(Enum):
    """What a row shows."""

    HEADER = auto()
    FILES = auto()
    FOLD = auto()
    TOOL = auto()
    """The line of a tool card that is always there."""
    MORE = auto()
    """Below a result that is not shown to its end."""
    ASK = auto()
    """What can be answered to the question of a call."""
    DIVIDER = auto()
    BLOCK = auto()
    PENDING = auto()
    """Text that is not cut into blocks yet."""
    WAIT = auto()
    """A reply that has not said a word yet."""
    FOOTER = auto()
    BAR = auto()
    """What can be done with a message, and which version it is."""


class RowKey(NamedTuple):
    """Where a row stands in its item; keys of an item ascend, and survive that rows appear above."""

    section: int
    block: int


_START: Final = RowKey(-2, 0)
_OF_VALUES: Final = frozenset(
    {RowKind.HEADER, RowKind.FOOTER, RowKind.TOOL, RowKind.MORE, RowKind.ASK, RowKind.DIVIDER, RowKind.BAR}
)
"""Rows whose height no block of text decides."""


@dataclass(slots=True)
class Row:
    """One row; `measured` is the layout for which its height is exact."""

    kind: RowKind
    key: RowKey
    block: Block | None = None
    measured: int = 0


class Place(NamedTuple):
    """A position in the whole transcript; places compare in reading order."""

    item: int
    """The item's `order`."""
    section: int
    block: int
    position: int


@dataclass(frozen=True, slots=True)
class Scale:
    """What heights are estimated with."""

    line_height: int = 20
    line_chars: int = 90

    def estimate(self, chars: int, lines: int) -> int:
        """Return about how high `lines` lines with `chars` characters are."""
        return self.line_height * (lines + chars // self.line_chars) + self.line_height // 2


class Node:
    """An item with the rows it is shown as."""

    def __init__(self, item: Item, order: int, scale: Scale) -> None:
        self.item = item
        self.order = order
        self.sections = [_section_text(item, section) for section in item.sections]
        self.unfolded: set[int] = set()
        self.unfold_questions()
        self.rows: list[Row] = [Row(RowKind.PENDING, RowKey(0, _LAST))]
        self.heights = Heights([self.estimate(scale)])
        self.is_expanded = False
        self.goes_on = False
        """Whether it goes on with the item above: the next step of the same reply needs no header."""
        self.is_continued = False
        """Whether the item below goes on with it: what can be done with a reply stands below its last step."""
        self.version = 0
        """Grows whenever the rows change."""

    def estimate(self, scale: Scale) -> int:
        """Return about how high the item is, folded as it is now."""
        shown = [section for at, section in enumerate(self.sections) if self._is_unfolded(at)]
        chars, lines = sum(section.chars for section in shown), sum(section.lines for section in shown)
        tools = sum(2 for section in self.sections if section.kind == "tool")
        lines_beside = 2 + (len(self.sections) > 1) + 2 * -(-len(self.item.files) // 3) + tools
        return scale.estimate(chars, lines) + scale.line_height * lines_beside

    def row_at_key(self, key: RowKey) -> int:
        """Return the row of that key, or the one nearest below it."""
        return min(bisect_left(self.rows, key, key=lambda row: row.key), len(self.rows) - 1)

    def is_folded(self, section: int) -> bool:
        """Return whether that section shows only its fold line."""
        return not self._is_unfolded(section)

    def unfold_questions(self) -> None:
        """Unfold what the person is asked about."""
        self.unfolded |= {at for at, section in enumerate(self.sections) if _asks(section)}

    def text_of(self, section: int) -> str:
        """Return what a section says as it is folded now: its text, or a call as Markdown."""
        text = self.sections[section]
        if isinstance(text, ToolSection):
            return f"[{text.headline}]" if self.is_folded(section) else text.copied
        return "" if self.is_folded(section) else text.text

    def build_rows(self, scale: Scale, *, since: RowKey = _START) -> None:
        """Make the rows from `since` on anew; what is known of rows that stay the same is kept."""
        kept = bisect_left(self.rows, since, key=lambda row: row.key) if self.is_expanded else 0
        old = {
            self.rows[at].key: (self.rows[at], self.heights[at], self._is_below_code(at))
            for at in range(kept, len(self.rows))
        }
        del self.rows[kept:]
        self.heights.truncate(kept)
        self.is_expanded = True
        self.version += 1
        for row in self._make_rows(since):
            before, height, was_below_code = old.get(row.key, (None, 0, False))
            if before is not None and before.block is row.block and before.kind is row.kind:
                is_of_values = row.kind in _OF_VALUES
                if is_of_values or was_below_code is not self._is_below_code(len(self.rows)):
                    before.measured = 0
                row = before  # noqa: PLW2901
            self.rows.append(row)
            self.heights.append(height or self._estimate_row(row, scale))
        if self.item.speaker is Speaker.USER:  # all of a bubble is as wide as its widest row
            for row in self.rows:
                row.measured = 0

    def _is_unfolded(self, section: int) -> bool:
        return self.sections[section].kind == "text" or section in self.unfolded

    def _is_below_code(self, at: int) -> bool:
        """Return whether the row above is code, which keeps a greater distance."""
        above = self.rows[at - 1].block if at else None
        return above is not None and above.kind is BlockKind.CODE

    def _make_rows(self, since: RowKey) -> Iterator[Row]:
        if self.item.is_divider:
            yield Row(RowKind.DIVIDER, RowKey(0, 0))
            return
        if since <= (-1, 0) and self.item.speaker is not Speaker.NOTICE and not self.goes_on:
            yield Row(RowKind.HEADER, RowKey(-1, 0))
        if since <= (-1, 1) and self.item.files:
            yield Row(RowKind.FILES, RowKey(-1, 1))
        for at, section in enumerate(self.sections):
            if at < since.section:
                continue
            yield from self._rows_of(at, section, since.block if at == since.section else -1)
        if self.item.streaming and not any(section.has_words for section in self.sections):
            yield Row(RowKind.WAIT, RowKey(len(self.sections), 0))
        if self.item.note or self.item.actions or not self.rows:
            yield Row(RowKind.FOOTER, RowKey(_LAST, 0))
        if (self.item.speaker is not Speaker.NOTICE or self.item.has_version) and not self.is_continued:
            yield Row(RowKind.BAR, RowKey(_LAST, 1))

    def _rows_of(self, at: int, section: SectionText, first: int) -> Iterator[Row]:
        """Give the rows of a section from its block `first` on; all of them if that is negative."""
        if section.kind != "text" and first < 0:
            yield Row(RowKind.FOLD if section.kind == "reasoning" else RowKind.TOOL, RowKey(at, -1))
        if self._is_unfolded(at):
            for index in range(max(0, first), len(section.blocks)):
                yield Row(RowKind.BLOCK, RowKey(at, index), section.blocks[index])
            if section.is_pending:
                yield Row(RowKind.PENDING, RowKey(at, _LAST))
            if isinstance(section, ToolSection) and (section.has_more or section.note):
                yield Row(RowKind.MORE, RowKey(at, _BELOW_BLOCKS))
        if _asks(section):
            yield Row(RowKind.ASK, RowKey(at, _BELOW_ALL))

    def _estimate_row(self, row: Row, scale: Scale) -> int:
        if row.kind is RowKind.PENDING:
            section = self.sections[row.key.section]
            return scale.estimate(section.pending_chars, section.pending_chars // 60)
        if row.block is None:
            return scale.line_height * 2
        text = row.block.source
        if row.block.kind is BlockKind.CODE:
            return scale.line_height * (text.count("\n") + 3)
        return scale.estimate(len(text), text.count("\n") + 1)


class TranscriptModel:
    """All items in order."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.heights = Heights()
        self.scale = Scale()
        self._by_id: dict[str, Node] = {}
        self._behind: dict[str, Node] = {}
        self._first_order = 0
        self._next_order = 0

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._by_id

    def node(self, item_id: str) -> Node | None:
        """Return the item of that id."""
        return self._by_id.get(item_id)

    def index_of(self, node: Node) -> int:
        """Return where `node` stands among `nodes`."""
        return bisect_left(self.nodes, node.order, key=lambda each: each.order)

    def node_of_order(self, order: int) -> Node | None:
        """Return the item of that order, if it is still there."""
        at = bisect_left(self.nodes, order, key=lambda each: each.order)
        return self.nodes[at] if at < len(self.nodes) and self.nodes[at].order == order else None

    @property
    def newest_message(self) -> Node | None:
        """The last item that is no notice."""
        return next((node for node in reversed(self.nodes) if node.item.speaker is not Speaker.NOTICE), None)

    def first_step(self, node: Node) -> Node:
        """Return the first item of the reply that an item belongs to."""
        at = self.index_of(node)
        while at > 0 and self.nodes[at].goes_on:
            at -= 1
        return self.nodes[at]

    def last_step(self, node: Node) -> Node:
        """Return the last item of the reply that an item belongs to."""
        at = self.index_of(node)
        while at + 1 < len(self.nodes) and self.nodes[at].is_continued:
            at += 1
        return self.nodes[at]

    def set_items(self, items: Iterable[Item]) -> None:
        """Show `items` and nothing else."""
        self.nodes = []
        self._by_id = {}
        self._behind = {}
        for item in items:
            self._add_below(item)
        self._sum_up()

    def prepend(self, items: Sequence[Item]) -> None:
        """Add older items above."""
        fresh = [item for item in items if item.id not in self._by_id]
        mine, self.nodes = self.nodes, []
        self._first_order -= len(fresh)
        for at, item in enumerate(fresh):
            self._insert(at, item, self._first_order + at)
        self.nodes += mine
        self._join(len(fresh))
        self._sum_up()

    def append(self, item: Item) -> Node:
        """Add a newer item below."""
        node = self._add_below(item)
        self.heights.append(node.heights.total)
        return node

    def remove(self, item_id: str) -> Node | None:
        """Take an item out; return it."""
        node = self._by_id.pop(item_id, None)
        if node is not None:
            self._behind.pop(item_id, None)
            at = self.index_of(node)
            del self.nodes[at]
            self._join(at)
            self._sum_up()
        return node

    def cut(self, item_ids: Iterable[str]) -> list[Node]:
        """Take many items out; return them."""
        found = [self._by_id.pop(item_id) for item_id in item_ids if item_id in self._by_id]
        gone = set(map(id, found))
        for node in found:
            self._behind.pop(node.item.id, None)
        self.nodes = [node for node in self.nodes if id(node) not in gone]
        self._join(len(self.nodes))
        self._sum_up()
        return found

    def update(self, item: Item) -> Node | None:
        """Replace the item of that id; blocks that say the same stay the same objects."""
        node = self._by_id.get(item.id)
        if node is None:
            return None
        old, was = node.sections, node.item
        asked = {at for at, section in enumerate(old) if _asks(section)}
        node.item = item
        node.sections = [
            _succeed(
                old[at] if at < len(old) and was.speaker is item.speaker else None,
                item,
                section,
                # Nothing is added to a stretch that another one stands below.
                is_live=item.streaming and at + 1 == len(item.sections),
            )
            for at, section in enumerate(item.sections)
        ]
        if any(_asks(section) and at not in asked for at, section in enumerate(node.sections)):
            node.unfold_questions()
        if node.is_expanded:
            for section in node.sections:
                section.advance()
            node.build_rows(self.scale)
            self._behind[item.id] = node
        else:
            node.heights[0] = node.estimate(self.scale)
        index = self.index_of(node)
        for at in range(index, min(index + 2, len(self.nodes))):
            self._join(at)
            self.heights[at] = self.nodes[at].heights.total
        return node

    def append_delta(self, item_id: str, kind: SectionKind, text: str) -> Node | None:
        """Add streamed text to an item; `catch_up` cuts it into blocks."""
        node = self._by_id.get(item_id)
        if node is None:
            return None
        if not node.sections or node.sections[-1].kind != kind:
            if node.sections:
                node.sections[-1].is_live = False
            node.sections.append(_section_text(replace(node.item, streaming=True), Section(kind, "")))
        node.sections[-1].append(text)
        self._behind[item_id] = node
        return node

    @property
    def is_behind(self) -> bool:
        """Whether an expanded item has text that is not cut into blocks yet."""
        return bool(self._behind)

    def catch_up(self) -> list[Node]:
        """Cut the next slice of what has arrived into blocks; return the items that changed."""
        changed = []
        for item_id, node in list(self._behind.items()):
            del self._behind[item_id]
            if node.is_expanded:
                self.expand(node)
            else:
                node.heights[0] = node.estimate(self.scale)
                self.heights[self.index_of(node)] = node.heights.total
            changed.append(node)
        return changed

    def expand(self, node: Node) -> None:
        """Give `node` its rows, or those that some 20 ms of work yield; `catch_up` goes on."""
        until = monotonic() + _SLICE_SECONDS
        self._advance(node)
        while any(section.is_pending for section in node.sections) and monotonic() < until:
            self._advance(node)
        if any(section.is_pending for section in node.sections):
            self._behind[node.item.id] = node
        self.heights[self.index_of(node)] = node.heights.total

    def _advance(self, node: Node) -> None:
        first = len(node.sections)
        since = RowKey(first, -1) if node.is_expanded else _START
        for at, section in enumerate(node.sections):
            settled = section.advance()
            if settled is not None and at < first:
                first, since = at, min(since, RowKey(at, settled or -1))
        node.build_rows(self.scale, since=since)

    def toggle_fold(self, node: Node, section: int) -> None:
        """Fold or unfold a section of reasoning or a call."""
        node.unfolded ^= {section}
        node.build_rows(self.scale)
        self.heights[self.index_of(node)] = node.heights.total

    def show_whole(self, node: Node, section: int) -> None:
        """Show as much of a call's result as can be shown."""
        call = node.sections[section]
        if isinstance(call, ToolSection):
            call.show_whole()
            self.expand(node)

    def set_height(self, node: Node, row: int, height: int) -> None:
        """Note what a row really measures."""
        if node.heights[row] != height:
            node.heights[row] = height
            self.heights[self.index_of(node)] = node.heights.total

    def rescale(self, scale: Scale) -> None:
        """Estimate again the items that nobody has looked at yet."""
        self.scale = scale
        for node in self.nodes:
            if not node.is_expanded:
                node.heights[0] = node.estimate(scale)
        self._sum_up()

    def _add_below(self, item: Item) -> Node:
        self._next_order += 1  # never back: others know items by their order, also those that are gone
        return self._insert(len(self.nodes), item, self._next_order - 1)

    def _insert(self, at: int, item: Item, order: int) -> Node:
        node = self._by_id[item.id] = Node(item, order, self.scale)
        self.nodes.insert(at, node)
        self._join(at)
        return node

    def _join(self, at: int) -> None:
        """Give an item a header, or take it away, as the item above it says; so with the line below the item above."""
        is_next = 0 < at < len(self.nodes) and _is_next_step(self.nodes[at - 1], self.nodes[at])
        if 0 < at <= len(self.nodes) and self.nodes[at - 1].is_continued is not is_next:
            above = self.nodes[at - 1]
            above.is_continued = is_next
            if above.is_expanded:
                above.build_rows(self.scale)
            if at <= len(self.heights):
                self.heights[at - 1] = above.heights.total
        if at >= len(self.nodes):
            return
        node = self.nodes[at]
        if is_next is not node.goes_on:
            node.goes_on = is_next
            if node.is_expanded:
                node.build_rows(self.scale)

    def _sum_up(self) -> None:
        self.heights = Heights(node.heights.total for node in self.nodes)


def _asks(section: SectionText) -> bool:
    return isinstance(section, ToolSection) and section.asks


def _is_next_step(above: Node, node: Node) -> bool:
    """Return whether an item is what a model said when it had the results of the calls above."""
    is_same = above.item.speaker is node.item.speaker is Speaker.ASSISTANT and above.item.name == node.item.name
    has_called = bool(above.sections) and above.sections[-1].kind == "tool"
    return is_same and has_called and not above.item.note and not above.item.actions


def _section_text(item: Item, section: Section) -> SectionText:
    if section.tool is not None:
        return ToolSection(section.tool)
    is_markdown = item.speaker is Speaker.ASSISTANT
    made = SectionText(section.kind, section.text, is_markdown=is_markdown, is_live=item.streaming)
    made.seconds = section.seconds
    return made


def _succeed(old: SectionText | None, item: Item, section: Section, *, is_live: bool) -> SectionText:
    if section.tool is not None:
        return _succeed_call(old, section.tool)
    if old is not None and old.kind == section.kind and old.text == section.text:
        old.seconds = section.seconds
        old.is_live = is_live
        return old
    new = _section_text(item, section)
    new.is_live = is_live
    if old is not None and old.kind == section.kind:
        new.take_over(old)
    return new


def _succeed_call(old: SectionText | None, tool: ToolCall) -> SectionText:
    """Keep how long a call took, which its row does not say."""
    if not isinstance(old, ToolSection) or old.tool.call_id != tool.call_id:
        return ToolSection(tool)
    if tool.seconds is None:
        tool = replace(tool, seconds=old.tool.seconds)
    if old.tool == tool:
        return old
    new = ToolSection(tool)
    new.take_over(old)
    return new
