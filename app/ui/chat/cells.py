"""Blocks laid out for painting: one document each, kept while the row is near the window."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontMetricsF,
    QPainter,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextLine,
    QTextListFormat,
    QTextOption,
)

from app.ui.chat.blocks import Block
from app.ui.chat.find_text import spans
from app.ui.chat.safe_document import SafeDocument
from app.ui.chat.style import Style
from app.ui.chat.targets import Target, TargetKind

_LONG_WORD: Final = re.compile(r"\S{4000}")
_WIDE_WORD: Final = re.compile(r"[^\s|]{60}")
_NUMBER: Final = re.compile(r"^[ >]*(\d{1,9})[.)] ", re.MULTILINE)
_HEADING: Final = re.compile("<h([1-6])>(.*?)</h\\1>", re.DOTALL)
_BAR_HEIGHT: Final = 4
_BAR_ROOM: Final = 10
_MAX_LINKS: Final = 200
_FEW_FOUND: Final = 12
"""More places in a block get a ground only, below the text in its own colours."""
_MAX_QUOTES: Final = 30
_BULLET_GAP: Final = 8
_BOXES: Final = ("☐", "☑")
"""A list item that begins with one needs no bullet."""


@dataclass(frozen=True, slots=True)
class Ink:
    """What a cell is painted with, apart from its own text."""

    style: Style
    clip: QRectF
    """The part that is on screen, relative to the cell."""
    selection: tuple[int, int] | None = None
    found: Sequence[tuple[int, int]] = ()
    """Where what is looked for stands."""
    meant: tuple[int, int] | None = None
    """Which of these is meant."""
    is_copied: bool = False
    hovered: int | None = None
    """The number of the target below the pointer."""


class Cell:
    """A document in a frame; wider than the frame, it can be scrolled sideways."""

    def __init__(self, block: Block, style: Style) -> None:
        self.block = block
        self.width = 0.0
        self.scroll_x = 0.0
        self._style = style
        self._found: tuple[str, Block, tuple[tuple[int, int], ...]] | None = None
        self._coloured: list[QAbstractTextDocumentLayout.Selection] = []
        """What is found as it is painted; made when it is first painted."""
        self._rects: dict[tuple[int, int], QRectF] = {}
        """Where in the document many places are, as far as they were painted."""
        self._document = SafeDocument()
        self._document.setDefaultFont(style.body)

    def update(self, block: Block) -> None:
        """Show another state of the same block."""
        raise NotImplementedError

    def set_width(self, width: float) -> None:
        """Lay out for a frame of that width."""
        if width != self.width:
            self.width = width
            self._rects = {}
            self._lay_out()
            self.scroll_x = min(self.scroll_x, self.overflow)

    @property
    def height(self) -> int:
        """The height of the frame."""
        inset = self._inset()
        return math.ceil(inset.y() + self._document.size().height() + inset.height() + self._bar_room())

    @property
    def natural_width(self) -> float:
        """How wide the text is without the room it leaves."""
        return self._document.idealWidth()

    @property
    def overflow(self) -> float:
        """How far it can be scrolled sideways."""
        return max(0.0, self._content_width() - self._room())

    @property
    def length(self) -> int:
        """The last position in the text."""
        return self._document.characterCount() - 1

    def scroll_sideways(self, pixels: float) -> bool:
        """Scroll by that much; return whether anything moved."""
        moved = max(0.0, min(self.scroll_x + pixels, self.overflow))
        changed = moved != self.scroll_x
        self.scroll_x = moved
        return changed

    def bar(self) -> QRectF | None:
        """Return where the thin bar is that scrolls sideways."""
        if not self.overflow:
            return None
        room, inset = self._room(), self._inset()
        length = max(24.0, room * room / self._content_width())
        left = inset.x() + (room - length) * self.scroll_x / self.overflow
        return QRectF(left, self.height - _BAR_HEIGHT - 3, length, _BAR_HEIGHT)

    def drag_bar(self, pixels: float) -> bool:
        """Move the bar by that much."""
        bar = self.bar()
        free = self._room() - (bar.width() if bar else 0)
        return free > 0 and self.scroll_sideways(pixels * self.overflow / free)

    def position_at(self, point: QPointF) -> int:
        """Return the text position nearest to a point of the frame."""
        return max(0, self._document.documentLayout().hitTest(self._inside(point), Qt.HitTestAccuracy.FuzzyHit))

    def is_text_at(self, point: QPointF) -> bool:
        """Return whether there is a letter at a point of the frame."""
        return self._document.documentLayout().hitTest(self._inside(point), Qt.HitTestAccuracy.ExactHit) >= 0

    def stretch_at(self, position: int) -> tuple[int, int]:  # noqa: ARG002
        """Return the bounds of what a triple click selects."""
        return 0, self.length

    def word_at(self, position: int) -> tuple[int, int]:
        """Return the bounds of the word at a position."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(min(position, self.length))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return cursor.selectionStart(), cursor.selectionEnd()

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return what stands between two positions, as plain text."""
        selected = self._cursor(start, self.length if end is None else end).selection().toPlainText()
        return selected.replace("\xa0", " ").strip("\n")

    def find(self, folded: str) -> tuple[tuple[int, int], ...]:
        """Return where a folded text stands, in reading order; kept until it or the block is another."""
        if self._found is None or self._found[0] != folded or self._found[1] is not self.block:
            self._found = (folded, self.block, spans(self._document.toPlainText(), folded))
            self._coloured, self._rects = [], {}
        return self._found[2]

    def rect_of(self, position: int, length: int) -> QRectF:
        """Return a rectangle round a stretch of text, at least its first line, relative to the frame."""
        return self._rect_of(position, length)

    def paint(self, painter: QPainter, ink: Ink) -> None:
        """Paint at the painter's origin."""
        inset = self._inset()
        painter.save()
        painter.setClipRect(QRectF(inset.x(), 0, self._room(), self.height) & ink.clip, Qt.ClipOperation.IntersectClip)
        painter.translate(inset.x() - self.scroll_x, inset.y())
        self._paint_below(painter)
        context = QAbstractTextDocumentLayout.PaintContext()
        context.clip = ink.clip.translated(self.scroll_x - inset.x(), -inset.y())
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, self._text_colour())
        context.palette = palette
        selections = self._show_found(painter, ink, context.clip) if ink.found else []
        if ink.selection is not None and ink.selection[0] < ink.selection[1]:
            selections.append(self._selection(*ink.selection))
        if selections:
            context.selections = selections
        self._document.documentLayout().draw(painter, context)
        painter.restore()
        bar = self.bar()
        if bar is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._style.theme.border)
            painter.drawRoundedRect(bar, 2, 2)

    def targets(self) -> list[Target]:
        """Return what can be activated, relative to the frame."""
        found: list[Target] = []
        for position, length, address in self._links():
            rect = self._rect_of(position, length)
            name = self.text(position, position + length)
            found.append(Target(TargetKind.LINK, rect, name, address, len(found)))
        return found

    def link_at(self, point: QPointF) -> str:
        """Return the address of the link at a point of the frame; "" if there is none."""
        return self._document.documentLayout().anchorAt(self._inside(point))

    def _inset(self) -> QRectF:
        """Return what the frame adds: x and y before the text, width and height after it."""
        return QRectF(0, 0, 0, 0)

    def _lay_out(self) -> None:
        self._document.setTextWidth(self._room())

    def _content_width(self) -> float:
        return self._document.size().width()

    def _text_colour(self) -> QColor:
        return self._style.theme.text

    def _paint_below(self, painter: QPainter) -> None:
        """Paint what lies below the text."""

    def _room(self) -> float:
        inset = self._inset()
        return max(20.0, self.width - inset.x() - inset.width())

    def _bar_room(self) -> int:
        return _BAR_ROOM if self.overflow else 0

    def _inside(self, point: QPointF) -> QPointF:
        inset = self._inset()
        return QPointF(point.x() - inset.x() + self.scroll_x, point.y() - inset.y())

    def _cursor(self, start: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self._document)
        cursor.setPosition(min(start, self.length))
        cursor.setPosition(min(end, self.length), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _selection(self, start: int, end: int) -> QAbstractTextDocumentLayout.Selection:
        selection = QAbstractTextDocumentLayout.Selection()
        selection.cursor = self._cursor(start, end)
        look = QTextCharFormat()
        look.setBackground(self._style.theme.selection)
        look.setForeground(self._style.theme.selection_text)
        selection.format = look
        return selection

    def _show_found(self, painter: QPainter, ink: Ink, clip: QRectF) -> list[QAbstractTextDocumentLayout.Selection]:
        """Return what is found as selections; where it is too much for them, paint grounds below the text.

        Qt draws a line once more for each selection in it.
        """
        meant = [] if ink.meant is None else [self._found_at(ink.meant, is_meant=True)]
        if len(ink.found) > _FEW_FOUND:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._style.theme.found_below)
            painter.drawRects(self._grounds(ink.found, clip))
            return meant
        if not self._coloured:
            self._coloured = [self._found_at(span, is_meant=False) for span in ink.found]
        return self._coloured + meant

    def _grounds(self, found: Sequence[tuple[int, int]], clip: QRectF) -> list[QRectF]:
        """Return where in the document the visible ones of many places are."""
        layout = self._document.documentLayout()
        first = layout.hitTest(clip.topLeft(), Qt.HitTestAccuracy.FuzzyHit)
        last = layout.hitTest(clip.bottomRight(), Qt.HitTestAccuracy.FuzzyHit)
        start = bisect_left(found, first, key=lambda span: span[1])
        stop = bisect_right(found, last, key=lambda span: span[0])
        shift = QPointF(self._inset().x() - self.scroll_x, self._inset().y())
        for span in found[start:stop]:
            if span not in self._rects:
                self._rects[span] = self._rect_of(span[0], span[1] - span[0]).translated(-shift)
        return [self._rects[span] for span in found[start:stop]]

    def _found_at(self, span: tuple[int, int], *, is_meant: bool) -> QAbstractTextDocumentLayout.Selection:
        theme = self._style.theme
        selection = QAbstractTextDocumentLayout.Selection()
        selection.cursor = self._cursor(*span)
        look = QTextCharFormat()
        look.setBackground(theme.found_here if is_meant else theme.found)
        look.setForeground(theme.found_here_text if is_meant else theme.found_text)
        selection.format = look
        return selection

    def _links(self) -> list[tuple[int, int, str]]:
        """Return position, length and address of each link."""
        found: list[tuple[int, int, str]] = []
        block = self._document.begin()
        while block.isValid() and len(found) < _MAX_LINKS:
            fragments = block.begin()
            while not fragments.atEnd():
                fragment = fragments.fragment()
                address = fragment.charFormat().anchorHref()
                position, length = fragment.position(), fragment.length()
                if address and found and found[-1][2] == address and found[-1][0] + found[-1][1] == position:
                    found[-1] = (found[-1][0], found[-1][1] + length, address)
                elif address:
                    found.append((position, length, address))
                fragments += 1
            block = block.next()
        return found

    def _rect_of(self, position: int, length: int) -> QRectF:
        """Return a rectangle round a stretch of text, at least its first line."""
        block = self._document.findBlock(position)
        layout = block.layout()
        start = position - block.position()
        line = layout.lineForTextPosition(start)
        if not line.isValid():
            return QRectF()
        end = min(start + length, line.textStart() + line.textLength())
        left, right = _x_of(line, start), _x_of(line, end)
        origin = self._document.documentLayout().blockBoundingRect(block).topLeft()
        inset = self._inset()
        rect = QRectF(min(left, right), line.y(), abs(right - left), line.height())
        return rect.translated(origin + QPointF(inset.x() - self.scroll_x, inset.y()))


