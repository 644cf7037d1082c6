"""Completes commands while they are typed: when the list is there, and what the keys do meanwhile."""

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.ui.chat.accessible import announce
from app.ui.chat.command_popup import CommandPopup, typed_name
from app.ui.chat.composer_field import ComposerField
from app.ui.chat.slash_commands import SlashCommand, completions, slash_commands

_STEPS: Final = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
_CHOOSING: Final = frozenset({Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Enter})
_KEYS: Final = frozenset({*_STEPS, *_CHOOSING, Qt.Key.Key_Escape})


class CommandCompletion(QObject):
    """Joins the field to the list above it. Never acts while an input method is composing."""

    def __init__(self, field: ComposerField, anchor: QWidget) -> None:
        super().__init__(field)
        self._field = field
        self._anchor = anchor
        self.popup = CommandPopup(anchor.window())
        self.popup.chosen.connect(self._complete)
        self._is_dismissed = False
        field.installEventFilter(self)
        anchor.installEventFilter(self)

    def look(self) -> None:
        """Show what the text may become, or nothing."""
        text = self._field.toPlainText()
        if not text.startswith("/"):
            self._is_dismissed = False
        found = () if self._is_dismissed or self._field.is_composing else completions(text)
        if found:
            self._show(found)
        else:
            self.popup.hide()

    def show_all(self) -> None:
        """Show every command, whatever stands in the field."""
        self._show(slash_commands())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self.popup.isVisible():
            return False
        if watched is self._anchor:
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
                self.popup.place(self._anchor)
            return False
        match event.type():
            case QEvent.Type.FocusOut | QEvent.Type.Hide:
                self.popup.hide()
            case QEvent.Type.InputMethod:
                # What is composed is no command yet; what it becomes is looked at when it stands in the field.
                self.popup.hide()
            case QEvent.Type.ShortcutOverride if isinstance(event, QKeyEvent) and _is_ours(event):
                event.accept()
                return True
            case QEvent.Type.KeyPress if isinstance(event, QKeyEvent) and _is_ours(event):
                self._press(Qt.Key(event.key()))
                return True
            case _:
                pass
        return False

    def _press(self, key: Qt.Key) -> None:
        command = self.popup.current
        if key in _STEPS:
            self.popup.step(_STEPS[key])
            self._announce()
        elif key is Qt.Key.Key_Escape or command is None:
            self._is_dismissed = self._field.toPlainText().startswith("/")
            self.popup.hide()
        elif key is not Qt.Key.Key_Tab and command.name == self._field.toPlainText() and not command.argument:
            self.popup.hide()
            self._field.submitted.emit()
        else:
            self._complete(command)

    @Slot(object)
    def _complete(self, command: SlashCommand) -> None:
        self._field.setFocus()
        self._field.selectAll()
        self._field.insertPlainText(f"{command.name} " if command.argument else command.name)
        self.popup.hide()

    def _show(self, commands: tuple[SlashCommand, ...]) -> None:
        self.popup.show_commands(commands, self._anchor)
        self._announce()

    def _announce(self) -> None:
        if (command := self.popup.current) is not None:
            announce(self._field, f"{typed_name(command)}: {command.text}")


def _is_ours(event: QKeyEvent) -> bool:
    return event.key() in _KEYS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
