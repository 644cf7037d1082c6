"""A code block laid out for painting: header with language and Copy, colours, lines that scroll sideways."""

from typing import Final

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextLayout,
    QTextOption,
)

from app.domain.text import utf16_units
from app.ui.chat.blocks import Block
from app.ui.chat.cells import Cell, Ink
from app.ui.chat.diff_text import ADDED, KEPT, REMOVED
from app.ui.chat.highlight import Span, highlight
from app.ui.chat.style import Style
from app.ui.chat.targets import Target, TargetKind

_PADDING: Final = 12
_HEADER_PADDING: Final = 6
_RADIUS: Final = 8
_MAX_UNBROKEN: Final = 4_000
_LINE_HEIGHT: Final = 125
"""In percent; what is more than the letters need lies below them."""


class CodeCell(Cell):
    """Code in its frame. Lines that are appended are laid out alone."""

    def __init__(self, block: Block, style: Style) -> None:
        super().__init__(block, style)
        self._document.setDefaultFont(style.code)
        self._shown = ""
        self._show()

    def update(self, block: Block) -> None:
        """Show another state of the same block."""
        was, self.block = self.block, block
        if block.code.startswith(was.code) and not block.closed:
            cursor = QTextCursor(self._document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(block.code[len(was.code) :])
        elif block.code != was.code or block.closed != was.closed:
            self._show()
        self._lay_out()

    def paint(self, painter: QPainter, ink: Ink) -> None:
        """Paint at the painter's origin."""
        theme = self._style.theme
        frame = QRectF(0.5, 0.5, self.width - 1, self.height - 1)
        path = QPainterPath()
        radius = self._style.px(_RADIUS)
        path.addRoundedRect(frame, radius, radius)
        painter.fillPath(path, theme.code_background)
        if self._has_header:
            painter.save()
            painter.setClipRect(QRectF(0, 0, self.width, self._header_height), Qt.ClipOperation.IntersectClip)
            painter.fillPath(path, theme.code_header)
            painter.restore()
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        if self._has_header:
            self._paint_header(painter, ink)
        super().paint(painter, ink)

    def stretch_at(self, position: int) -> tuple[int, int]:
        """Return the bounds of the line at a position."""
        line = self._document.findBlock(min(position, self.length))
        return line.position(), line.position() + line.length() - 1

    def targets(self) -> list[Target]:
        """Return the Copy button."""
        if not self._has_header:
            return []
        name = QCoreApplication.translate("CodeCell", "Copy code")
        return [Target(TargetKind.COPY, self._copy_rect(), name)]

    def link_at(self, point: QPointF) -> str:  # noqa: ARG002
        """Return "": code holds no links."""
        return ""

    @property
    def _has_header(self) -> bool:
        return self.block.gap == "\n\n"

    @property
    def _header_height(self) -> int:
        return self._style.small_height + self._style.px(_HEADER_PADDING) if self._has_header else 0

    def _inset(self) -> QRectF:
        padding = self._style.px(_PADDING)
        return QRectF(padding, self._header_height + padding - 3, padding, padding - 3)

    def _bar_room(self) -> int:
        return 0

    def _lay_out(self) -> None:
        wraps = self._document.defaultTextOption().wrapMode() is not QTextOption.WrapMode.NoWrap
        self._document.setTextWidth(self._room() if wraps else -1)

    def _content_width(self) -> float:
        return self._document.idealWidth()

    def _show(self) -> None:
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        option.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
        option.setTabStopDistance(4 * QFontMetricsF(self._style.code).horizontalAdvance(" "))
        option.setWrapMode(self._wrap_mode())
        self._document.setDefaultTextOption(option)
        self._document.setPlainText(self.block.code)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(_LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor = QTextCursor(self._document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(spaced)
        if self.block.is_diff:
            self._show_signs()
        elif self.block.closed:
            self._colour()

    def _show_signs(self) -> None:
        """Let what is too long for a line go on below its text, not below its sign."""
        indent = QFontMetricsF(self._style.code).horizontalAdvance(KEPT)
        hanging = QTextBlockFormat()
        hanging.setLeftMargin(indent)
        hanging.setTextIndent(-indent)
        cursor = QTextCursor(self._document)
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(hanging)

    def _paint_below(self, painter: QPainter) -> None:
        """Paint the ground of lines that come or go, from one line to the next without a gap."""
        if not self.block.is_diff:
            return
        grounds = {ADDED: self._style.theme.added, REMOVED: self._style.theme.removed}
        layout, room = self._document.documentLayout(), self._room()
        raise_by = QFontMetricsF(self._style.code).height() * (_LINE_HEIGHT - 100) / 200
        block = self._document.begin()
        while block.isValid():
            ground = grounds.get(block.text()[: len(ADDED)])
            if ground is not None:
                rect = layout.blockBoundingRect(block)
                painter.fillRect(QRectF(0, rect.top() - raise_by, room, rect.height() + 2 * raise_by), ground)
            block = block.next()

    def _wrap_mode(self) -> QTextOption.WrapMode:
        if max(map(len, self.block.code.split("\n"))) > _MAX_UNBROKEN:
            return QTextOption.WrapMode.WrapAnywhere
        return QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere if self.block.wraps else QTextOption.WrapMode.NoWrap

    def _colour(self) -> None:
        code = self.block.code
        spans = highlight(code, self.block.language, self._style.theme.code)
        is_wide = any(ord(char) > 0xFFFF for char in code)
        block, start, at = self._document.begin(), 0, 0
        for line in code.split("\n"):
            end = start + len(line)
            formats: list[QTextLayout.FormatRange] = []
            while at < len(spans) and spans[at].start < end:
                formats += _format_range(line, start, spans[at], is_wide=is_wide)
                if spans[at].start + spans[at].length > end:
                    break
                at += 1
            if formats:
                block.layout().setFormats(formats)
            start = end + 1
            while at < len(spans) and spans[at].start + spans[at].length <= start:
                at += 1
            block = block.next()

    def _copy_rect(self) -> QRectF:
        advance = QFontMetricsF(self._style.small).horizontalAdvance(_copy_label(is_copied=False))
        done = QFontMetricsF(self._style.small).horizontalAdvance(_copy_label(is_copied=True))
        wide = max(advance, done) + self._style.px(16)
        return QRectF(self.width - wide - 3, 3, wide, self._header_height - 6)

    def _paint_header(self, painter: QPainter, ink: Ink) -> None:
        theme = self._style.theme
        painter.setFont(self._style.small)
        rect = self._copy_rect()
        if ink.hovered == 0:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.hover)
            painter.drawRoundedRect(rect, 4, 4)
        painter.setPen(theme.text if ink.hovered == 0 else theme.muted)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, _copy_label(is_copied=ink.is_copied))
        painter.setPen(theme.muted)
        padding = self._style.px(_PADDING)
        room = QRectF(padding, 0, rect.left() - padding - 8, self._header_height)
        label = QFontMetricsF(self._style.small).elidedText(
            self.block.language or QCoreApplication.translate("CodeCell", "code"),
            Qt.TextElideMode.ElideRight,
            room.width(),
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)


def _copy_label(*, is_copied: bool) -> str:
    if is_copied:
        return QCoreApplication.translate("CodeCell", "Copied")
    return QCoreApplication.translate("CodeCell", "Copy")


def _format_range(line: str, start: int, span: Span, *, is_wide: bool) -> list[QTextLayout.FormatRange]:
    first = max(0, span.start - start)
    last = min(len(line), span.start + span.length - start)
    if last <= first:
        return []
    if is_wide:
        first, last = utf16_units(line[:first]), utf16_units(line[:last])
    made = QTextLayout.FormatRange()
    made.start, made.length = first, last - first
    look = QTextCharFormat()
    look.setForeground(span.colour)
    made.format = look
    return [made]
