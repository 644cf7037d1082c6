"""A row as one line of bytes, and back; any bytes are taken, none raise.

The rules of the line are in docs/history-format.md: compact JSON, raw UTF-8, `boundary`
right after `v`, `parts` last. What a fast parser refuses is read by a patient one.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from pydantic import BaseModel, ValidationError

from app.domain.rows import BOUNDARY_KINDS, Row
from app.domain.text import clean_text

MAX_LINE_BYTES: Final = 1024 * 1024
MAX_NESTING: Final = 100
BOUNDARY_NEEDLE: Final = b'"boundary"'

_REPLACEMENT: Final = "\ufffd"


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that is no row. `is_reset`: it may have been a boundary, so it counts as a manual reset."""

    reason: str
    is_reset: bool = False


def encode_row(row: Row) -> bytes:
    """Return the canonical line of `row`, without its line feed.

    Lone surrogates become U+FFFD, NaN and infinities null; fields that are None or empty are left out.
    """
    return encode_json(_fields_in_order(row))


def encode_json(value: object) -> bytes:
    """Return compact JSON in raw UTF-8 in which only `"`, `\\` and control characters are escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_UTC_Z)
    except TypeError:
        # Lone surrogates, or integers over 64 bits.
        text = json.dumps(_clean(value), ensure_ascii=False, separators=(",", ":"), default=_time_text)
        return text.encode("utf-8")


def as_kept(value: object) -> object:
    """Return a JSON value as every reader of the history will find it: what differs is settled before it is used.

    Raises ValueError if it is nested too deeply to be sure that each of them can read it.
    """
    if not _is_nested_at_most(value, MAX_NESTING):
        raise ValueError(f"nested more than {MAX_NESTING} levels deep")
    return parse_json(encode_json(value))


def decode_line(line: bytes) -> Row | Damage:
    """Return the row in `line` (no line feed), or why there is none."""
    looks_like_boundary = BOUNDARY_NEEDLE in line
    if b"\0" in line:
        return Damage("NUL bytes", is_reset=looks_like_boundary)
    value = parse_json(line)
    if value is _UNREADABLE:
        return Damage("not JSON", is_reset=looks_like_boundary)
    if not isinstance(value, dict):
        return Damage("no object")
    try:
        return Row.model_validate(value)
    except (ValidationError, RecursionError):
        return Damage("not a row", is_reset="boundary" in value)


_UNREADABLE: Final = object()


def parse_json(data: bytes) -> object:
    """Return what `data` says, with invalid UTF-8 and lone surrogates as U+FFFD; `_UNREADABLE` if nothing."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            return _clean(json.loads(data.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            return _UNREADABLE


def is_reset(entry: Row | Damage) -> bool:
    """Whether nothing before this entry may reach a model: a manual reset, or a boundary nobody can read."""
    if isinstance(entry, Damage):
        return entry.is_reset
    return entry.boundary is not None and (entry.boundary.kind == "reset" or entry.boundary.kind not in BOUNDARY_KINDS)


def _fields_in_order(row: Row) -> dict[str, object]:
    fields = {name: _plain(value) for name, value in _present(row)}
    parts = fields.pop("parts", None)
    if parts is not None:
        fields["parts"] = parts
    return fields


def _present(model: BaseModel) -> Iterable[tuple[str, Any]]:
    """Yield the fields that say something, and every field nobody knows as it was."""
    # Twice as fast as to iterate over the model, which a long copy is made of.
    for name, value in model.__dict__.items():
        if value is not None and value != ():
            yield name, value
    yield from (model.model_extra or {}).items()


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return {name: _plain(item) for name, item in _present(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _is_nested_at_most(value: object, levels: int) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return levels >= 0 and all(_is_nested_at_most(item, levels - 1) for item in items)


def _clean(value: object) -> object:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        # No number of JSON; the fast encoder writes the same.
        return None
    return value


def _time_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    raise TypeError(f"{type(value).__name__} has no place in a row")
