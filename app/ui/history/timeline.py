"""The strip that shows all windows to scale, where the agent's view ends, and where hits lie.

A picture for the eye: all of it can be read and reached in the list as well.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.domain.windows import WindowInfo
from app.ui.history.wording import number_text, window_tooltip
from app.ui.theme import Theme
from app.ui.tooltip import plain_tooltip

HEIGHT: Final = 22
"""In pixels, before any zoom."""
_LEAST: Final = 4.0
"""A window is at least so wide, as long as there is room for all."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a window lies on the strip, in pixels."""

    window: WindowInfo
    left: float
    right: float


def spans(windows: Sequence[WindowInfo], width: float) -> list[Span]:
    """Lay windows out, oldest at the left: by tokens if all but the active one tell them, else by bytes."""
    ordered = sorted(windows, key=lambda window: window.number)
    sizes = [float(max(1, size)) for size in _sizes(ordered)]
    least = _LEAST if ordered and _LEAST * len(ordered) <= width / 2 else 0.0
    room = width - least * len(ordered)
    total = sum(sizes)
    found: list[Span] = []
    left = 0.0
    for window, size in zip(ordered, sizes, strict=True):
        right = left + least + room * size / total
        found.append(Span(window, left, right))
        left = right
    return found


def _sizes(windows: list[WindowInfo]) -> list[float]:
    lengths = [float(max(0, window.end - window.start)) for window in windows]
    known = [(window.tokens, length) for window, length in zip(windows, lengths, strict=True) if window.tokens]
    closed = [window for window in windows if not window.is_active]
    if not known or any(not window.tokens for window in closed):
        return lengths
    # What the active window costs is not known here: as much for its length as the others.
    rate = sum(tokens for tokens, _length in known) / max(1.0, sum(length for _tokens, length in known))
    return [float(window.tokens or length * rate) for window, length in zip(windows, lengths, strict=True)]


class Timeline(QWidget):
    """Shows windows as bars; a click chooses one."""

    chosen = Signal(str)
    """The id of a window."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._windows: tuple[WindowInfo, ...] = ()
        self._spans: list[Span] = []
        self._hits: Sequence[int] = ()
        self._ticks: set[int] = set()
        self._current = ""
        self._on_screen: tuple[int, int] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Timeline"))
        self.setMouseTracking(True)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self._theme = theme
        self.setFixedHeight(theme.px(HEIGHT))
        self.update()

    def show_windows(self, windows: tuple[WindowInfo, ...]) -> None:
        """Show these windows."""
        self._windows = windows
        self._lay_out()
        count = self.tr("{count} windows").format(count=number_text(len(windows)))
        words = self.tr("1 window") if len(windows) == 1 else count
        self.setAccessibleDescription(
            self.tr("{windows}, drawn to scale; the list below has them all.").format(windows=words)
        )

    def show_hits(self, offsets: Sequence[int]) -> None:
        """Mark where hits lie, in bytes of the stretch."""
        if len(offsets) != len(self._hits) or not offsets:
            self._hits = tuple(offsets)
            self._place_ticks()

    def show_on_screen(self, place: tuple[int, int] | None) -> None:
        """Frame what the transcript shows, from and to which byte of the stretch; None for nothing."""
        if place != self._on_screen:
            self._on_screen = place
            self.update()

    def select(self, window_id: str) -> None:
        """Show which window is looked at."""
        if window_id != self._current:
            self._current = window_id
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self._theme.px(HEIGHT))

    def span_at(self, x: float) -> Span | None:
        """Return the window at a place."""
        return next((span for span in self._spans if span.left <= x < span.right), None)

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._lay_out()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        span = self.span_at(event.position().x())
        if span is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(span.window.id)

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            span = self.span_at(event.pos().x())
            text = window_tooltip(span.window) if span is not None else ""
            if span is not None and span.window.is_above_floor:
                text = f"{text}\n{self.tr('The agent can’t look here.')}"
            QToolTip.showText(event.globalPos(), plain_tooltip(text), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for span in self._spans:
            self._paint_span(painter, span)
        self._paint_floor(painter)
        self._paint_ticks(painter)
        self._paint_on_screen(painter)
        painter.end()

    def _lay_out(self) -> None:
        self._spans = spans(self._windows, float(self.width()))
        self._place_ticks()

    def _place_ticks(self) -> None:
        self._ticks = {round(self._x_of(offset)) for offset in self._hits if self._spans}
        self.update()

    def _x_of(self, offset: int) -> float:
        """Return where a byte of the stretch lies on the strip, which is not empty."""
        at = bisect_right(self._spans, offset, key=lambda span: span.window.start)
        span = self._spans[max(0, at - 1)]
        size = max(1, span.window.end - span.window.start)
        share = min(1.0, max(0, offset - span.window.start) / size)
        return span.left + share * (span.right - span.left)

    def _bar(self, span: Span) -> QRectF:
        gap = 1.0 if span.right - span.left > 3 else 0.0
        top = self.height() * 0.3
        return QRectF(span.left, top, max(1.0, span.right - span.left - gap), self.height() - top - 2)

    def _paint_span(self, painter: QPainter, span: Span) -> None:
        theme, bar = self._theme, self._bar(span)
        is_current = span.window.id == self._current
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.selection if is_current else theme.border)
        painter.drawRoundedRect(bar, 2, 2)
        if span.window.is_above_floor:
            painter.setBrush(QBrush(theme.muted, Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(bar, 2, 2)
        if span.window.is_active:
            painter.setBrush(theme.accent)
            painter.drawRect(QRectF(bar.left(), bar.bottom() - 2, bar.width(), 2))
        if is_current:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.accent, 1.5))
            painter.drawRoundedRect(bar.adjusted(0.75, 0.75, -0.75, -0.75), 2, 2)

    def _paint_floor(self, painter: QPainter) -> None:
        first = next((span for span in self._spans if not span.window.is_above_floor), None)
        if first is not None and first is not self._spans[0]:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.text)
            painter.drawRect(QRectF(first.left - 1.5, 0, 2, self.height()))

    def _paint_on_screen(self, painter: QPainter) -> None:
        if self._on_screen is None or not self._spans:
            return
        left, right = map(self._x_of, self._on_screen)
        # Seldom more than a hair of a long chat: wide enough to be seen, and never beyond the strip.
        least = self.height() / 3
        left = max(1.0, min(left, self.width() - 1 - least))
        frame = QRectF(left, self.height() * 0.2, max(least, min(right, self.width() - 1.0) - left), 0)
        frame.setBottom(self.height() - 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.text, 1.5))
        painter.drawRoundedRect(frame, 2, 2)

    def _paint_ticks(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.accent)
        for place in self._ticks:
            painter.drawRect(QRectF(place - 1, 0, 2, self.height() * 0.6))
