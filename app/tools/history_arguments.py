"""What a model may ask of `session_history`, read with patience: what can be understood is, the rest is said.

See context-windows.md, 7.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationError

from app.domain.text import clean_text, one_line
from app.domain.windows import Filters
from app.tools.arguments import Arguments, BadArguments, Count, within

DEFAULT_LIMIT: Final = 10
MOST_WINDOWS: Final = 50
MOST_ITEMS: Final = 50
MOST_HITS: Final = 25
MAX_QUERY_CHARS: Final = 1_024
PREVIEW_CHARS: Final = 200
READ_CHARS: Final = 8_000
MOST_READ_CHARS: Final = 16_000
MOST_ID_CHARS: Final = 80

_MOST_NAMED: Final = 5
_LARGEST: Final = 2**53
"""A number beyond is no position in a file of this world."""


def _as_text(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    # Some send every number as a float.
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _window(value: object) -> object:
    """Take 57 for `w:57`."""
    text = _as_text(value)
    if not isinstance(text, str):
        return text
    text = text.strip()
    return f"w:{text}" if text.isascii() and text.isdigit() else text


def _item(value: object) -> object:
    """Take 12, `12` and `[#12]` for `#12`."""
    text = _as_text(value)
    if not isinstance(text, str):
        return text
    text = text.strip().removeprefix("[").removesuffix("]")
    return f"#{text}" if text.isascii() and text.isdigit() else text


def _word(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


_Id = StringConstraints(strip_whitespace=True, max_length=MOST_ID_CHARS)
_Cursor = Annotated[str, StringConstraints(strip_whitespace=True)]


class ListWindows(Arguments):
    """Which windows there are, newest first."""

    limit: Annotated[Count, within(1, MOST_WINDOWS)] = DEFAULT_LIMIT
    cursor: _Cursor = ""


class _Filtered(Arguments):
    window_id: Annotated[str, BeforeValidator(_window), _Id, AfterValidator(clean_text)] = ""
    role: Annotated[Literal["user", "assistant"] | None, BeforeValidator(_word)] = None
    tool_name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(clean_text)] = ""
    recent_first: bool = True
    cursor: _Cursor = ""

    @property
    def filters(self) -> Filters:
        return Filters(window_id=self.window_id, role=self.role, tool_name=self.tool_name)


class ListItems(_Filtered):
    """Which messages there are."""

    limit: Annotated[Count, within(1, MOST_ITEMS)] = DEFAULT_LIMIT
    max_chars_per_item: Annotated[Count, within(1, PREVIEW_CHARS)] = PREVIEW_CHARS


class Search(_Filtered):
    """Where a text stands."""

    query: Annotated[
        str,
        BeforeValidator(_as_text),
        StringConstraints(min_length=1, max_length=MAX_QUERY_CHARS),
        AfterValidator(clean_text),
    ]
    limit: Annotated[Count, within(1, MOST_HITS)] = DEFAULT_LIMIT


class ReadItem(Arguments):
    """The text of a message, from a character on."""

    item_id: Annotated[str, BeforeValidator(_item), _Id, AfterValidator(clean_text)]
    offset_chars: Annotated[Count, within(0, _LARGEST)] = 0
    limit_chars: Annotated[Count, within(1, MOST_READ_CHARS)] = READ_CHARS


Paged = ListWindows | ListItems | Search
Call = Paged | ReadItem

ACTIONS: Final[Mapping[str, type[ListWindows] | type[ListItems] | type[Search] | type[ReadItem]]] = {
    "search": Search,
    "list_windows": ListWindows,
    "list_items": ListItems,
    "read_item": ReadItem,
}
_WANTED: Final = {
    "cursor": "cursor must be the text that an earlier answer gave, exactly as it was",
    "limit": "limit must be a whole number of at least 1, for example 10",
    "window_id": 'window_id must be a text as list_windows gives it, for example "w:0"',
    "role": 'role must be "user" or "assistant"; leave it out for both',
    "tool_name": 'tool_name must be the name of one tool, for example "read_file"',
    "recent_first": "recent_first must be true or false",
    "max_chars_per_item": "max_chars_per_item must be a whole number from 1 to 200",
    "query": 'query must be the words to look for, 1 to 1,024 characters, for example "invoice 2043"',
    "item_id": 'item_id must be a text as the lists give it, or "#" and the number of a message, for example "#12"',
    "offset_chars": "offset_chars must be a whole number of at least 0; start with 0, go on with next_offset_chars",
    "limit_chars": "limit_chars must be a whole number of at least 1, for example 8000",
}
_ACTION_WANTED: Final = (
    'action must be one of "search", "list_windows", "list_items", "read_item",'
    ' for example {"action": "search", "query": "invoice 2043"}'
)


class Asked(NamedTuple):
    """A call as it was understood, and the names of what was passed over in it."""

    action: str
    call: Call
    ignored: tuple[str, ...] = ()


def parse(arguments: Mapping[str, object]) -> Asked:
    """Return what is asked. A field that is null or empty is one left out. Raises BadArguments."""
    given = {name: value for name, value in arguments.items() if value is not None and value != ""}
    action = _action(given.pop("action", None))
    model = ACTIONS[action]
    try:
        call = model.model_validate(given)
    except ValidationError as error:
        names = dict.fromkeys(str(fault["loc"][0]) for fault in error.errors(include_url=False, include_input=False))
        raise BadArguments(f"{action}: {'; '.join(_WANTED[name] for name in names)}.") from None
    unknown = [one_line(clean_text(name), most_chars=40) for name in given if name not in model.model_fields]
    return Asked(action, call, tuple(unknown[:_MOST_NAMED]))


def _action(value: object) -> str:
    word = _word(value)
    action = word.replace("-", "_").replace(" ", "_") if isinstance(word, str) else ""
    if action not in ACTIONS:
        raise BadArguments(f"{_ACTION_WANTED}.")
    return action