class TextCell(Cell):
    """Markdown or plain text; `html` makes escaped HTML of a block."""

    def __init__(self, block: Block, style: Style, html: Callable[[Block], str], *, is_muted: bool) -> None:
        super().__init__(block, style)
        self._html = html
        self._is_muted = is_muted
        self._marks: Marks | None = None
        self._document.setDefaultStyleSheet(style.sheet(muted=is_muted))
        self._show()

    def update(self, block: Block) -> None:
        """Show another state of the same block."""
        self.block = block
        self._show()
        self._lay_out()

    @property
    def marks(self) -> "Marks":
        """What is painted beside the text."""
        if self._marks is None:
            self._marks = Marks(self._find_bars(), self._find_bullets())
        return self._marks

    def _show(self) -> None:
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        html = _for_qt(self._html(self.block)).rstrip()  # a line end after the last tag would be a blank
        option.setWrapMode(_wrap_mode(self.block.source, is_table=html.startswith("<table")))
        self._document.setDefaultTextOption(option)
        self._document.setIndentWidth(_indent_width(self.block.source, QFontMetricsF(self._style.body)))
        self._document.setHtml(html)
        self._tidy()

    def _tidy(self) -> None:
        """Leave the distances above and below to the row."""
        plain = QTextBlockFormat()
        first, last = self._document.begin(), self._document.lastBlock()
        plain.setTopMargin(0)
        QTextCursor(first).mergeBlockFormat(plain)
        plain = QTextBlockFormat()
        plain.setBottomMargin(0)
        QTextCursor(last).mergeBlockFormat(plain)
        block = first
        while block.isValid():
            if block.textDirection() is Qt.LayoutDirection.RightToLeft:
                _mirror(block)
            block = block.next()

    def _lay_out(self) -> None:
        super()._lay_out()
        self._marks = None

    def _text_colour(self) -> QColor:
        return self._style.theme.muted if self._is_muted else self._style.theme.text

    def _paint_below(self, painter: QPainter) -> None:
        """Paint the bars beside quotes and the bullets of lists."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._style.theme.border)
        painter.drawRects(self.marks.bars)
        for bullet, colour in self.marks.bullets:
            painter.setBrush(colour)
            painter.drawEllipse(bullet)

    def _find_bars(self) -> list[QRectF]:
        found: list[QRectF] = []
        block = self._document.begin()
        layout = self._document.documentLayout()
        bottoms: list[float] = []
        was_mirrored = False
        indent, bar = self._style.quote_indent, self._style.px(3)
        while block.isValid():
            rect = layout.blockBoundingRect(block)
            look = block.blockFormat()
            is_mirrored = look.rightMargin() > look.leftMargin()
            levels = min(round(max(look.leftMargin(), look.rightMargin()) / indent), _MAX_QUOTES)
            if is_mirrored is not was_mirrored:
                bottoms = []
            bottoms = [bottoms[level] if level < len(bottoms) else rect.top() for level in range(levels)]
            # A list item of a quote is indented inside it; a quote in a list is indented as a whole.
            if is_mirrored:
                width = self._document.size().width()
                start = width if block.textList() else _text_right(block) + levels * indent
            else:
                start = 0.0 if block.textList() else _text_left(block) - levels * indent
            for level in range(levels):
                top = bottoms[level]
                left = start - level * indent - bar if is_mirrored else start + level * indent
                found.append(QRectF(left, top, bar, rect.bottom() - top))
            bottoms, was_mirrored = [rect.bottom()] * levels, is_mirrored
            block = block.next()
        return found

    def _find_bullets(self) -> list[tuple[QRectF, QColor]]:
        """Return where the bullets are: those that Qt draws are large, and a blank away from the text."""
        found: list[tuple[QRectF, QColor]] = []
        size = max(4.0, QFontMetricsF(self._style.body).xHeight() * 0.62)
        block = self._document.begin()
        while block.isValid():
            list_ = block.textList()
            is_bullet = list_ is not None and list_.format().style() is QTextListFormat.Style.ListStyleUndefined
            if is_bullet and block.layout().lineCount() and not block.text().startswith(_BOXES):
                is_quoted = block.blockFormat().leftMargin() or block.blockFormat().rightMargin()
                colour = self._style.theme.muted if is_quoted else self._text_colour()
                found.append((_bullet_before(block, size), colour))
            block = block.next()
        return found


@dataclass(frozen=True, slots=True)
class Marks:
    """What is painted beside the text."""

    bars: list[QRectF]
    bullets: list[tuple[QRectF, QColor]]


def _mirror(block: QTextBlock) -> None:
    """Let a block that is read from right to left begin at the right: in a quote and in a table's cell."""
    look, mirrored = block.blockFormat(), QTextBlockFormat()
    if look.leftMargin():
        mirrored.setLeftMargin(0)
        mirrored.setRightMargin(look.leftMargin())
    if look.alignment() & Qt.AlignmentFlag.AlignLeft and look.alignment() & Qt.AlignmentFlag.AlignAbsolute:
        mirrored.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute)
    QTextCursor(block).mergeBlockFormat(mirrored)


