"""Does what a typed command says, by the same ways as the menus."""

from collections.abc import Callable
from typing import assert_never

from PySide6.QtCore import QCoreApplication, QObject

from app.ui.actions import Actions
from app.ui.chat.composer import Composer
from app.ui.chat.controller import ChatController
from app.ui.chat.slash_commands import CommandAction, TypedCommand
from app.ui.chats_controller import ChatsController


class TypedCommands(QObject):
    """Runs commands on the chat that is open."""

    def __init__(
        self,
        actions: Actions,
        chats: ChatsController,
        controller: ChatController,
        composer: Composer,
        *,
        find: Callable[[str], None],
    ) -> None:
        """`find` shows where a text stands in the chat; an empty one lets the person type it."""
        super().__init__(composer)
        self._actions = actions
        self._entries = {
            CommandAction.NEW: actions.new_chat,
            CommandAction.CLEAR: actions.delete,
            CommandAction.MODEL: actions.choose_model,
            CommandAction.FORK: actions.branch,
        }
        """What is in a menu as well."""
        self._chats = chats
        self._controller = controller
        self._composer = composer
        self._find = find

    def run(self, typed: TypedCommand) -> None:
        """Empty the field and do it; if it can't be done now, keep the text and say why."""
        if reason := self._refusal(typed.command.action):
            self._composer.set_hint(reason)
            return
        self._composer.set_text("")
        self._composer.set_hint("")
        match typed.command.action:
            case CommandAction.NEW | CommandAction.CLEAR | CommandAction.MODEL | CommandAction.FORK as action:
                self._entries[action].trigger()
            case CommandAction.CLEAR_SOFTLY:
                self._controller.reset_context()
            case CommandAction.TITLE if typed.argument:
                self._chats.rename(self._chats.open_session, typed.argument)
            case CommandAction.TITLE:
                self._actions.rename.trigger()
            case CommandAction.FIND:
                self._find(typed.argument)
            case CommandAction.HISTORY:
                if not self._actions.show_history.isChecked():
                    self._actions.show_history.trigger()
            case CommandAction.HELP:
                self._composer.show_commands()
            case _:
                assert_never(typed.command.action)

    def _refusal(self, action: CommandAction) -> str:
        match action:
            case CommandAction.CLEAR_SOFTLY:
                return self._controller.reset_refusal
            case CommandAction.CLEAR if self._controller.is_streaming:
                return QCoreApplication.translate(
                    "TypedCommands", "A reply is being written. Wait for its end, or stop it first."
                )
            case CommandAction.FORK if not self._actions.branch.isEnabled():
                return QCoreApplication.translate("TypedCommands", "Nothing was said here yet.")
            case CommandAction.FIND if not self._actions.find.isEnabled():
                return QCoreApplication.translate("TypedCommands", "Nothing was said here yet.")
            case _:
                return ""
