"""The widgets the picker's panel is made of."""

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QFrame, QLineEdit, QListView, QWidget

from app.ui.picker.delegate import EntryDelegate
from app.ui.picker.model import EntriesModel
from app.ui.theme import Theme

_KEYS: Final = frozenset(
    {
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
        Qt.Key.Key_Escape,
    }
)


class EntryList(QListView):
    """The list: the focus stays in the field, a click on a star chooses nothing."""

    star_clicked = Signal(object)
    """The `ModelCard` of that row."""

    def __init__(self, model: EntriesModel, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("modelList")
        self.setModel(model)
        self.delegate = EntryDelegate(theme, self)
        self.setItemDelegate(self.delegate)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        index = self.indexAt(place)
        card = self.delegate.star_at(index, self.visualRect(index), place)
        if card is None:
            super().mousePressEvent(event)
        else:
            self.star_clicked.emit(card)


class SearchField(QLineEdit):
    """Hands on the keys that move in the list."""

    moved = Signal(int)
    jumped = Signal(int)
    accepted = Signal()
    star_pressed = Signal()
    escaped = Signal()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_ours(event):
            # Else it would be taken for an action of the window.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._is_ours(event):
            super().keyPressEvent(event)
            return
        match Qt.Key(event.key()):
            case Qt.Key.Key_Up | Qt.Key.Key_Down as key:
                self.moved.emit(1 if key is Qt.Key.Key_Down else -1)
            case Qt.Key.Key_PageUp | Qt.Key.Key_PageDown as key:
                self.jumped.emit(1 if key is Qt.Key.Key_PageDown else -1)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.accepted.emit()
            case Qt.Key.Key_D:
                self.star_pressed.emit()
            case _:
                self.escaped.emit()

    def _is_ours(self, event: QKeyEvent) -> bool:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = Qt.Key(event.key())
        if key is Qt.Key.Key_D:
            return modifiers == Qt.KeyboardModifier.ControlModifier
        return not modifiers and key in _KEYS


class Panel(QFrame):
    """Keeps the focus among the widgets that are in it."""

    escaped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._stops: Callable[[], Sequence[QWidget]] = tuple

    def keep_focus(self, stops: Callable[[], Sequence[QWidget]]) -> None:
        """Let Tab go round among these, as they are then."""
        self._stops = stops

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002, FBT001
        shown = [stop for stop in self._stops() if stop.isVisible()]
        at = next_index(shown, 1 if next else -1)
        shown[at].setFocus(Qt.FocusReason.TabFocusReason if next else Qt.FocusReason.BacktabFocusReason)
        return True

    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)


def next_index(shown: list[QWidget], step: int) -> int:
    """Return which of `shown` comes after the one that has the focus."""
    focused = QApplication.focusWidget()
    at = shown.index(focused) if focused in shown else 0
    return (at + step) % len(shown)
