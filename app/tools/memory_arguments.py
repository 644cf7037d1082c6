"""What a model may ask of `memory`, read with patience: what can be understood is, the rest is said.

The names are those of Anthropic's memory tool, which many models know.
"""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import BeforeValidator, ValidationError

from app.tools.arguments import Arguments, BadArguments, Count, within

_LARGEST: Final = 2**53


def _range(value: object) -> object:
    """Take [3] for [3, -1], and numbers however they are written."""
    if isinstance(value, list | tuple) and len(value) == 1:
        return [value[0], -1]
    return value


def _end(value: object) -> object:
    return -1 if value in (-1, "-1", None) else value


class View(Arguments):
    """Lines of a file, or what is in a folder."""

    path: str
    view_range: Annotated[
        tuple[Annotated[Count, within(0, _LARGEST)], Annotated[Count, BeforeValidator(_end)]] | None,
        BeforeValidator(_range),
    ] = None
    """First and last line, from 1; -1 for the end."""
    start_char: Annotated[Count, within(0, _LARGEST)] = 0
    """Of the first of these lines."""


class Create(Arguments):
    """A new file, or a whole new text of one that was viewed."""

    path: str
    file_text: str


class StrReplace(Arguments):
    """Another text in place of one that stands in the file once."""

    path: str
    old_str: str
    new_str: str = ""


class Insert(Arguments):
    """Text behind a line."""

    path: str
    insert_line: Annotated[Count, within(0, _LARGEST)]
    insert_text: str


class Delete(Arguments):
    """A file, or a folder with all that is in it."""

    path: str


class Rename(Arguments):
    """Another path for a file or folder."""

    old_path: str
    new_path: str


Write = Create | StrReplace | Insert | Delete | Rename
Call = View | Write

COMMANDS: Final[
    Mapping[str, type[View] | type[Create] | type[StrReplace] | type[Insert] | type[Delete] | type[Rename]]
] = {
    "view": View,
    "create": Create,
    "str_replace": StrReplace,
    "insert": Insert,
    "delete": Delete,
    "rename": Rename,
}
_WANTED: Final = {
    "path": 'path must be a path such as "/memories/workspace/plan.md"',
    "view_range": "view_range must be two line numbers, for example [1, 40]; -1 as the second means the end",
    "start_char": "start_char must be a whole number of at least 0",
    "file_text": "file_text must be the whole text of the file",
    "old_str": "old_str must be the text to be replaced, exactly as it stands in the file",
    "new_str": "new_str must be the text that takes its place",
    "insert_line": "insert_line must be a whole number: the line behind which the text goes, 0 for the beginning",
    "insert_text": "insert_text must be the text to insert",
    "old_path": 'old_path must be the path there is, such as "/memories/workspace/plan.md"',
    "new_path": 'new_path must be the path it is to get, such as "/memories/workspace/done.md"',
}


def command_of(arguments: Mapping[str, object]) -> str:
    """Return the command that is meant; empty if it is none."""
    value = arguments.get("command")
    word = value.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(value, str) else ""
    return word if word in COMMANDS else ""


def parse(arguments: Mapping[str, object]) -> Call:
    """Return what is asked. Raises BadArguments."""
    command = command_of(arguments)
    if not command:
        names = ", ".join(f'"{name}"' for name in COMMANDS)
        raise BadArguments(
            f'command must be one of {names}, for example {{"command": "view", "path": "/memories/workspace"}}.'
        )
    given = {name: value for name, value in arguments.items() if value is not None and name != "command"}
    try:
        return COMMANDS[command].model_validate(given)
    except ValidationError as error:
        faulty = dict.fromkeys(str(fault["loc"][0]) for fault in error.errors(include_url=False, include_input=False))
        raise BadArguments(f"{command}: {'; '.join(_WANTED[name] for name in faulty)}.") from None
