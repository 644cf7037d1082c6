"""Where things are on screen: the row, the letter, the target at a point; and the text between two places."""

from PySide6.QtCore import QPointF, QRect

from app.ui.chat.cells import Cell
from app.ui.chat.flow import Flow, Placed
from app.ui.chat.rows import Rows
from app.ui.chat.targets import Target, TargetId, TargetKind
from app.ui.chat.transcript_model import Node, Place, RowKey, TranscriptModel


class HitTest:
    """Answers in the coordinates of the viewport; is the `BlockReader` of the screen."""

    def __init__(self, model: TranscriptModel, rows: Rows, flow: Flow) -> None:
        self._model = model
        self._rows = rows
        self._flow = flow

    def length(self, node: Node, at: int) -> int:
        """Return the last position of a row."""
        cell = self._rows.cell(node, at)
        return 0 if cell is None else cell.length

    def text(self, node: Node, at: int, start: int, end: int) -> str:
        """Return the visible text between two positions of a row."""
        cell = self._rows.cell(node, at)
        return "" if cell is None else cell.text(start, end)

    def row_at(self, point: QPointF) -> Placed | None:
        """Return the row at a point."""
        return next((each for each in self._flow.placed if each.y <= point.y() < each.y + each.height), None)

    def cell_at(self, point: QPointF) -> Cell | None:
        """Return the laid out block at the height of a point."""
        placed = self.row_at(point)
        return None if placed is None else self._rows.cell(placed.node, placed.row)

    def target_at(self, point: QPointF) -> tuple[TargetId, Target] | None:
        """Return what can be activated at a point."""
        placed = self.row_at(point)
        if placed is None:
            return None
        cell = self._rows.cell(placed.node, placed.row)
        link = "" if cell is None else cell.link_at(self._in_cell(placed, point))
        for target in self._rows.targets(placed):
            is_link = target.kind is TargetKind.LINK
            if (is_link and link and target.payload == link) or (not is_link and target.rect.contains(point)):
                return _id_of(placed, target), target
        return None

    def targets(self) -> list[tuple[TargetId, Target]]:
        """Return everything on screen that can be activated, in reading order."""
        return [
            (_id_of(placed, target), target)
            for placed in self._flow.placed
            for target in self._rows.targets(placed)
            if target.rect.bottom() > 0 and target.rect.top() < self._flow.height
        ]

    def place_at(self, point: QPointF) -> Place | None:
        """Return the text position nearest to a point; None in an empty transcript."""
        shown = self._flow.placed
        if not shown:
            return None
        placed = self.row_at(point) or (shown[0] if point.y() < shown[0].y else shown[-1])
        key = placed.node.rows[placed.row].key
        cell = self._rows.cell(placed.node, placed.row)
        position = 0 if cell is None else cell.position_at(self._in_cell(placed, point))
        return Place(placed.node.order, key.section, key.block, position)

    def bar_at(self, point: QPointF) -> Cell | None:
        """Return the block whose thin bar is at a point."""
        placed, cell = self.row_at(point), self.cell_at(point)
        bar = None if cell is None else cell.bar()
        if placed is None or bar is None or not bar.adjusted(0, -4, 0, 4).contains(self._in_cell(placed, point)):
            return None
        return cell

    def word_at(self, place: Place) -> tuple[Place, Place]:
        """Return the bounds of the word at a place."""
        cell = self._cell_of(place)
        start, end = (place.position, place.position) if cell is None else cell.word_at(place.position)
        return place._replace(position=start), place._replace(position=end)

    def block_at(self, place: Place) -> tuple[Place, Place]:
        """Return the bounds of the block at a place, or of the line if it is code."""
        cell = self._cell_of(place)
        start, end = (0, 0) if cell is None else cell.stretch_at(place.position)
        return place._replace(position=start), place._replace(position=end)

    def text_between(self, start: Place, end: Place) -> str:
        """Return the visible text between two places of one row."""
        cell = self._cell_of(start)
        return "" if cell is None else cell.text(start.position, end.position)

    def rect_of(self, node: Node, *, width: int) -> QRect:
        """Return where an item is; far away it is estimated."""
        return QRect(0, self._flow.top_of(node), width, node.heights.total)

    def _in_cell(self, placed: Placed, point: QPointF) -> QPointF:
        frame = self._rows.frame(placed.node, placed.row)
        return point - QPointF(frame.x, placed.y + frame.above)

    def _cell_of(self, place: Place) -> Cell | None:
        node = self._model.node_of_order(place.item)
        if node is None:
            return None
        at = node.row_at_key(RowKey(place.section, place.block))
        return self._rows.cell(node, at) if node.rows[at].key == (place.section, place.block) else None


def _id_of(placed: Placed, target: Target) -> TargetId:
    return TargetId(placed.node.order, placed.node.rows[placed.row].key, target.number)
