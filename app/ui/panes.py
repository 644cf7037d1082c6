"""The panes of the window side by side: chats, the open chat, history, memory. Without room they take turns."""

from typing import Final, Literal

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from app.ui.window_state import WindowState

NARROW_PX: Final = 620
"""Below this width, before any zoom, one pane is shown at a time."""
CROWDED_PX: Final = 900
"""Below this one, a pane at the right takes the place of the list of chats."""
SPACIOUS_PX: Final = 1_280
"""From this one on, both panes at the right have room; below, opening one puts the other away."""
_LEAST_PX: Final = 180
_MOST_PX: Final = 640
_PAGE_PX: Final = 300

Side = Literal["history", "memory"]
"""A pane at the right of the chat."""


class Panes(QSplitter):
    """Decides which panes are shown and how wide they are; keeps both in the window's state, without the zoom."""

    changed = Signal()
    """Other panes are shown now."""

    def __init__(self, chats: QWidget, page: QWidget, state: WindowState, zoom: float) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._chats = chats
        self._page = page
        self._sides: dict[Side, QWidget] = {}
        self._newest: Side = "history"
        """The one that was opened last."""
        self._state = state
        self._zoom = zoom
        self._turn: QWidget = page
        self.is_narrow = False
        """One pane is shown at a time."""
        self._is_crowded = False
        self._is_spacious = True
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.addWidget(chats)
        self.addWidget(page)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._note_widths)

    @property
    def shows_chats(self) -> bool:
        """Whether the list of chats is among what is shown."""
        if self.is_narrow:
            return self._turn is self._chats
        return self._state.panel_is_shown and not (self._is_crowded and any(map(self.shows, self._sides)))

    @property
    def shows_history(self) -> bool:
        """Whether the history is among what is shown."""
        return self.shows("history")

    @property
    def shows_memory(self) -> bool:
        """Whether memory is among what is shown."""
        return self.shows("memory")

    def shows(self, side: Side) -> bool:
        """Whether a pane at the right is among what is shown."""
        if side not in self._sides:
            return False
        if self.is_narrow:
            return self._turn is self._sides[side]
        if not self._is_on(side):
            return False
        others = [other for other in self._sides if other != side and self._is_on(other)]
        return self._is_spacious or self._newest == side or not others

    def add_history(self, history: QWidget) -> None:
        """Take the history in; it isn't shown yet."""
        self._add("history", history)

    def add_memory(self, memory: QWidget) -> None:
        """Take memory in; it isn't shown yet."""
        self._add("memory", memory)

    def show_chats(self, *, on: bool) -> None:
        """Show the list of chats, or put it away."""
        if self.is_narrow:
            self._turn = self._chats if on else self._page
        else:
            self._state.panel_is_shown = on
            if on and self._is_crowded:
                for side in self._sides:
                    self._set_on(side, on=False)
        self.lay_out()

    def show_history(self, *, on: bool) -> None:
        """Show the history, or put it away."""
        self._show("history", on=on)

    def show_memory(self, *, on: bool) -> None:
        """Show memory, or put it away."""
        self._show("memory", on=on)

    def show_page(self) -> None:
        """Let the open chat be seen."""
        self._turn = self._page
        self.lay_out()

    def fit(self, width: int, zoom: float) -> None:
        """Show as many panes as there is room for in a window of this width."""
        is_zoomed, self._zoom = zoom != self._zoom, zoom
        is_narrow = width < NARROW_PX * zoom
        if is_narrow != self.is_narrow:
            self.is_narrow = is_narrow
            self._turn = self._page
        self._is_crowded = width < CROWDED_PX * zoom
        self._is_spacious = width >= SPACIOUS_PX * zoom
        self.lay_out()
        if is_zoomed:
            self.share()

    def lay_out(self) -> None:
        """Show the panes that are to be shown."""
        self._chats.setVisible(self.shows_chats)
        self._page.setVisible(not self.is_narrow or self._turn is self._page)
        for side, widget in self._sides.items():
            widget.setVisible(self.shows(side))
        self.changed.emit()

    def share(self) -> None:
        """Give the panes at the sides the width they had."""
        widths: dict[QWidget | None, int] = {self._chats: self._wide(self._state.panel_width)}
        widths |= {widget: self._wide(self._width(side)) for side, widget in self._sides.items()}
        shown = [self._chats] if self.shows_chats else []
        shown += [widget for side, widget in self._sides.items() if self.shows(side)]
        page = max(_PAGE_PX, self.window().width() - sum(widths[widget] for widget in shown))
        self.setSizes([widths.get(self.widget(at), page) for at in range(self.count())])

    def focus_next(self, stops: list[QWidget]) -> None:
        """Move the focus to the next of `stops` that is in view."""
        shown = [stop for stop in stops if stop.isVisible()]
        focused = QApplication.focusWidget()
        at = next((n for n, stop in enumerate(shown) if focused and _holds(stop, focused)), -1)
        if shown:
            shown[(at + 1) % len(shown)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _add(self, side: Side, widget: QWidget) -> None:
        self._sides[side] = widget
        widget.hide()
        self.addWidget(widget)
        self.setStretchFactor(self.indexOf(widget), 0)

    def _show(self, side: Side, *, on: bool) -> None:
        if self.is_narrow:
            self._turn = self._sides[side] if on and side in self._sides else self._page
        else:
            self._set_on(side, on=on)
            if on:
                self._newest = side
                if not self._is_spacious:
                    for other in self._sides:
                        self._set_on(other, on=other == side)
        self.lay_out()
        if on and not self.is_narrow:
            self.share()

    def _is_on(self, side: Side) -> bool:
        return self._state.history_is_shown if side == "history" else self._state.memory_is_shown

    def _set_on(self, side: Side, *, on: bool) -> None:
        if side == "history":
            self._state.history_is_shown = on
        else:
            self._state.memory_is_shown = on

    def _width(self, side: Side) -> int:
        return self._state.history_width if side == "history" else self._state.memory_width

    def _wide(self, width: int) -> int:
        return round(min(max(width, _LEAST_PX), _MOST_PX) * self._zoom)

    @Slot()
    def _note_widths(self) -> None:
        """Keep how wide the person has made the panes at the sides."""
        if self.is_narrow:
            return
        sizes = self.sizes()
        if self.shows_chats:
            self._state.panel_width = round(sizes[0] / self._zoom)
        for side, widget in self._sides.items():
            width = round(sizes[self.indexOf(widget)] / self._zoom)
            if not self.shows(side):
                continue
            if side == "history":
                self._state.history_width = width
            else:
                self._state.memory_width = width


def _holds(stop: QWidget, focused: QWidget) -> bool:
    return focused is stop or stop.isAncestorOf(focused)
