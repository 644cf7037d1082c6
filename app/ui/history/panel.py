"""The history panel: all windows of the open chat, their items, a search over them, and a reader."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.aio import TaskSet
from app.domain.windows import Filters, HistoryItem, SearchHit, WindowInfo
from app.ui.bridge import Bridge
from app.ui.history.commands import HistoryCommands
from app.ui.history.entries import Value, item_of, window_of
from app.ui.history.listing import Listing, ListStatus
from app.ui.history.menus import fill_item_menu, fill_window_menu
from app.ui.history.model import HistoryModel
from app.ui.history.reader import Reader
from app.ui.history.reading import Reading
from app.ui.history.search_bar import SearchBar
from app.ui.history.searching import Searching, SearchStatus
from app.ui.history.status import StatusLine
from app.ui.history.timeline import Timeline
from app.ui.history.tree import HistoryTree
from app.ui.history.wording import ModelName
from app.ui.theme import Theme, tinted_icon

MIN_WIDTH: Final = 240
_READER_BESIDE: Final = 560
"""A panel lower than this, in pixels before any zoom, shows the reader in place of the list."""
_ICON: Final = 16


class HistoryPanel(QWidget):
    """Follows the chat that is open; does nothing while it is hidden."""

    message_wanted = Signal(str, str, int)
    """Chat, row id, and where the row begins in the stretch: the transcript is to show it."""
    quoted = Signal(str)
    """Lines for the composer."""
    branched = Signal(object)
    """The `ChatSummary` of a new chat."""
    told = Signal(str)
    """A sentence for people."""
    closed = Signal()
    """The person has finished with the panel."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, theme: Theme, model_name: ModelName) -> None:
        super().__init__()
        self.setObjectName("historyPanel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(MIN_WIDTH)
        self._theme = theme
        self.session = ""
        self._is_dirty = True
        self._is_expanded_once = False
        self._windows_model = HistoryModel(model_name, self)
        self._hits_model = HistoryModel(model_name, self)
        self.listing = Listing(self._windows_model, bridge, tasks, self)
        self.searching = Searching(self._hits_model, bridge, tasks, self, window=self._window)
        self.reading = Reading(bridge, tasks, self)
        self.commands = HistoryCommands(bridge, tasks, self)
        self.search = SearchBar()
        self.timeline = Timeline(theme)
        self.status = StatusLine(theme)
        self.windows = HistoryTree(self._windows_model, theme, model_name)
        self.windows.setAccessibleName(self.tr("Windows of this chat"))
        self.hits = HistoryTree(self._hits_model, theme, model_name, snippet_lines=2)
        self.hits.setAccessibleName(self.tr("Search results"))
        self.reader = Reader(self.reading, theme, model_name)
        self.reader.hide()
        self._opener = QTimer(self)
        self._opener.setSingleShot(True)
        self._opener.timeout.connect(self._show_reader)
        self._lay_out()
        self._connect()
        self._tint_close()
        self._fit_reader()
        self._show_list_state()

    # What the window asks

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        self._tint_close()
        for part in (self.timeline, self.status, self.windows, self.hits, self.reader):
            part.set_theme(theme)
        self._fit_reader()

    def _tint_close(self) -> None:
        size = self._theme.px(_ICON)
        self._close.setIcon(tinted_icon("x", self._theme.muted, size=size))
        self._close.setIconSize(QSize(size, size))

    def show_chat(self, session: str) -> None:
        """Follow another chat; an empty id for none."""
        if session == self.session:
            return
        self.session = session
        self._opener.stop()
        self._is_expanded_once = False
        self.search.reset()
        self.searching.start("", "", Filters())
        self._hide_reader()
        self.timeline.show_windows(())
        self.timeline.select("")
        self.listing.show_chat(session)
        self.note_change(session)

    def note_change(self, session: str) -> None:
        """Bring the list up to date: something was said in a chat, or a window began."""
        if session == self.session:
            self._is_dirty = True
            self.searching.note_growth()
            if self.isVisible():
                self._refresh()

    def take_focus(self) -> None:
        """Let the person begin: with a search, or with the arrows from there."""
        self.search.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.field.selectAll()

    def focus_stops(self) -> list[QWidget]:
        """Return what F6 goes through."""
        return [self._list, self.reader.text] if self.reader.isVisible() else [self._list]

    # Building

    def _lay_out(self) -> None:
        title = QLabel(self.tr("History"))
        title.setObjectName("chatTitle")
        self._close = QToolButton()
        self._close.setObjectName("flat")
        self._close.setAccessibleName(self.tr("Close the history"))
        self._close.setToolTip(self.tr("Close the history (Ctrl+H)"))
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self._close)
        self._message = QLabel()
        self._message.setObjectName("mutedText")
        self._message.setTextFormat(Qt.TextFormat.PlainText)
        self._message.setWordWrap(True)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._message.setMargin(16)
        self._stack = QStackedWidget()
        for page in (self._message, self.windows, self.hits):
            self._stack.addWidget(page)
        self._list_area = QWidget()
        top = QVBoxLayout(self._list_area)
        top.setContentsMargins(8, 6, 8, 4)
        top.setSpacing(8)
        top.addLayout(head)
        top.addWidget(self.search)
        top.addWidget(self.timeline)
        top.addWidget(self.status)
        top.addWidget(self._stack, 1)
        self._parts = QSplitter(Qt.Orientation.Vertical)
        self._parts.setHandleWidth(1)
        self._parts.setChildrenCollapsible(False)
        self._parts.addWidget(self._list_area)
        self._parts.addWidget(self.reader)
        self._parts.setStretchFactor(0, 3)
        self._parts.setStretchFactor(1, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._parts)

    def _connect(self) -> None:
        self._close.clicked.connect(self.closed)
        self.search.wanted.connect(self._start_search)
        self.search.list_wanted.connect(self._enter_list)
        self.listing.changed.connect(self._show_list_state)
        self.searching.changed.connect(self._show_search_state)
        self.searching.grouped.connect(self._open_group)
        self.listing.tools_seen.connect(self.search.add_tools)
        self.searching.tools_seen.connect(self.search.add_tools)
        self.status.pressed.connect(self._press_status)
        self.timeline.chosen.connect(self._show_window)
        for tree in (self.windows, self.hits):
            tree.chosen.connect(self._choose)
            tree.activated_item.connect(self._go)
            tree.menu_wanted.connect(self._show_menu)
            tree.copy_wanted.connect(self._copy)
            tree.escaped.connect(self._escape_list)
        self.windows.more_wanted.connect(self.listing.load_more)
        self.windows.earlier_wanted.connect(self.listing.load_earlier)
        self.windows.retry_wanted.connect(self.listing.try_again)
        self.reader.closed.connect(self._close_reader)
        self.reader.previous_wanted.connect(lambda: self._list.step(-1))
        self.reader.next_wanted.connect(lambda: self._list.step(1))
        self.reader.go_wanted.connect(lambda: self._go(self.reading.item))
        self.reader.copy_wanted.connect(lambda: self._copy(self.reading.item))
        self.reader.quote_wanted.connect(self._quote_read)
        self.reader.menu_wanted.connect(self._show_reader_menu)
        self.commands.told.connect(self.told)
        self.commands.quoted.connect(self.quoted)
        self.commands.branched.connect(self.branched)

    # Being there

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_dirty:
            self._refresh()
        self.reading.resume()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._opener.stop()
        self.listing.stop()
        self.searching.stop()
        self.reading.pause()
        # What was cut off is fetched when the panel is there again.
        self._is_dirty = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_reader()

    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() is QEvent.Type.ShortcutOverride and self._takes_escape():
            # Else it would stop the reply that is being written.
            event.accept()
            return True
        return super().event(event)

    def _takes_escape(self) -> bool:
        focused = QApplication.focusWidget()
        if self.reader.isVisible():
            return focused is not None and (focused is self._list or self.reader.isAncestorOf(focused))
        return bool(self.search.field.text()) and focused is self._list

    def _refresh(self) -> None:
        self._is_dirty = False
        self.listing.refresh()

    def _window(self, window_id: str) -> WindowInfo | None:
        return next((window for window in self.listing.windows if window.id == window_id), None)

    @property
    def _list(self) -> HistoryTree:
        return self.hits if self.searching.search.query else self.windows

    # States

    @Slot()
    def _show_list_state(self) -> None:
        state, windows = self.listing.state, self.listing.windows
        self.timeline.show_windows(windows if len(windows) > 1 or (windows and windows[0].rows) else ())
        self.timeline.setVisible(len(windows) > 1)
        self.search.setEnabled(bool(self.session))
        self.search.show_windows(windows)
        self.searching.note_windows()
        if not self.searching.search.query:
            self.status.show_list(state, len(windows))
        self._show_page()
        if len(windows) == 1 and windows[0].rows and not self._is_expanded_once:
            # The only window needs no click.
            self._is_expanded_once = True
            self.windows.expand(self._windows_model.group_index(windows[0].id))

    def _show_page(self) -> None:
        """Show the list, or in its place why there is none."""
        state, windows, search = self.listing.state, self.listing.windows, self.searching.search
        if search.query:
            words = ""
            if not search.hits and search.status is SearchStatus.DONE:
                words = self.tr("Nobody said “{query}”.\nUpper and lower case don't matter; spaces and accents do.")
                words = words.format(query=search.query[:80])
            self._message.setText(words)
            self._stack.setCurrentWidget(self.hits if search.hits or not words else self._message)
            return
        is_empty = not windows or (len(windows) == 1 and not windows[0].rows)
        if is_empty and state.status is ListStatus.READY:
            words = self.tr("Nothing was said in this chat yet.\nEverything that will be stays readable here.")
        elif is_empty and state.status in (ListStatus.LOADING, ListStatus.NONE):
            words = self.tr("Loading…") if self.session else self.tr("No chat is open.")
        else:
            words = ""
        self._message.setText(words)
        self._stack.setCurrentWidget(self._message if is_empty else self.windows)

    @Slot()
    def _show_search_state(self) -> None:
        search = self.searching.search
        if search.query:
            self.status.show_search(search)
        else:
            self.status.show_list(self.listing.state, len(self.listing.windows))
        self.timeline.show_hits(self.searching.offsets)
        self._show_page()
        if search.status in (SearchStatus.DONE, SearchStatus.OUTGROWN):
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.status, self.status.text.text()))

    @Slot(str)
    def _open_group(self, key: str) -> None:
        self.hits.expand(self._hits_model.group_index(key))

    @Slot()
    def _press_status(self) -> None:
        if not self.searching.search.query:
            self.listing.try_again("")
        elif self.searching.search.status is SearchStatus.RUNNING:
            self.searching.stop()
        else:
            self.searching.go_on()

    # Searching

    @Slot(str, object)
    def _start_search(self, query: str, filters: Filters) -> None:
        if self.reader.isVisibleTo(self):
            # It would show something that is in no list any more.
            self._hide_reader()
        self.timeline.select("")
        self.searching.start(self.session, query, filters)

    @Slot()
    def _enter_list(self) -> None:
        tree = self._list
        if not tree.currentIndex().isValid():
            tree.choose_first()
        tree.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _escape_list(self) -> None:
        if self.reader.isVisible():
            self._close_reader()
        elif self.search.field.text():
            self.search.field.clear()
            self.search.field.setFocus()

    @Slot(str)
    def _show_window(self, window_id: str) -> None:
        """Go to a window in the list, as its bar was clicked."""
        if self.search.field.text():
            self.search.field.clear()
        self.windows.show_group(window_id)
        self.windows.setFocus(Qt.FocusReason.OtherFocusReason)

    # Reading

    @Slot(object, bool)
    def _choose(self, value: Value | None, by_click: bool) -> None:  # noqa: FBT001 - a Qt slot
        item, window = item_of(value), window_of(value)
        self.timeline.select(item.window_id if item is not None else window.id if window is not None else "")
        if not isinstance(value, HistoryItem | SearchHit):
            return
        if self.reading.item != item or isinstance(value, SearchHit):
            self.reading.open_item(self.session, value)
        if self.reader.isVisible():
            return
        if by_click:
            # The list gets lower: not before a second click could have come.
            self._opener.start(QApplication.doubleClickInterval())
        else:
            self._show_reader()

    @Slot()
    def _show_reader(self) -> None:
        self._opener.stop()
        self.reader.show()
        self._fit_reader()
        self._parts.setSizes([3 * self.height() // 5, 2 * self.height() // 5])
        if self._list_area.isVisible():
            self._list.scrollTo(self._list.currentIndex())

    def _hide_reader(self) -> None:
        self.reading.close()
        self.reader.hide()
        self._list_area.show()

    @Slot()
    def _close_reader(self) -> None:
        self._hide_reader()
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fit_reader(self) -> None:
        """Put the reader below the list, or in its place where there is no room for both."""
        covers = self.height() < self._theme.px(_READER_BESIDE)
        self.reader.set_covering(on=covers)
        if covers and self.reader.isVisibleTo(self) and self._list.hasFocus():
            self.reader.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self._list_area.setVisible(not (covers and self.reader.isVisibleTo(self)))

    def read_window(self, window: WindowInfo) -> None:
        """Show all items of a window in order as one text."""
        self.reading.open_window(self.session, window)
        self._show_reader()
        self.reader.text.setFocus(Qt.FocusReason.OtherFocusReason)

    # Doing something with it

    @Slot(object)
    def _go(self, value: Value | None) -> None:
        self._opener.stop()
        item = item_of(value)
        if item is not None:
            self.message_wanted.emit(self.session, item.row_id, item.offset)

    @Slot(object)
    def _copy(self, value: Value | None) -> None:
        item = item_of(value)
        if item is not None:
            self.commands.copy(self.session, item)

    @Slot()
    def _quote_read(self) -> None:
        """Quote what is selected in the reader, or all of it."""
        selected = self.reader.selected_text()
        if selected:
            self.commands.quote_text(selected)
        elif self.reading.item is not None:
            self.commands.quote(self.session, self.reading.item)

    @Slot(QWidget)
    def _show_reader_menu(self, button: QWidget) -> None:
        value = self.reading.item or self.reading.window
        if value is not None:
            self._show_menu(value, button.mapToGlobal(QPoint(0, button.height())))

    @Slot(object, QPoint)
    def _show_menu(self, value: Value, place: QPoint) -> None:
        menu = self.menu_of(value)
        if not menu.isEmpty():
            menu.popup(place)

    def menu_of(self, value: Value) -> QMenu:
        """Return everything that can be done with an entry."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        item, window = item_of(value), window_of(value)
        if item is not None:
            fill_item_menu(menu, self.commands, self.session, item, go=lambda: self._go(value))
        elif window is not None:
            fill_window_menu(menu, self.commands, self.session, window, read=lambda: self.read_window(window))
        return menu
