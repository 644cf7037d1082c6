"""What a model may ask of the folder tools, read with patience."""

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationError

from app.domain.text import clean_text
from app.tools.arguments import Arguments, BadArguments, Count, within
from app.tools.folder_names import MAX_PATH_CHARS
from app.tools.folder_schema import MAX_GLOB_CHARS, MAX_QUERY_CHARS, MOST_LINES

_LARGEST: Final = 2**53


def _no_break(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise ValueError("more than one line")
    return text


def _clean(value: object) -> object:
    return clean_text(value) if isinstance(value, str) else value


_Path = Annotated[str, StringConstraints(max_length=8 * MAX_PATH_CHARS)]
_Text = Annotated[str, BeforeValidator(_clean)]
_Number = Annotated[Count, within(0, _LARGEST)]
_Ordinal = Annotated[Count, within(1, _LARGEST)]
_Glob = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_GLOB_CHARS)]
_Cursor = Annotated[str, StringConstraints(max_length=2 * MAX_PATH_CHARS)]


class ListFiles(Arguments):
    """What a folder holds."""

    path: _Path = "."
    pattern: _Glob = ""
    recursive: bool = False
    cursor: _Cursor = ""


class ReadFile(Arguments):
    """A stretch of a file."""

    path: _Path
    start_line: _Ordinal = 1
    max_lines: Annotated[Count, within(1, MOST_LINES)] = MOST_LINES
    start_char: _Number = 0
    page: _Ordinal = 1


class SearchFiles(Arguments):
    """Where a text stands."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY_CHARS), AfterValidator(_no_break)]
    glob: _Glob = ""
    path: _Path = "."
    case_sensitive: bool = False
    cursor: _Cursor = ""


class WriteFile(Arguments):
    """A whole file."""

    path: _Path
    content: _Text


class EditFile(Arguments):
    """A passage of a file, and another for it."""

    path: _Path
    old_text: Annotated[_Text, StringConstraints(min_length=1)]
    new_text: _Text
    replace_all: bool = False


_WANTED: Final[dict[str, str]] = {
    "path": 'path must be a path seen from the folder, for example "notes/plan.md"',
    "pattern": f'pattern must be a text of at most {MAX_GLOB_CHARS} characters, for example "*.md"',
    "recursive": "recursive must be true or false",
    "cursor": "cursor must be copied from an earlier answer, or left out",
    "start_line": "start_line must be a whole number of at least 1",
    "max_lines": "max_lines must be a whole number of at least 1",
    "start_char": "start_char must be a whole number of at least 0",
    "page": "page must be a whole number of at least 1",
    "query": f"query must be the text to find, one line of 1 to {MAX_QUERY_CHARS:,} characters",
    "glob": f'glob must be a text of at most {MAX_GLOB_CHARS} characters, for example "*.md"',
    "case_sensitive": "case_sensitive must be true or false",
    "content": "content must be the whole text of the file",
    "old_text": "old_text must be the passage as it stands in the file, and not empty",
    "new_text": "new_text must be the text that shall stand there instead",
    "replace_all": "replace_all must be true or false",
}
_MAY_BE_EMPTY: Final = ("content", "new_text", "old_text", "query")

C = TypeVar("C", bound=Arguments)


def parse(model: type[C], arguments: Mapping[str, object]) -> C:
    """Return what is asked. A field that is null, or empty where that means nothing, is one left out.

    Raises BadArguments.
    """
    given = {
        name: value for name, value in arguments.items() if value is not None and (value != "" or name in _MAY_BE_EMPTY)
    }
    try:
        return model.model_validate(given)
    except ValidationError as error:
        names = dict.fromkeys(str(fault["loc"][0]) for fault in error.errors(include_url=False, include_input=False))
        raise BadArguments(f"{'; '.join(_WANTED[name] for name in names)}.") from None
