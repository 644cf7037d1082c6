"""The memory dock: the list, and in its place the editor of the memory that was opened."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.domain.memories import MemoryEntry, MemoryListing, MemoryScope
from app.ui.bridge import Bridge
from app.ui.memory.commands import MemoryCommands
from app.ui.memory.editing import Editing, is_global
from app.ui.memory.editor import MemoryEditor
from app.ui.memory.listing import MemoryList
from app.ui.memory.wording import empty_words
from app.ui.theme import Theme, tinted_icon

MIN_WIDTH: Final = 240
_ICON: Final = 16


class MemoryPanel(QWidget):
    """Follows the chat that is open; does nothing while it is hidden."""

    told = Signal(str)
    """A sentence for people."""
    undo_offered = Signal(str, object)
    """A sentence about what was done, and what undoes it."""
    closed = Signal()
    """The person has finished with the panel."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memoryPanel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(MIN_WIDTH)
        self._bridge = bridge
        self._tasks = tasks
        self._theme = theme
        self._is_dirty = True
        self.session = ""
        self.listings: dict[MemoryScope, MemoryListing] = {}
        self.list = MemoryList(theme)
        self.editor = MemoryEditor(theme)
        self.editing = Editing(bridge, tasks, self, typed=self.editor.text)
        self.commands = MemoryCommands(bridge, tasks, self, saved_first=self.editing.save_if_open)
        self._lay_out()
        self._connect()
        self.set_theme(theme)

    # What the window asks

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        size = theme.px(_ICON)
        for button, icon in ((self._close, "x"), (self.new_button, "plus")):
            button.setIcon(tinted_icon(icon, theme.muted, size=size))
            button.setIconSize(QSize(size, size))
        self.list.set_theme(theme)
        self.editor.set_theme(theme)

    def show_chat(self, session: str) -> None:
        """Follow another chat; an empty id for none. What belongs to the old one is saved and left."""
        if session == self.session:
            return
        memory = self.editing.memory
        if memory is not None and memory.session == self.session and not is_global(memory):
            self.editing.close()
        self.session = session
        self.note_change(session)

    def note_change(self, session: str) -> None:
        """Bring everything up to date: memories of a chat were changed, or, for an empty id, those of all."""
        if session in ("", self.session):
            self.editing.note_change(session)
            self._is_dirty = True
            if self.isVisible():
                self._refresh()

    def refresh(self) -> None:
        """Look what other programs have done meanwhile."""
        self._is_dirty = True
        if self.isVisible():
            self._refresh()
            self.editing.refresh()

    async def keep_unsaved(self) -> None:
        """Put on disk what is typed, before the program ends."""
        await self.editing.keep_unsaved()

    def take_focus(self) -> None:
        """Let the person begin."""
        if self._stack.currentWidget() is self.editor:
            self.editor.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self.list.isVisible():
            self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        else:
            self.new_button.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focus_stops(self) -> list[QWidget]:
        """Return what F6 goes through."""
        if self._stack.currentWidget() is self.editor:
            return [self.editor.field]
        return [self.list if self.list.isVisible() else self.new_button]

    # Building

    def _lay_out(self) -> None:
        title = QLabel(self.tr("Memory"))
        title.setObjectName("chatTitle")
        self.new_button = QToolButton()
        self.new_button.setObjectName("flat")
        self.new_button.setAccessibleName(self.tr("New memory"))
        self.new_button.setToolTip(self.tr("New memory"))
        self._close = QToolButton()
        self._close.setObjectName("flat")
        self._close.setAccessibleName(self.tr("Close memory"))
        self._close.setToolTip(self.tr("Close memory (Ctrl+Shift+M)"))
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self.new_button)
        head.addWidget(self._close)
        self._words = QLabel()
        self._words.setObjectName("mutedText")
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        self._words.setMargin(4)
        self._page = QWidget()
        page = QVBoxLayout(self._page)
        page.setContentsMargins(0, 0, 0, 0)
        page.addWidget(self._words)
        page.addWidget(self.list, 1)
        page.addStretch(0)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._page)
        self._stack.addWidget(self.editor)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 8)
        layout.addLayout(head)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self._close.clicked.connect(self.closed)
        self.new_button.clicked.connect(self._offer_new)
        self.list.chosen.connect(self._open)
        self.list.menu_wanted.connect(self._show_menu)
        self.list.rename_wanted.connect(lambda entry: self.commands.ask_to_rename(self.session, entry))
        self.list.delete_wanted.connect(lambda entry: self.commands.delete(self.session, entry))
        # First: only what is seen takes the focus.
        self.editing.shown.connect(lambda _text, _is_other: self._stack.setCurrentWidget(self.editor))
        self.editor.attach(self.editing)
        self.editor.back_wanted.connect(self.editing.close)
        self.editor.menu_wanted.connect(self._show_editor_menu)
        self.editing.left.connect(self._show_list)
        self.editing.told.connect(self.told)
        self.commands.told.connect(self.told)
        self.commands.undo_offered.connect(self.undo_offered)
        self.commands.created.connect(self.editing.open)
        self.commands.renamed.connect(self.editing.note_renamed)
        self.commands.deleted.connect(self.editing.note_deleted)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_dirty:
            self._refresh()
        self.editing.refresh()

    # The list

    def _refresh(self) -> None:
        self._is_dirty = False
        self._tasks.spawn(self._load(self.session), name="list memories")

    async def _load(self, session: str) -> None:
        try:
            listings = await self._bridge.memories(session)
        except KnownError as error:
            if session == self.session:
                self._words.setText(str(error))
                self._words.show()
            return
        if session != self.session:
            return
        self.listings = listings
        is_empty = not any(listing.entries for listing in listings.values())
        self._words.setText(empty_words())
        self._words.setVisible(is_empty)
        self.list.show_listings(listings)

    @Slot()
    def _show_list(self) -> None:
        had_focus = self.editor.isAncestorOf(self.focusWidget() or self)
        self._stack.setCurrentWidget(self._page)
        if had_focus or self.isAncestorOf(self.window().focusWidget() or self.window()):
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(object)
    def _open(self, entry: MemoryEntry) -> None:
        self.editing.open(self.session, entry.path)

    # Menus

    @Slot()
    def _offer_new(self) -> None:
        menu = self._menu()
        self._add_new(menu)
        menu.popup(self.new_button.mapToGlobal(QPoint(0, self.new_button.height())))

    @Slot(object, QPoint)
    def _show_menu(self, value: MemoryEntry | MemoryScope, place: QPoint) -> None:
        self.menu_of(value).popup(place)

    @Slot(QWidget)
    def _show_editor_menu(self, button: QWidget) -> None:
        self.menu_of_open().popup(button.mapToGlobal(QPoint(0, button.height())))

    def menu_of_open(self) -> QMenu:
        """Return everything that can be done with the memory in the editor."""
        menu, memory = self._menu(), self.editing.memory
        discard = menu.addAction(self.tr("Discard what you typed"))
        discard.setEnabled(self.editing.is_unsaved)
        discard.triggered.connect(self.editing.discard)
        is_ours = memory is not None and (is_global(memory) or memory.session == self.session)
        path = memory.base.path if memory is not None and is_ours else ""
        entries = [entry for listing in self.listings.values() for entry in listing.entries if entry.path == path]
        if entries:
            menu.addSeparator()
            self._add_commands(menu, entries[0])
        return menu

    def menu_of(self, value: MemoryEntry | MemoryScope) -> QMenu:
        """Return everything that can be done with a memory of the list, or beside others of its kind."""
        menu = self._menu()
        if isinstance(value, MemoryEntry):
            menu.addAction(self.tr("Open")).triggered.connect(lambda: self._open(value))
            self._add_commands(menu, value)
            menu.addSeparator()
        self._add_new(menu)
        return menu

    def _add_commands(self, menu: QMenu, entry: MemoryEntry) -> None:
        session = self.session
        menu.addAction(self.tr("Rename…")).triggered.connect(lambda: self.commands.ask_to_rename(session, entry))
        pin = menu.addAction(self.tr("Pinned"))
        pin.setCheckable(True)
        pin.setChecked(entry.is_pinned)
        pin.setToolTip(self.tr("Models that are shown memories are shown this one first."))
        pin.triggered.connect(lambda on: self.commands.pin(session, entry, on=on))
        menu.addAction(self.tr("Delete")).triggered.connect(lambda: self.commands.delete(session, entry))

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        return menu

    def _add_new(self, menu: QMenu) -> None:
        here = menu.addAction(self.tr("New for this chat…"))
        here.setEnabled(bool(self.session))
        here.triggered.connect(lambda: self.commands.ask_for_new(self.session, MemoryScope.WORKSPACE))
        everywhere = menu.addAction(self.tr("New for all chats…"))
        everywhere.triggered.connect(lambda: self.commands.ask_for_new(self.session, MemoryScope.GLOBAL))
