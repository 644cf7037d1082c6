"""An item's text: the leaves of its row as they are, in order, with fixed labels between them.

A hit in a leaf has an exact place in this text, and its pieces join to the whole. See context-windows.md, 7.
"""

import codecs
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.errors import StorageError
from app.domain.rows import Blob, MediaPart, ReasoningPart, Row, TextPart, ToolPart
from app.domain.text import one_line, utf16_units
from app.domain.windows import SESSION_HISTORY
from app.history.blobs import MAX_READ_BYTES, Blobs
from app.history.codec import parse_json

OMITTED: Final = "[history result omitted]"
_MOST_PATH_CHARS: Final = 120
_MOST_NAME_CHARS: Final = 100
_GAP: Final = "\n\n"
_PIECE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an item's text. A leaf is what somebody said; anything else is a label."""

    text: str
    is_leaf: bool = False
    tool: str = ""
    """Name of the tool if it is a leaf of a call."""


class LeafReader:
    """Reads leaves that lie in blobs; `missing` counts those that it could not, or would not, read whole."""

    def __init__(self, blobs: Blobs | None) -> None:
        self._blobs = blobs
        self._read: dict[str, bytes | None] = {}

    @property
    def missing(self) -> int:
        return sum(data is None for data in self._read.values())

    def text(self, blob: Blob | None, kept: str) -> str:
        """Return the text in `blob`, or what the row keeps of it."""
        data = self.data(blob)
        return kept if data is None else _decoded(data)

    def value(self, blob: Blob | None, kept: object) -> object:
        """Return the text or JSON in `blob`, or what the row keeps of it."""
        data = self.data(blob)
        if data is None or blob is None:
            return kept
        if blob.chars is not None:
            return _decoded(data)
        value = parse_json(data)
        return value if value is None or isinstance(value, dict | list | str | int | float) else kept

    def data(self, blob: Blob | None) -> bytes | None:
        """Return what lies in `blob`, None if it is missing, altered or too large."""
        if blob is None or self._blobs is None:
            return None
        if blob.sha256 not in self._read:
            try:
                self._read[blob.sha256] = self._blobs.get(blob.sha256, most_bytes=MAX_READ_BYTES)
            except StorageError:
                self._read[blob.sha256] = None
        return self._read[blob.sha256]


