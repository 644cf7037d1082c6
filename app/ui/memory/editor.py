"""The editor of one memory: plain text, its name, whether it is saved, and a conflict if there is one."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.domain.memories import MAX_FILE_BYTES, MemoryScope
from app.ui.memory.conflict import ConflictBar
from app.ui.memory.editing import Editing, OpenMemory, SaveState
from app.ui.memory.wording import scope_name, size_text
from app.ui.theme import Theme, tinted_icon

_ICON: Final = 16


class MemoryEditor(QWidget):
    """Shows what `Editing` holds."""

    back_wanted = Signal()
    menu_wanted = Signal(QWidget)
    """What can be done with the memory, below this button."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._editing: Editing | None = None
        self.back = QToolButton()
        self.back.setObjectName("flat")
        self.back.setAccessibleName(self.tr("Back to the list"))
        self.back.setToolTip(self.tr("Back to the list (Esc)"))
        self.name = QLabel()
        self.name.setObjectName("chatTitle")
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.name.setMinimumWidth(1)
        self.more = QToolButton()
        self.more.setObjectName("flat")
        self.more.setAccessibleName(self.tr("More for this memory"))
        self.more.setToolTip(self.tr("Rename, pin, delete"))
        self.field = QPlainTextEdit()
        self.field.setAccessibleName(self.tr("Text of the memory"))
        self.field.setTabChangesFocus(True)
        self.status = QLabel()
        self.status.setObjectName("mutedText")
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setWordWrap(True)
        self.save_button = QPushButton(self.tr("Save"))
        self.save_button.setToolTip(self.tr("Save (Ctrl+S)"))
        self.save_button.setProperty("isPrimary", True)
        self.conflict = ConflictBar()
        self._lay_out()
        self.set_theme(theme)

    def attach(self, editing: Editing) -> None:
        """Show and change what `editing` holds."""
        self._editing = editing
        self.back.clicked.connect(self.back_wanted)
        self.more.clicked.connect(lambda: self.menu_wanted.emit(self.more))
        self.save_button.clicked.connect(editing.save)
        self.field.textChanged.connect(editing.note_typing)
        self.conflict.mine_chosen.connect(editing.keep_mine)
        self.conflict.theirs_chosen.connect(editing.take_theirs)
        self.conflict.copy_wanted.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        editing.shown.connect(self._show_text)
        editing.changed.connect(self._show_state)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self._theme = theme
        size = theme.px(_ICON)
        for button, icon in ((self.back, "arrow-left"), (self.more, "ellipsis")):
            button.setIcon(tinted_icon(icon, theme.muted, size=size))
            button.setIconSize(QSize(size, size))

    def text(self) -> str:
        """Return what is typed."""
        # Its plain text would have spaces for all that may not break.
        return self.field.document().toRawText().replace("\u2029", "\n")

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.back)
        head.addWidget(self.name, 1)
        head.addWidget(self.more)
        foot = QHBoxLayout()
        foot.addWidget(self.status, 1)
        foot.addWidget(self.save_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self.conflict)
        layout.addWidget(self.field, 1)
        layout.addLayout(foot)

    def event(self, event: QEvent) -> bool:
        # Else Escape would stop the reply that is being written.
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride and _is_ours(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.back_wanted.emit()
        elif event.matches(QKeySequence.StandardKey.Save):
            if self._editing is not None:
                self._editing.save()
        else:
            super().keyPressEvent(event)

    @Slot(str, bool)
    def _show_text(self, text: str, is_other: bool) -> None:  # noqa: FBT001 - a Qt slot
        if is_other:
            self.field.setPlainText(text)
            self.field.moveCursor(QTextCursor.MoveOperation.Start)
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        # One step that Undo takes back, at the place where the person reads.
        place, scrolled = self.field.textCursor().position(), self.field.verticalScrollBar().value()
        cursor = QTextCursor(self.field.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.setPosition(min(place, len(self.text())))
        self.field.setTextCursor(cursor)
        self.field.verticalScrollBar().setValue(scrolled)

    @Slot()
    def _show_state(self) -> None:
        memory = self._editing.memory if self._editing is not None else None
        if memory is None:
            return
        scope = MemoryScope(memory.base.path.split("/")[2])
        name = memory.base.path.split("/", 3)[3]
        mark = "" if memory.state is SaveState.SAVED else " •"
        shown = self.name.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, max(60, self.width() - 110))
        self.name.setText(f"{shown}{mark}")
        self.name.setToolTip(f"{name} ({scope_name(scope)})")
        is_failed = memory.state is SaveState.FAILED
        self.status.setText(self._words(memory, scope))
        self.status.setObjectName("errorText" if is_failed else "mutedText")
        self.status.style().polish(self.status)
        self.save_button.setEnabled(memory.state in (SaveState.UNSAVED, SaveState.FAILED))
        if memory.state is SaveState.CONFLICT:
            self.conflict.show_conflict(memory.theirs)
        else:
            self.conflict.hide()

    def _words(self, memory: OpenMemory, scope: MemoryScope) -> str:
        size = len(self.text().encode("utf-8", "replace"))
        match memory.state:
            case SaveState.SAVED:
                where = scope_name(scope)
                return self.tr("{where} · {size} · saved").format(where=where, size=size_text(size))
            case SaveState.UNSAVED if size > MAX_FILE_BYTES:
                return self.tr("{size}: too long. A memory has at most {most}.").format(
                    size=size_text(size), most=size_text(MAX_FILE_BYTES)
                )
            case SaveState.UNSAVED:
                return self.tr("Not saved yet")
            case SaveState.SAVING:
                return self.tr("Saving…")
            case SaveState.CONFLICT:
                return self.tr("Not saved: choose above")
            case SaveState.FAILED:
                return memory.reason


def _is_ours(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Escape or event.matches(QKeySequence.StandardKey.Save)
