"""Leaves too large for a row, kept by the SHA-256 of their bytes."""

import hashlib
from pathlib import Path
from typing import Final

from app.disk import FOLDER_MODE, storage_error, sync_folder, write_atomic
from app.domain.errors import ChatNotFound, StorageError
from app.domain.rows import Blob, ReasoningPart, Row, TextPart, ToolPart
from app.domain.text import clean_text
from app.history.codec import MAX_LINE_BYTES, encode_json, encode_row, parse_json

KEPT_BYTES: Final = (16_384, 2_048, 128, 0)
"""How much of the begin and of the end of a moved leaf stays in the row, in bytes each.

The first is the rule; the others are for rows of so many parts that they would not fit with it.
"""

MAX_RESULT_BYTES: Final = 64 * 1024
"""A larger result of a call never stays in its row."""

MAX_READ_BYTES: Final = 64 * 1024 * 1024
"""A larger text is neither searched nor shown whole."""

_REFERENCE_BYTES: Final = 256
_MOST_CHAR_BYTES: Final = 4
"""Of a character in UTF-8."""

_Leaf = tuple[int, str]
"""Index of a part and the name of its field."""


class Blobs:
    """The `blobs` folder of one chat. Blobs are never changed; a blob is on disk before its row."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Keep `data` durably and return its SHA-256. Raises StorageError."""
        name = hashlib.sha256(data).hexdigest()
        if not self._has(name, data):
            self._make_folder()
            write_atomic(self._folder / name, data, what="A file of this chat")
        return name

    def has(self, sha256: str) -> bool:
        """Whether a blob of that name is there, whatever it holds."""
        return _is_name(sha256) and (self._folder / sha256).is_file()

    def size(self, sha256: str) -> int:
        """Return how many bytes are kept under `sha256`, 0 if there are none."""
        try:
            return (self._folder / sha256).stat().st_size if _is_name(sha256) else 0
        except OSError:
            return 0

    def get(self, sha256: str, *, most_bytes: int | None = None) -> bytes:
        """Return the bytes kept under `sha256`. Raises StorageError if they are gone, altered or over `most_bytes`."""
        if not _is_name(sha256):
            raise StorageError("A kept file has a name that is none.")
        if most_bytes is not None and self.size(sha256) > most_bytes:
            raise StorageError("A long text that was kept apart is too long to be read at once.")
        try:
            data = (self._folder / sha256).read_bytes()
        except OSError as error:
            raise storage_error("A long text that was kept apart can't be read", error) from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StorageError("A long text that was kept apart has been altered on disk.")
        return data

    def _make_folder(self) -> None:
        """Make the folder in the chat's own, which must not come back once the chat is deleted."""
        if not self._folder.parent.is_dir():
            raise ChatNotFound("This chat is not there any more.")
        try:
            self._folder.mkdir(mode=FOLDER_MODE)
            sync_folder(self._folder.parent)
        except FileExistsError:
            pass
        except OSError as error:
            raise storage_error("A file of this chat can't be saved", error) from error

    def _has(self, name: str, data: bytes) -> bool:
        """Whether exactly `data` is there; an altered blob is written anew."""
        try:
            return (self._folder / name).read_bytes() == data
        except OSError:
            return False


def _is_name(sha256: str) -> bool:
    return len(sha256) == 64 and all(digit in "0123456789abcdef" for digit in sha256)


def fit_row(row: Row, blobs: Blobs) -> Row:
    """Return `row` with its large results moved to `blobs`, and its largest leaves until its line is at most 1 MiB.

    If that is not enough, what was shown of changes is left out, and then what a model wants back of its thoughts.
    Raises StorageError, also if the row can't be made to fit.
    """
    row = move_large_results(row, blobs)
    # Room for the sequence number and the batch, which are given later.
    most = MAX_LINE_BYTES - 512
    if len(encode_row(row)) <= most:
        return row
    without_diffs = _without_diffs(row)
    for candidate in (row, without_diffs, _without_replay(without_diffs)):
        for kept_bytes in KEPT_BYTES:
            fitted = _with_leaves_moved(candidate, kept_bytes, most, blobs)
            if len(encode_row(fitted)) <= most:
                return fitted
    raise StorageError("This message has too many parts to be saved.")


def move_large_results(row: Row, blobs: Blobs) -> Row:
    """Return `row` with every result over `MAX_RESULT_BYTES` moved to `blobs`. Raises StorageError."""
    for index, part in enumerate(row.parts):
        if isinstance(part, ToolPart) and part.output_blob is None and _is_large(part.output):
            row = _move_leaf(row, (index, "output"), KEPT_BYTES[0], blobs)
    return row