def _decoded(data: bytes) -> str:
    """Decode in pieces, so that other threads get their turn."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    starts = range(0, len(data), _PIECE_BYTES)
    return "".join([decoder.decode(data[at : at + _PIECE_BYTES]) for at in starts] + [decoder.decode(b"", final=True)])


def pieces(row: Row, leaves: LeafReader, *, omits_history: bool) -> Iterator[Piece]:
    """Yield the text of a row; reasoning is no part of it.

    `omits_history`: what `session_history` gave back is only named, as for a model.
    """
    is_first = True
    for part in row.parts:
        if isinstance(part, ReasoningPart):
            continue
        if not is_first:
            yield Piece(_GAP)
        is_first = False
        match part:
            case TextPart():
                yield Piece(leaves.text(part.blob, part.text), is_leaf=True)
            case ToolPart():
                yield from _of_tool(part, leaves, omits_history=omits_history)
            case MediaPart():
                yield from _of_file(part, leaves)
            case _:
                yield Piece(f"[{one_line(part.type, most_chars=_MOST_NAME_CHARS)}: can't be shown by this version]")


def blobs_of(row: Row) -> list[Blob]:
    """Return the blobs that hold texts of a row; files themselves are none."""
    found: list[Blob | None] = []
    for part in row.parts:
        match part:
            case TextPart():
                found.append(part.blob)
            case ToolPart():
                found += (part.input_blob, part.output_blob)
            case MediaPart():
                found.append(part.text_blob)
            case _:
                pass
    return [blob for blob in found if blob is not None]


def total_chars(row: Row, *, omits_history: bool) -> int:
    """Return the length of the whole text, without reading a blob: of JSON in blobs, that of the JSON."""
    total = sum(utf16_units(piece.text) for piece in pieces(row, LeafReader(None), omits_history=omits_history))
    for part in row.parts:
        match part:
            case TextPart(blob=Blob()):
                total += _length(part.blob) - utf16_units(part.text)
            case ToolPart():
                if part.input_blob is not None:
                    total += _length(part.input_blob) - _length_of(part.input)
                if part.output_blob is not None and not (omits_history and part.name == SESSION_HISTORY):
                    total += _length(part.output_blob) - _length_of(part.output)
            case MediaPart(text_blob=Blob()):
                total += _length(part.text_blob) + 1
            case _:
                pass
    return max(0, total)


def _length(blob: Blob | None) -> int:
    return 0 if blob is None else blob.chars if blob.chars is not None else blob.bytes


def _length_of(kept: object) -> int:
    return utf16_units(kept) if isinstance(kept, str) else 0


def name_of_file(part: MediaPart) -> str:
    """Return what a file is called in a list."""
    if part.pages is not None:
        size = f"{part.pages} page" if part.pages == 1 else f"{part.pages} pages"
    elif part.width is not None and part.height is not None:
        size = f"{part.width} × {part.height}"
    else:
        size = f"{part.bytes:,} bytes"
    name = one_line(part.name, most_chars=_MOST_NAME_CHARS) or "without a name"
    return f"[file: {name}, {one_line(part.media_type, most_chars=_MOST_NAME_CHARS)}, {size}]"


def _label_of_file(part: MediaPart) -> str:
    """Return what stands in a text where a file was; its name is told where items are listed."""
    if part.media_type.startswith("image/"):
        return "[image]"
    kind = "pdf" if part.media_type == "application/pdf" else one_line(part.media_type, most_chars=_MOST_NAME_CHARS)
    pages = "" if part.pages is None else f": {part.pages} page{'' if part.pages == 1 else 's'}"
    return f"[{kind}{pages}]"


def _of_file(part: MediaPart, leaves: LeafReader) -> Iterator[Piece]:
    yield Piece(_label_of_file(part))
    text = leaves.text(part.text_blob, "")
    if text:
        yield Piece("\n")
        yield Piece(text, is_leaf=True)


def _of_tool(part: ToolPart, leaves: LeafReader, *, omits_history: bool) -> Iterator[Piece]:
    name = one_line(part.name, most_chars=_MOST_NAME_CHARS)
    yield Piece(f"[tool: {name}, {part.state}]")
    yield from _lines(leaves.value(part.input_blob, part.input), part.name)
    if part.name == SESSION_HISTORY and omits_history:
        yield Piece(f"\n{OMITTED}")
    elif part.output is not None or part.output_blob is not None:
        yield Piece("\n[result]")
        yield from _lines(leaves.value(part.output_blob, part.output), part.name)


def _lines(value: object, tool: str) -> Iterator[Piece]:
    """Yield a line for each leaf of a value, with its path before it."""
    for path, leaf in _walk(value):
        yield Piece(f"\n{path}: " if path else "\n")
        if isinstance(leaf, str):
            yield Piece(leaf, is_leaf=True, tool=tool)
        else:
            yield Piece(json.dumps(leaf, ensure_ascii=False))


def _walk(value: object) -> Iterator[tuple[str, object]]:
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        children = _children(path, item)
        if children is None:
            if path or item is not None:
                yield path, item
        else:
            waiting.extend(reversed(list(children)))


def _children(path: str, item: object) -> Iterable[tuple[str, object]] | None:
    if isinstance(item, dict):
        return ((_joined(path, str(key)), child) for key, child in item.items())
    if isinstance(item, list | tuple):
        return ((_joined(path, str(number)), child) for number, child in enumerate(item))
    return None


def _joined(path: str, name: str) -> str:
    # A path may be as deep as JSON can be nested.
    name = one_line(name[:_MOST_PATH_CHARS], most_chars=_MOST_PATH_CHARS)
    return one_line(f"{path}.{name}" if path else name, most_chars=_MOST_PATH_CHARS)