def _bullet_before(block: QTextBlock, size: float) -> QRectF:
    line = block.layout().lineAt(0)
    text = line.naturalTextRect().translated(block.layout().position())
    metrics = QFontMetricsF(block.charFormat().font())
    middle = text.top() + line.ascent() - metrics.xHeight() / 2
    is_mirrored = block.textDirection() is Qt.LayoutDirection.RightToLeft
    left = text.right() + _BULLET_GAP if is_mirrored else text.left() - _BULLET_GAP - size
    return QRectF(left, middle - size / 2, size, size)


def _for_qt(html: str) -> str:
    """Return `html` with headings as paragraphs: Qt gives h1 to h6 sizes that no style sheet changes.

    A list with a paragraph in it has the distances of paragraphs throughout.
    """
    html = _HEADING.sub(r'<p class="h\1">\2</p>', html)
    return html.replace("<li>", '<li class="loose">') if "<li><p>" in html else html


def _wrap_mode(source: str, *, is_table: bool) -> QTextOption.WrapMode:
    if _LONG_WORD.search(source) is not None:
        return QTextOption.WrapMode.WrapAnywhere  # looking for a place to break a word is quadratic in its length
    if is_table and _WIDE_WORD.search(source) is None:
        return QTextOption.WrapMode.WordWrap  # a table too wide for its words is scrolled sideways
    return QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere


def _indent_width(source: str, metrics: QFontMetricsF) -> float:
    """Return room for a bullet, or for the longest number of a list."""
    digits = max(map(len, _NUMBER.findall(source)), default=1)
    return metrics.horizontalAdvance("0" * max(digits, 2) + ".") + _BULLET_GAP


def _text_left(block: QTextBlock) -> float:
    layout = block.layout()
    return layout.position().x() + (layout.lineAt(0).x() if layout.lineCount() else 0.0)


def _text_right(block: QTextBlock) -> float:
    layout = block.layout()
    line = layout.lineAt(0) if layout.lineCount() else None
    return layout.position().x() + (line.x() + line.width() if line else 0.0)


def _x_of(line: QTextLine, position: int) -> float:
    return cast("tuple[float, int]", line.cursorToX(position))[0]
