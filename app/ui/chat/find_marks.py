"""Where what is looked for stands in the transcript: shown in colour, and scrolled to, place by place."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from PySide6.QtCore import QRectF, QTimer

from app.domain.windows import SESSION_HISTORY
from app.history.folding import fold
from app.ui.chat.find_text import Finding, count
from app.ui.chat.items import ToolCall
from app.ui.chat.section_text import SectionText, ToolSection
from app.ui.chat.transcript_model import Node, Place, RowKey
from app.ui.chat.transcript_view import TranscriptView

_SIDE_PX: Final = 24


class Spot(NamedTuple):
    """One place in an item: its section, its block, and which of the places in that block it is."""

    section: int
    block: int | None
    """None if the section has not been cut into blocks, or is a call."""
    number: int


class FindMarks:
    """Marks a text in a transcript. Places are numbered as the search in the history finds them in a row."""

    def __init__(self, view: TranscriptView, *, missing: Callable[[], None]) -> None:
        """`missing` is called when an item does not have the place that it is said to have."""
        self._view = view
        self._missing = missing
        self._item: Node | None = None
        """The item that is shown for a place that it doesn't show."""
        self._shown = 0

    def look_for(self, text: str) -> None:
        """Mark a text wherever it is on screen; nothing if it is empty."""
        self._view.rows.look.finding = Finding(fold(text)) if text else None
        self._shown += 1
        self._view.viewport().update()

    def forget_place(self) -> None:
        """Mean no place more than the others."""
        self._item = None
        finding = self._view.rows.look.finding
        if finding is not None:
            finding.item, finding.key = -1, None
            self._view.viewport().update()

    def show(self, item_id: str, number: int, total: int) -> None:
        """Bring a place of `total` in an item into view, or the item if it shows no such place."""
        node = self._view.model.node(item_id)
        self._shown += 1
        self.forget_place()
        if node is not None and self._view.rows.look.finding is not None:
            self._seek(node, number, total, self._shown)

    def show_item(self, item_id: str) -> None:
        """Show an item for a place in a message that shows nothing."""
        node = self._view.model.node(item_id)
        self._shown += 1
        self.forget_place()
        if node is not None:
            self._show_item(node)

    def rect(self) -> QRectF | None:
        """Return where the place that is meant is, relative to the viewport; None if it is not laid out there."""
        finding = self._view.rows.look.finding
        if finding is None or finding.key is None:
            return None
        for placed in self._view.flow.placed:
            if (placed.node.order, placed.node.rows[placed.row].key) == (finding.item, finding.key):
                return self._rect_in_row(placed.node, placed.row, finding.span).translated(0, placed.y)
        return None

    def is_in_view(self) -> bool:
        """Return whether the place that is meant is on screen, or the item that stands for it."""
        if self._item is not None:
            return any(placed.node is self._item for placed in self._view.flow.placed)
        rect = self.rect()
        return rect is not None and rect.bottom() > 0 and rect.top() < self._view.viewport().height()

    def first_in_view(self, node: Node) -> int:
        """Return the number of the first place in an item that is not above the window."""
        first = self._view.flow.placed[0]
        return self.first_from(Place(first.node.order, *first.node.rows[first.row].key, 0), node)

    def first_from(self, place: Place, node: Node) -> int:
        """Return the number of the first place in an item that is not before `place`."""
        finding = self._view.rows.look.finding
        if place.item != node.order or finding is None:
            return 0
        key = RowKey(place.section, place.block)
        keys = [RowKey(spot.section, -1 if spot.block is None else spot.block) for spot in self._spots(node)]
        before = sum(each < key for each in keys)
        cell = self._view.rows.cell(node, node.row_at_key(key)) if place.position and key in keys else None
        spans = () if cell is None else cell.find(finding.text)
        return before + sum(start < place.position for start, _ in spans)

    def _seek(self, node: Node, number: int, total: int, turn: int) -> None:
        """Show a place; a long text is cut into blocks slice by slice until it is there."""
        if turn != self._shown or self._view.model.node(node.item.id) is not node:
            return
        model = self._view.model
        if not node.is_expanded:
            model.expand(node)
        spots = list(self._spots(node))
        # What is said in files stands before the text and is not shown.
        number -= max(0, total - len(spots)) if node.item.files else 0
        spot = spots[number] if 0 <= number < len(spots) else None
        if spot is None or (spot.block is None and not self._is_call(node, spot)):
            if spot is not None and node.sections[spot.section].is_pending:
                model.expand(node)
                self._view.sync()
                QTimer.singleShot(0, self._view, lambda: self._seek(node, number, total, turn))
                return
            self._show_item(node)
            self._missing()
            return
        self._show_spot(node, spot)

    def _show_spot(self, node: Node, spot: Spot) -> None:
        if spot.block is None and node.is_folded(spot.section):
            self._view.flow.release()
            self._view.model.toggle_fold(node, spot.section)
        found = self._row_of(node, spot)
        call = node.sections[spot.section]
        if found is None and isinstance(call, ToolSection) and call.has_more:
            self._view.flow.release()
            self._view.model.show_whole(node, spot.section)
            found = self._row_of(node, spot)
        if found is None:
            self._show_item(node, RowKey(spot.section, -1 if spot.block is None else spot.block))
            return
        at, span = found
        finding = self._view.rows.look.finding
        assert finding is not None
        finding.item, finding.key, finding.span = node.order, node.rows[at].key, span
        self._bring_into_view(node, at, span)

    def _row_of(self, node: Node, spot: Spot) -> tuple[int, tuple[int, int]] | None:
        """Return the row and the stretch of its text that a place is shown as, or the nearest to it."""
        finding = self._view.rows.look.finding
        assert finding is not None
        number = spot.number
        for at, row in enumerate(node.rows):
            if row.key.section != spot.section or row.block is None or spot.block not in (None, row.key.block):
                continue
            cell = self._view.rows.cell(node, at)
            spans = () if cell is None else cell.find(finding.text)
            if spans and (number < len(spans) or spot.block is not None):
                return at, spans[min(number, len(spans) - 1)]
            number -= len(spans)
        return None

    def _bring_into_view(self, node: Node, at: int, span: tuple[int, int]) -> None:
        view = self._view
        rect = self._rect_in_row(node, at, span)
        self._scroll_sideways(node, at, span)
        now = self.rect()
        if now is None or now.top() < _SIDE_PX or now.bottom() > view.viewport().height() - _SIDE_PX:
            view.flow.reveal(node, at, below_top=round(view.flow.height / 3 - rect.top()))
        else:
            view.flow.release()
        view.sync()

    def _scroll_sideways(self, node: Node, at: int, span: tuple[int, int]) -> None:
        """Bring a place of a wide table or of long lines of code between the edges of its frame."""
        cell = self._view.rows.cell(node, at)
        if cell is None or not cell.overflow:
            return
        rect = cell.rect_of(span[0], span[1] - span[0])
        if rect.left() < _SIDE_PX:
            cell.scroll_sideways(rect.left() - _SIDE_PX)
        elif rect.right() > cell.width - _SIDE_PX:
            cell.scroll_sideways(min(rect.right() - cell.width + 2 * _SIDE_PX, rect.left() - _SIDE_PX))

    def _rect_in_row(self, node: Node, at: int, span: tuple[int, int]) -> QRectF:
        cell = self._view.rows.cell(node, at)
        frame = self._view.rows.frame(node, at)
        rect = QRectF() if cell is None else cell.rect_of(span[0], span[1] - span[0])
        return rect.translated(frame.x, frame.above)

    def _show_item(self, node: Node, key: RowKey | None = None) -> None:
        """Show an item, or the row of it that comes nearest, for a place that it doesn't show: a link's address."""
        self._item = node
        at = 0 if key is None else node.row_at_key(key)
        if at not in {placed.row for placed in self._view.flow.placed if placed.node is node}:
            self._view.flow.reveal(node, at)
        self._view.sync()
        self._view.mark_item(node.item.id)

    @staticmethod
    def _is_call(node: Node, spot: Spot) -> bool:
        return node.sections[spot.section].kind == "tool"

    def _spots(self, node: Node) -> Iterator[Spot]:
        """Yield the places in an item, in the order in which the search finds them in its row."""
        finding = self._view.rows.look.finding
        if finding is None:
            return
        for at, section in enumerate(node.sections):
            if section.tool is not None:
                for number in range(_count_in_call(section.tool, finding.text)):
                    yield Spot(at, None, number)
            elif section.kind == "text":
                yield from _spots_in_text(at, section, finding.text)


def _spots_in_text(at: int, section: SectionText, folded: str) -> Iterator[Spot]:
    known = 0
    for index, block in enumerate(section.blocks):
        here = count(block.source, folded)
        known += here
        for number in range(here):
            yield Spot(at, index, number)
    if section.is_pending:
        for number in range(max(0, count(section.text, folded) - known)):
            yield Spot(at, None, number)


def _count_in_call(tool: ToolCall, folded: str) -> int:
    # What it gave back repeats what was said, and is not searched.
    if tool.name == SESSION_HISTORY:
        return 0
    return sum(count(text, folded) for value in (tool.arguments, tool.output) for text in _strings(value))


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, in order."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            waiting.extend(reversed(list(item.values())))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(item))
