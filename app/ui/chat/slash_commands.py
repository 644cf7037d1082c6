"""Commands that can be typed instead of a message: what they are called and what they do. The window does it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication


class CommandAction(StrEnum):
    """What a command does."""

    NEW = "new"
    CLEAR = "clear"
    CLEAR_SOFTLY = "clear_softly"
    MODEL = "model"
    TITLE = "title"
    FIND = "find"
    HISTORY = "history"
    FORK = "fork"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command as it is typed, and one line on what it does. With an `argument` any words may follow."""

    name: str
    action: CommandAction
    text: str
    argument: str = ""


class TypedCommand(NamedTuple):
    """A command with the words behind it."""

    command: SlashCommand
    argument: str = ""


def slash_commands() -> tuple[SlashCommand, ...]:
    """Return every command, in the order in which they are listed."""
    return (
        SlashCommand("/new", CommandAction.NEW, _tr("Begin a new chat")),
        SlashCommand("/clear", CommandAction.CLEAR, _tr("Move this chat to the trash; you can undo it")),
        SlashCommand(
            "/clear --soft",
            CommandAction.CLEAR_SOFTLY,
            _tr("Start afresh: the model forgets what was said here, you keep everything"),
        ),
        SlashCommand("/model", CommandAction.MODEL, _tr("Choose another model")),
        SlashCommand("/title", CommandAction.TITLE, _tr("Give this chat another title"), _tr("new title")),
        SlashCommand("/find", CommandAction.FIND, _tr("Find words in this chat"), _tr("words")),
        SlashCommand("/fork", CommandAction.FORK, _tr("Branch a new chat from here; this one stays as it is")),
        SlashCommand("/history", CommandAction.HISTORY, _tr("Show the history of this chat beside it")),
        SlashCommand("/help", CommandAction.HELP, _tr("List these commands")),
    )


def find_command(text: str) -> TypedCommand | None:
    """Return the command that `text` is; None if it is a message: several lines, or nothing known exactly."""
    if "\n" in text or not text.startswith("/"):
        return None
    words = " ".join(text.split())
    for command in slash_commands():
        if words == command.name:
            return TypedCommand(command)
        if command.argument and words.startswith(f"{command.name} "):
            return TypedCommand(command, text.strip()[len(command.name) :].strip())
    return None


def completions(text: str) -> tuple[SlashCommand, ...]:
    """Return the commands that `text`, a slash and letters only, may become."""
    letters = text[1:]
    if not text.startswith("/") or (letters and not (letters.isascii() and letters.isalpha())):
        return ()
    return tuple(command for command in slash_commands() if command.name.startswith(text.lower()))


def _tr(text: str) -> str:
    return QCoreApplication.translate("SlashCommands", text)
