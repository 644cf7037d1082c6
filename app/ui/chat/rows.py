"""Rows laid out and painted: where each stands in the column, how high it is, what can be activated in it."""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.ui.chat import answer_row, divider, furniture, tool_card
from app.ui.chat.attachments_row import FileChips
from app.ui.chat.block_html import block_html
from app.ui.chat.blocks import Block, BlockKind
from app.ui.chat.cells import Cell, Ink, TextCell
from app.ui.chat.code_cell import CodeCell
from app.ui.chat.find_text import Finding
from app.ui.chat.flow import Placed
from app.ui.chat.items import Speaker
from app.ui.chat.message_bar import MessageBars
from app.ui.chat.section_text import ToolSection
from app.ui.chat.style import Style
from app.ui.chat.targets import Target, TargetId, TargetKind
from app.ui.chat.transcript_model import Node, Row, RowKey, RowKind, Scale, TranscriptModel

CACHED_CELLS: Final = 150
BUBBLE_OFFSET: Final = 4
"""How far below the header a bubble begins."""
_COLUMN_MARGIN: Final = 12
"""Least room beside the column; the composer leaves as much."""
_BUBBLE_PADDING: Final = 14
_BUBBLE_SHARE: Final = 0.86
_BUBBLE_ROWS: Final = 8
"""A longer message takes the whole width of its bubble without being measured for it."""
_REASONING_INDENT: Final = 14
_ITEM_GAP: Final = 14
"""The line below a message leaves as much room again, and more."""
_BLOCK_GAP: Final = 10
_HEADING_GAP: Final = 18
_CODE_GAP: Final = 14
_BUBBLE_BELOW: Final = 6
"""The spacing of lines leaves some room below the last one."""


class Frame(NamedTuple):
    """Where a row's content stands: from the window's left edge, below the row's top, and what is left below it."""

    x: float
    above: int
    width: float
    below: int


@dataclass(slots=True)
class Look:
    """What of the painting changes without the rows: focus, pointer, selection."""

    hovered: TargetId | None = None
    copied: TargetId | None = None
    wait_step: int | None = None
    marked: int | None = None
    """The order of the item that was jumped to."""
    finding: Finding | None = None
    """What is looked for in the text."""
    faded_behind: int | None = None
    """The order of the item behind which everything is faded: it will be cut off."""


