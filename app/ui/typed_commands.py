"""Does what a typed command says, by the same ways as the menus."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import QCoreApplication

from app.ui.chat.slash_commands import CommandAction, TypedCommand

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


def run_command(window: MainWindow, typed: TypedCommand) -> None:
    """Empty the field and do it; if it can't be done now, keep the text and say why."""
    composer = window.page.composer
    if reason := _refusal(window, typed.command.action):
        composer.set_hint(reason)
        return
    composer.set_text("")
    composer.set_hint("")
    match typed.command.action:
        case CommandAction.NEW:
            window.actions_.new_chat.trigger()
        case CommandAction.CLEAR:
            window.actions_.delete.trigger()
        case CommandAction.CLEAR_SOFTLY:
            window.controller.reset_context()
        case CommandAction.MODEL:
            window.actions_.choose_model.trigger()
        case CommandAction.TITLE if typed.argument:
            window.chats.rename(window.chats.open_session, typed.argument)
        case CommandAction.TITLE:
            window.actions_.rename.trigger()
        case CommandAction.HELP:
            composer.show_commands()
        case _:
            assert_never(typed.command.action)


def _refusal(window: MainWindow, action: CommandAction) -> str:
    match action:
        case CommandAction.CLEAR_SOFTLY:
            return window.controller.reset_refusal
        case CommandAction.CLEAR if window.controller.is_streaming:
            return QCoreApplication.translate(
                "TypedCommands", "A reply is being written. Wait for its end, or stop it first."
            )
        case _:
            return ""
