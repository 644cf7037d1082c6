"""What the mouse does in the transcript: select, activate, drag the thin bars."""

from typing import Protocol

from PySide6.QtCore import QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QMouseEvent

from app.ui.chat.cells import Cell
from app.ui.chat.hit_test import HitTest
from app.ui.chat.selection import Selection
from app.ui.chat.targets import Target, TargetId
from app.ui.chat.transcript_model import Place

_SCROLL_MS = 30


class Surface(Protocol):
    """What the gestures have an effect on."""

    selection: Selection

    def activate(self, which: TargetId, target: Target) -> None: ...
    def selection_moved(self, *, is_over: bool) -> None: ...
    def scroll_for_drag(self, point: QPointF) -> bool: ...


class Gestures(QObject):
    """Turns mouse events into a selection or an activation."""

    def __init__(self, surface: Surface, on_screen: HitTest, parent: QObject) -> None:
        super().__init__(parent)
        self._surface = surface
        self._on_screen = on_screen
        self._armed: tuple[TargetId, Target] | None = None
        self._pressed_at = QPointF()
        self._last_at = QPointF()
        self._bar: Cell | None = None
        self._is_selecting = False
        self._unit: tuple[Place, Place] | None = None
        self._unit_at = on_screen.word_at
        self._since_double: int | None = None
        self._scroller = QTimer(self)
        self._scroller.setInterval(_SCROLL_MS)
        self._scroller.timeout.connect(self._scroll)

    @property
    def is_selecting(self) -> bool:
        """Whether the button is held for a selection."""
        return self._is_selecting

    def forget(self) -> None:
        """Leave what the button is held for: the items are others now."""
        self._armed = self._bar = self._unit = None
        self._is_selecting = False
        self._scroller.stop()

    def press(self, event: QMouseEvent) -> None:
        """Begin: arm a target, grab a bar, or start a selection."""
        point = event.position()
        self._pressed_at = self._last_at = point
        self._bar = self._on_screen.bar_at(point)
        self._armed = None if self._bar else self._on_screen.target_at(point)
        if self._bar is not None or self._armed is not None:
            return
        place = self._on_screen.place_at(point)
        if place is None:
            return
        selection = self._surface.selection
        self._is_selecting = True
        if self._is_third_click(event):
            self._unit_at = self._on_screen.block_at
            self._unit = self._unit_at(place)
            selection.select(*self._unit)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier and selection.anchor is not None:
            self._unit = None
            selection.select(selection.anchor, place)
        else:
            self._unit = None
            selection.select(place, place)
        self._surface.selection_moved(is_over=False)

    def double_click(self, event: QMouseEvent) -> None:
        """Select a word; dragging on selects word by word."""
        self._since_double = event.timestamp()
        self._pressed_at = self._last_at = event.position()
        if self._on_screen.target_at(event.position()) is not None:
            return
        place = self._on_screen.place_at(event.position())
        if place is None:
            return
        self._is_selecting = True
        self._unit_at = self._on_screen.word_at
        self._unit = self._unit_at(place)
        self._surface.selection.select(*self._unit)
        self._surface.selection_moved(is_over=False)

    def move(self, event: QMouseEvent) -> None:
        """Go on with what the press began."""
        point = event.position()
        if self._bar is not None:
            if self._bar.drag_bar(point.x() - self._last_at.x()):
                self._surface.selection_moved(is_over=False)
            self._last_at = point
            return
        self._last_at = point
        if self._armed is not None and self._is_drag(point):
            self._begin_selection_from_target()
        if self._is_selecting:
            self._extend(point)
            self._scroller.start()

    def release(self, event: QMouseEvent) -> None:
        """End; activate a target if it is still below the pointer."""
        self._scroller.stop()
        armed, self._armed, self._bar = self._armed, None, None
        if armed is not None:
            found = self._on_screen.target_at(event.position())
            if found is not None and found[0] == armed[0]:
                self._surface.activate(*found)
        if self._is_selecting:
            self._is_selecting = False
            self._surface.selection_moved(is_over=True)

    def _is_drag(self, point: QPointF) -> bool:
        return (point - self._pressed_at).manhattanLength() >= QGuiApplication.styleHints().startDragDistance()

    def _begin_selection_from_target(self) -> None:
        """Select the words of a link that the pointer is dragged across."""
        self._armed = None
        place = self._on_screen.place_at(self._pressed_at)
        if place is not None:
            self._unit = None
            self._surface.selection.select(place, place)
            self._is_selecting = True

    def _extend(self, point: QPointF) -> None:
        place = self._on_screen.place_at(point)
        if place is None:
            return
        selection = self._surface.selection
        if self._unit is None:
            selection.head = place
        else:
            first, last = self._unit
            unit = self._unit_at(place)
            if place < first:
                selection.select(last, unit[0])
            else:
                selection.select(first, max(last, unit[1]))
        self._surface.selection_moved(is_over=False)

    def _scroll(self) -> None:
        if self._is_selecting and self._surface.scroll_for_drag(self._last_at):
            self._extend(self._last_at)
        else:
            self._scroller.stop()

    def _is_third_click(self, event: QMouseEvent) -> bool:
        since, self._since_double = self._since_double, None
        if since is None:
            return False
        interval = QGuiApplication.styleHints().mouseDoubleClickInterval()
        return event.timestamp() - since <= interval and not self._is_drag(event.position())
