"""Thoughts of Chat Completions that have to go back with the calls they led to. No I/O.

Servers name them as they like: DeepSeek `reasoning_content`, vLLM and LocalAI `reasoning`, OpenRouter and MiniMax
`reasoning_details`, a list. Those that think between calls want the thoughts of a turn that made calls back under the
same name: DeepSeek refuses the request without them. Of other turns nothing is wanted, and some refuse it.
Gemini signs calls instead: what it puts beside a call, `extra_content`, goes back beside it. A call of another model in
the turn that runs has none, and is refused unless it says so in Google's words for that.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from app.domain.rows import ReasoningPart, Row, ToolPart
from app.domain.text import clean_text
from app.providers.openai.parts import Json, text_in

TEXT_FIELDS: Final = ("reasoning_content", "reasoning")
DETAILS: Final = "reasoning_details"
EXTRA: Final = "extra_content"
MOST_DETAILS: Final = 1_000
"""Of one reply; a server that sends more has gone wrong."""
_NOT_SIGNED: Final = "skip_thought_signature_validator"
"""From Google's documentation of thought signatures."""
_GROWING: Final = ("text", "summary", "data")


class Details:
    """The list of thoughts of one reply, put together from what a stream sends of it."""

    def __init__(self) -> None:
        self._entries: list[Json] = []

    def add(self, entries: object) -> None:
        """Take what a chunk says: new entries, and more of the last one if kind and place are the same."""
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, Mapping):
                continue
            last = self._entries[-1] if self._entries else None
            if last is not None and _is_more(entry, last):
                last.update(_grown(last, entry))
            elif len(self._entries) < MOST_DETAILS:
                self._entries.append(dict(entry))

    @property
    def entries(self) -> list[Json]:
        return self._entries


def texts_in(details: object) -> str:
    """Return what there is to read in the entries of a chunk."""
    return "".join(text_in(entry, "text") or text_in(entry, "summary") for entry in _entries(details))


def rows_with_thoughts(rows: Sequence[Row]) -> frozenset[int]:
    """Return the places of the replies whose thoughts go back: those of turns that made calls."""
    places: set[int] = set()
    turn: list[int] = []
    for at, row in enumerate(rows):
        turn = [] if row.role == "user" else [*turn, at]
        if any(isinstance(part, ToolPart) for other in turn for part in rows[other].parts):
            places.update(turn)
    return frozenset(places)


def thoughts_of(row: Row) -> Json:
    """Return the field of a message with the thoughts of a reply, under the name they came with; empty if none."""
    parts = [part for part in row.parts if isinstance(part, ReasoningPart) and part.replay is not None]
    details = [entry for part in parts for entry in _entries((part.replay or {}).get(DETAILS))]
    if details:
        return {DETAILS: details}
    for field in TEXT_FIELDS:
        texts = [clean_text(part.text) for part in parts if (part.replay or {}).get("field") == field]
        if texts:
            return {field: "\n\n".join(texts)}
    return {}


def with_signature(message: Json) -> Json:
    """Return a message whose calls are signed: the first of them says that it is not, if none is."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls or any(EXTRA in call for call in calls):
        return message
    first = {**calls[0], EXTRA: {"google": {"thought_signature": _NOT_SIGNED}}}
    return {**message, "tool_calls": [first, *calls[1:]]}


def _entries(details: object) -> list[Mapping[str, object]]:
    return [entry for entry in details if isinstance(entry, Mapping)] if isinstance(details, list) else []


def _is_more(entry: Mapping[str, object], last: Mapping[str, object]) -> bool:
    is_same = all(entry.get(name) == last.get(name) for name in ("type", "index"))
    return is_same and entry.get("id") in (None, last.get("id")) and "index" in entry


def _grown(last: Mapping[str, object], entry: Mapping[str, object]) -> Json:
    grown: Json = {name: value for name, value in entry.items() if value is not None}
    for name in _GROWING:
        if name in grown:
            grown[name] = text_in(last, name) + text_in(entry, name)
    return grown