def _is_large(output: object) -> bool:
    if output is None or (isinstance(output, str) and len(output) * _MOST_CHAR_BYTES <= MAX_RESULT_BYTES):
        return False
    size = len(clean_text(output).encode("utf-8")) if isinstance(output, str) else len(encode_json(output))
    return size > MAX_RESULT_BYTES


def _with_leaves_moved(row: Row, kept_bytes: int, most: int, blobs: Blobs) -> Row:
    """Return `row` with its largest leaves moved, until it has `most` bytes or no leaf gets smaller by that."""
    size = len(encode_row(row))
    sizes = sorted(((len(encode_json(value)), leaf) for leaf, value in _movable_leaves(row)), reverse=True)
    for leaf_bytes, leaf in sizes:
        # Begin and end are kept, and JSON may write them in twice their bytes; the rest is the reference.
        if size <= most or leaf_bytes <= 4 * kept_bytes + _REFERENCE_BYTES:
            break
        row = _move_leaf(row, leaf, kept_bytes, blobs)
        index, name = leaf
        size += len(encode_json(getattr(row.parts[index], name))) + _REFERENCE_BYTES - leaf_bytes
    return row


def _without_replay(row: Row) -> Row:
    """Return `row` without what its model wants back of its thoughts: better than not to have the row."""
    parts = (
        part.model_copy(update={"replay": None}) if isinstance(part, ReasoningPart | ToolPart) else part
        for part in row.parts
    )
    return row.model_copy(update={"parts": tuple(parts)})


def _without_diffs(row: Row) -> Row:
    """Return `row` without what was shown of its changes: their calls and results are what counts."""
    parts = (part.model_copy(update={"diff": None}) if isinstance(part, ToolPart) else part for part in row.parts)
    return row.model_copy(update={"parts": tuple(parts)})


def whole_text(part: TextPart | ReasoningPart, blobs: Blobs) -> str:
    """Return the whole text of a part, from its blob if it was moved. Raises StorageError."""
    if part.blob is None:
        return part.text
    return blobs.get(part.blob.sha256).decode("utf-8", "replace")


def whole_row(row: Row, blobs: Blobs) -> Row:
    """Return `row` with every moved leaf back in its place. Raises StorageError."""
    parts = tuple(_whole_part(part, blobs) for part in row.parts)
    return row.model_copy(update={"parts": parts}) if parts != row.parts else row


def _whole_part(part: object, blobs: Blobs) -> object:
    match part:
        case TextPart(blob=Blob()) | ReasoningPart(blob=Blob()):
            return part.model_copy(update={"text": whole_text(part, blobs), "blob": None})
        case ToolPart():
            update: dict[str, object] = {}
            if part.input_blob is not None:
                update |= {"input": _parsed(part.input_blob, blobs), "input_blob": None}
            if part.output_blob is not None:
                update |= {"output": _parsed(part.output_blob, blobs), "output_blob": None}
            return part.model_copy(update=update) if update else part
        case _:
            return part


def _parsed(blob: Blob, blobs: Blobs) -> object:
    data = blobs.get(blob.sha256)
    return data.decode("utf-8", "replace") if blob.chars is not None else parse_json(data)


def _movable_leaves(row: Row) -> list[tuple[_Leaf, object]]:
    leaves: list[tuple[_Leaf, object]] = []
    for index, part in enumerate(row.parts):
        match part:
            case TextPart(blob=None) | ReasoningPart(blob=None):
                leaves.append(((index, "text"), part.text))
            case ToolPart():
                if part.input_blob is None:
                    leaves.append(((index, "input"), part.input))
                if part.output_blob is None:
                    leaves.append(((index, "output"), part.output))
            case _:
                pass
    return leaves


def _move_leaf(row: Row, leaf: _Leaf, kept_bytes: int, blobs: Blobs) -> Row:
    index, name = leaf
    part = row.parts[index]
    value = getattr(part, name)
    is_text = isinstance(value, str)
    text = clean_text(value) if is_text else encode_json(value).decode("utf-8")
    data = text.encode("utf-8")
    blob = Blob(sha256=blobs.put(data), bytes=len(data), chars=len(text) if is_text else None)
    blob_name = "blob" if name == "text" else f"{name}_blob"
    moved = part.model_copy(update={name: shortened(data, kept_bytes), blob_name: blob})
    return row.model_copy(update={"parts": (*row.parts[:index], moved, *row.parts[index + 1 :])})


def shortened(data: bytes, kept_bytes: int) -> str:
    """Return the begin and the end of a UTF-8 text with a line between that says how much is elsewhere."""
    first = data[:kept_bytes].decode("utf-8", "ignore")
    last = data[len(data) - kept_bytes :].decode("utf-8", "ignore")
    missing = len(data) - len(first.encode()) - len(last.encode())
    return f"{first}\n[… {missing:,} bytes are kept apart …]\n{last}"
