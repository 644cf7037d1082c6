"""A JSON value as lines a person reads: `key: value`, deeper ones indented, line ends kept."""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from app.domain.text import one_line

_INDENT: Final = "  "
_MOST_DEPTH: Final = 20
_MOST_PARSED: Final = 262_144
"""A text that is JSON is read as such up to this length: a few milliseconds."""


class Excerpt(NamedTuple):
    """The begin of a text, and how many characters follow; None if nobody counted them."""

    text: str
    more_chars: int | None = 0


def readable(value: object, *, most_chars: int, most_lines: int) -> Excerpt:
    """Return `value` as text, or its begin. A text that holds a JSON object or list is shown as that."""
    if isinstance(value, str):
        parsed = _parsed(value)
        if parsed is None:
            return _cut(value, most_chars, most_lines)
        value = parsed
    lines: list[str] = []
    chars = 0
    for line in _lines(value, "", 0, most_chars):
        if len(lines) == most_lines or chars + len(line) > most_chars:
            if not lines:
                lines.append(line[:most_chars])
            return Excerpt("\n".join(lines), None)
        lines.append(line)
        chars += len(line) + 1
    return Excerpt("\n".join(lines))


def _cut(text: str, most_chars: int, most_lines: int) -> Excerpt:
    end = 0
    for _ in range(most_lines):
        newline = text.find("\n", end, most_chars)
        if newline < 0:
            end = most_chars
            break
        end = newline + 1
    shown = text[:end]
    more = max(0, len(text) - len(shown))
    return Excerpt(shown.removesuffix("\n") if more else shown, more)


def _parsed(text: str) -> object:
    """Return what a text of JSON says, if that is more than one value; None otherwise."""
    if len(text) > _MOST_PARSED or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _lines(value: object, indent: str, depth: int, most_chars: int) -> Iterator[str]:
    match value:
        case Mapping() | list() if not value or depth > _MOST_DEPTH:
            yield indent + ("…" if value else "–")
        case Mapping():
            for key, each in value.items():
                name = one_line(str(key)[:most_chars], most_chars=most_chars)
                yield from _entry(f"{indent}{name}:", each, indent + _INDENT, depth, most_chars)
        case list():
            for each in value:
                yield from _item(each, indent, depth, most_chars)
        case str():
            yield from (indent + line for line in value[: most_chars + 1].split("\n"))
        case _:
            yield indent + _scalar(value)


def _entry(label: str, value: object, indent: str, depth: int, most_chars: int) -> Iterator[str]:
    is_short = not isinstance(value, Mapping | list) and not (isinstance(value, str) and "\n" in value)
    if is_short or not value:
        yield f"{label} {next(_lines(value, '', depth, most_chars))}"
    else:
        yield label
        yield from _lines(value, indent, depth + 1, most_chars)


def _item(value: object, indent: str, depth: int, most_chars: int) -> Iterator[str]:
    """Give an entry of a list: a dash before its first line."""
    lines = _lines(value, indent + _INDENT, depth + 1, most_chars)
    first = next(lines)
    return chain([f"{indent}- {first[len(indent) + len(_INDENT) :]}"], lines)


def _scalar(value: object) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return "…"