class Rows:
    """Lays out rows for a width; holds the documents of those near the window."""

    def __init__(self, model: TranscriptModel, style: Style) -> None:
        self.look = Look()
        self.style = style
        self.layout = 1
        """Number of the present layout: rows measured for another one are measured again."""
        self.files = FileChips()
        self.tools = tool_card.ToolCards()
        self.bars = MessageBars(model)
        self._model = model
        self._is_restyled = False
        self._column_x = 12.0
        self._column = 400.0
        self._cells: OrderedDict[tuple[int, RowKey], Cell] = OrderedDict()
        self._bubbles: dict[int, tuple[int, int, float]] = {}

    @property
    def column(self) -> tuple[float, float]:
        """Where the column of text begins, and how wide it is."""
        return self._column_x, self._column

    def set_width(self, width: int) -> Scale | None:
        """Lay out for a window of that width; return the scale of estimates if it changed much, or the font did."""
        column = float(min(self.style.column, max(80, width - 2 * _COLUMN_MARGIN)))
        x = float(max(_COLUMN_MARGIN, math.ceil((width - column) / 2)))
        is_restyled, self._is_restyled = self._is_restyled, False
        if (column, x) == (self._column, self._column_x) and not is_restyled:
            return None
        if column != self._column:
            self.layout += 1
        self._column, self._column_x = column, x
        scale, was = self.scale(), self._model.scale
        has_changed = abs(scale.line_chars - was.line_chars) > was.line_chars / 5
        return scale if is_restyled or has_changed else None

    def scale(self) -> Scale:
        """Return what heights are estimated with."""
        advance = QFontMetricsF(self.style.body).averageCharWidth() or 8.0
        return Scale(self.style.line_height, max(10, int(self._column / advance)))

    def set_style(self, style: Style) -> None:
        """Paint with another theme or font from now on."""
        if style.body != self.style.body:
            self.layout += 1
            self._is_restyled = True
        self.style = style
        self.files.restyle()
        self.tools.restyle()
        self.bars.restyle()
        self._cells.clear()

    def forget(self) -> None:
        """Drop all documents, and small pictures of files."""
        self.files.forget()
        self._cells.clear()
        self._bubbles.clear()

    def forget_item(self, node: Node) -> None:
        """Drop the documents of an item."""
        for key in [key for key in self._cells if key[0] == node.order]:
            del self._cells[key]
        self._bubbles.pop(node.order, None)

    def measure(self, node: Node, at: int) -> int:
        """Return the height of a row, laying it out if need be."""
        row = node.rows[at]
        if row.measured != self.layout:
            self._model.set_height(node, at, self._height(node, at, row))
            row.measured = self.layout
        return node.heights[at]

    def frame(self, node: Node, at: int) -> Frame:
        """Return where the content of a row stands."""
        row = node.rows[at]
        above, below = self._gaps(node, at, row)
        if row.kind not in {RowKind.BLOCK, RowKind.PENDING, RowKind.MORE, RowKind.ASK}:
            return Frame(self._column_x, above, self._column, below)
        if node.item.speaker is Speaker.USER:
            width = self.bubble_width(node)
            left = self._column_x + self._column - width
            padding = self.style.px(_BUBBLE_PADDING)
            return Frame(left + padding, above, width - 2 * padding, below)
        if self._is_folded_away(node, row):
            indent = self.style.px(_REASONING_INDENT)
            return Frame(self._column_x + indent, above, self._column - indent, below)
        return Frame(self._column_x, above, self._column, below)

    def bubble_width(self, node: Node) -> float:
        """Return how wide a user's bubble is: as wide as its text, within limits."""
        known = self._bubbles.get(node.order)
        if known is not None and known[:2] == (self.layout, node.version):
            return known[2]
        widest = float(int(self._column * _BUBBLE_SHARE))
        padding = self.style.px(_BUBBLE_PADDING)
        room = widest - 2 * padding
        blocks = [row for row in node.rows if row.block is not None]
        width = 0.0
        if len(blocks) > _BUBBLE_ROWS or any(row.block and row.block.kind is BlockKind.CODE for row in blocks):
            width = room
        else:
            for row in blocks:
                cell = self._make_cell(node, row)
                cell.set_width(room)
                width = max(width, math.ceil(cell.natural_width) + 1)
        width = min(widest, width + 2 * padding)
        self._bubbles[node.order] = (self.layout, node.version, width)
        return width

    def cell(self, node: Node, at: int) -> Cell | None:
        """Return the laid out block of a row; None for a row without one."""
        row = node.rows[at]
        if row.block is None or row.block.kind is BlockKind.RULE:
            return None
        cell = self._cell(node, row)
        cell.set_width(self.frame(node, at).width)
        return cell

    def targets(self, placed: Placed) -> list[Target]:
        """Return what can be activated in a row, relative to the window."""
        node, at = placed.node, placed.row
        row = node.rows[at]
        frame = self.frame(node, at)
        top = placed.y + frame.above
        match row.kind:
            case RowKind.FOLD:
                rect = furniture.fold_rect(self.style, node, row.key.section, self._rect(placed, frame))
                name = furniture.fold_text(node, row.key.section)
                return [Target(TargetKind.FOLD, rect, name, row.key.section)]
            case RowKind.TOOL:
                return [self.tools.target(node, row.key.section, self._rect(placed, frame))]
            case RowKind.MORE:
                call = node.sections[row.key.section]
                rect = self._rect(placed, frame)
                return tool_card.more_targets(self.style, call, rect) if isinstance(call, ToolSection) else []
            case RowKind.ASK:
                call = node.sections[row.key.section]
                rect = self._rect(placed, frame)
                return answer_row.answer_targets(self.style, call, rect) if isinstance(call, ToolSection) else []
            case RowKind.FOOTER:
                return furniture.footer_targets(self.style, node.item, self._rect(placed, frame))
            case RowKind.BAR:
                return self.bars.targets(self.style, node, self._rect(placed, frame))
            case RowKind.BLOCK:
                cell = self.cell(node, at)
                found = [] if cell is None else cell.targets()
                return [
                    Target(each.kind, each.rect.translated(frame.x, top), each.name, each.payload, each.number)
                    for each in found
                ]
            case _:
                return []

    def paint(self, painter: QPainter, placed: Placed, clip: QRectF, selection: tuple[int, int] | None) -> None:
        """Paint one row in a window of which `clip` is to be painted."""
        node, row = placed.node, placed.node.rows[placed.row]
        frame = self.frame(node, placed.row)
        rect = self._rect(placed, frame)
        hovered = self.look.hovered
        number = hovered.number if hovered and hovered[:2] == (node.order, row.key) else None
        match row.kind:
            case RowKind.HEADER:
                furniture.paint_header(painter, self.style, node.item, rect)
            case RowKind.FILES:
                self.files.paint(painter, self.style, node.item, rect)
            case RowKind.FOLD:
                furniture.paint_fold(painter, self.style, node, row.key.section, rect, hovered=number is not None)
            case RowKind.TOOL:
                self.tools.paint(painter, self.style, node, row.key.section, rect, hovered=number is not None)
            case RowKind.MORE | RowKind.ASK:
                self._paint_below_call(painter, placed, rect, number)
            case RowKind.DIVIDER:
                divider.paint_divider(painter, self.style, node.item, rect)
            case RowKind.WAIT:
                furniture.paint_wait(painter, self.style, rect, self.look.wait_step)
            case RowKind.FOOTER:
                furniture.paint_footer(painter, self.style, node.item, rect, number)
            case RowKind.BAR:
                copied = self.look.copied
                done = copied.number if copied and copied[:2] == (node.order, row.key) else None
                self.bars.paint(painter, self.style, node, rect, hovered=number, copied=done)
            case RowKind.BLOCK:
                self._paint_block(painter, placed, frame, clip, selection, number)
            case RowKind.PENDING:
                pass

    def paint_bubble(self, painter: QPainter, node: Node, top: int, bottom: int) -> None:
        """Paint the ground below a user's text, from `top` to `bottom`."""
        width = self.bubble_width(node)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.style.theme.user_background)
        radius = self.style.px(_BUBBLE_PADDING)
        painter.drawRoundedRect(QRectF(self._column_x + self._column - width, top, width, bottom - top), radius, radius)

    def _paint_block(
        self,
        painter: QPainter,
        placed: Placed,
        frame: Frame,
        clip: QRectF,
        selection: tuple[int, int] | None,
        hovered: int | None,
    ) -> None:
        node, row = placed.node, placed.node.rows[placed.row]
        theme = self.style.theme
        top = placed.y + frame.above
        if self._is_folded_away(node, row):
            self._paint_bar(painter, placed)
        cell = self.cell(node, placed.row)
        if cell is None:
            painter.fillRect(QRectF(frame.x, top + 6, frame.width, 1), theme.border)
            return
        copied = self.look.copied is not None and self.look.copied[:2] == (node.order, row.key)
        painter.save()
        painter.translate(frame.x, top)
        found, meant = self._found(node, row, cell)
        ink = Ink(self.style, clip.translated(-frame.x, -top), selection, found, meant, copied, hovered)
        cell.paint(painter, ink)
        painter.restore()

    def _paint_below_call(self, painter: QPainter, placed: Placed, rect: QRectF, hovered: int | None) -> None:
        row = placed.node.rows[placed.row]
        call = placed.node.sections[row.key.section]
        if not isinstance(call, ToolSection):
            return
        self._paint_bar(painter, placed)
        if row.kind is RowKind.MORE:
            tool_card.paint_more(painter, self.style, call, rect, hovered=hovered is not None)
        else:
            answer_row.paint_answers(painter, self.style, call, rect, hovered=hovered)

    def _paint_bar(self, painter: QPainter, placed: Placed) -> None:
        """Paint the line beside what can be folded away."""
        painter.fillRect(QRectF(self._column_x + 1, placed.y, 2, placed.height), self.style.theme.border)

    def _found(self, node: Node, row: Row, cell: Cell) -> tuple[Sequence[tuple[int, int]], tuple[int, int] | None]:
        """Return where in a block what is looked for stands, and which of the places is meant."""
        finding = self.look.finding
        if finding is None or node.item.speaker is Speaker.NOTICE:
            return (), None
        is_here = (finding.item, finding.key) == (node.order, row.key)
        return cell.find(finding.text), finding.span if is_here else None

    def _rect(self, placed: Placed, frame: Frame) -> QRectF:
        return QRectF(frame.x, placed.y + frame.above, frame.width, placed.height - frame.above - frame.below)

    def _height(self, node: Node, at: int, row: Row) -> int:
        above, below = self._gaps(node, at, row)
        style = self.style
        match row.kind:
            case RowKind.HEADER:
                inner = furniture.header_height(style, node.item, self._column)
            case RowKind.FOLD:
                inner = style.small_height + style.px(8)
            case RowKind.FILES:
                inner = self.files.height(style, node.item, self._column)
            case RowKind.TOOL | RowKind.MORE | RowKind.ASK:
                inner = self._call_height(node, at)
            case RowKind.DIVIDER:
                inner = divider.divider_height(style, node.item, self._column)
            case RowKind.WAIT:
                inner = style.line_height
            case RowKind.FOOTER:
                inner = furniture.footer_height(style, node.item, self._column)
            case RowKind.BAR:
                inner = self.bars.height(style)
            case RowKind.PENDING:
                return node.heights[at]
            case RowKind.BLOCK:
                cell = self.cell(node, at)
                inner = 13 if cell is None else cell.height
        return above + inner + below

    def _call_height(self, node: Node, at: int) -> int:
        row = node.rows[at]
        call = node.sections[row.key.section]
        assert isinstance(call, ToolSection)
        if row.kind is RowKind.TOOL:
            return self.tools.height(self.style, call.tool, self._column)
        if row.kind is RowKind.ASK:
            return answer_row.answer_height(self.style, call, self.frame(node, at).width)
        return tool_card.more_height(self.style, call, self.frame(node, at).width)

    def _gaps(self, node: Node, at: int, row: Row) -> tuple[int, int]:
        """Return the room above and below a row's content."""
        above, below = self._plain_gaps(node, at, row)
        return self.style.px(above), self.style.px(below)

    def _plain_gaps(self, node: Node, at: int, row: Row) -> tuple[int, int]:
        if at == 0:
            gap = _BLOCK_GAP if node.goes_on else _ITEM_GAP
            return gap, {RowKind.HEADER: 4, RowKind.TOOL: 2}.get(row.kind, 0)
        previous = node.rows[at - 1]
        if row.block is None:
            return _gaps_of_furniture(row.kind, previous.kind)
        is_user = node.item.speaker is Speaker.USER
        is_last = at + 1 == len(node.rows) or node.rows[at + 1].block is None
        below = _BUBBLE_BELOW if is_user and is_last else 0
        if is_user and is_last and row.block.kind is BlockKind.CODE:
            below = _BUBBLE_PADDING
        if previous.kind in {RowKind.HEADER, RowKind.FILES}:
            return BUBBLE_OFFSET + _BUBBLE_PADDING - 4 if is_user else 2, below
        if row.block.gap != "\n\n":
            return 0 if row.block.kind is not BlockKind.MARKDOWN else 2, below
        if BlockKind.CODE in {row.block.kind, previous.block.kind if previous.block else None}:
            return _CODE_GAP, below
        is_heading = row.block.kind is BlockKind.MARKDOWN and row.block.source.startswith("#")
        return _HEADING_GAP if is_heading else _BLOCK_GAP, below

    def _is_folded_away(self, node: Node, row: Row) -> bool:
        """Return whether a row belongs to what is folded away at first."""
        section = row.key.section
        return 0 <= section < len(node.sections) and node.sections[section].kind != "text"

    def _is_reasoning(self, node: Node, row: Row) -> bool:
        section = row.key.section
        return 0 <= section < len(node.sections) and node.sections[section].kind == "reasoning"

    def _cell(self, node: Node, row: Row) -> Cell:
        key = (node.order, row.key)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = self._make_cell(node, row)
            if len(self._cells) > CACHED_CELLS:
                self._cells.popitem(last=False)
            return cell
        self._cells.move_to_end(key)
        if row.block is not None and cell.block is not row.block:
            is_code = row.block.kind is BlockKind.CODE
            if is_code is isinstance(cell, CodeCell):
                cell.update(row.block)
            else:
                cell = self._cells[key] = self._make_cell(node, row)
        return cell

    def _make_cell(self, node: Node, row: Row) -> Cell:
        block = row.block
        assert block is not None
        if block.kind is BlockKind.CODE:
            return CodeCell(block, self.style)

        def html(shown: Block) -> str:
            return block_html(shown, node.sections[row.key.section].references, any_scheme=True)

        if node.item.speaker is Speaker.NOTICE:
            return TextCell(block, self.style.for_notices(), html, is_muted=True)
        return TextCell(block, self.style, html, is_muted=self._is_reasoning(node, row))


def _gaps_of_furniture(kind: RowKind, previous: RowKind) -> tuple[int, int]:
    match kind:
        case RowKind.FOLD:
            return 2 if previous is RowKind.HEADER else _BLOCK_GAP, 2
        case RowKind.TOOL:
            return 6 if previous in {RowKind.HEADER, RowKind.TOOL} else _BLOCK_GAP, 2
        case RowKind.FOOTER | RowKind.MORE:
            return 6, 0
        case RowKind.ASK:
            return 8, 2
        case _:
            return 4, 0
