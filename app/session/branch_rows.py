"""Rows of a chat as rows of its branch: with ids of their own that mean the same. Reads and writes nothing."""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from app.domain.rows import Blob, Boundary, Kind, MediaPart, ReasoningPart, Row, TextPart, ToolPart

_OWN_ID: Final = re.compile(r"[0-9a-f]{24}")
_BLOB_NAME: Final = re.compile(r"[0-9a-f]{64}")
_ROW_REFERENCE: Final = "w:m:"
"""How a window is named whose boundary has no number: by that row's id."""


class RowMapping:
    """Gives the rows of a branch their ids. One id always gives the same, so that nothing need be remembered."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._key = hashlib.blake2b(session.encode("utf-8")).digest()

    def id(self, old: str) -> str:
        """Return the branch's id for `old`; its time is kept, so that ids still sort by it."""
        digest = hashlib.blake2b(old.encode("utf-8", "replace"), key=self._key, digest_size=12).hexdigest()
        return old[:12] + digest[12:] if _OWN_ID.fullmatch(old) else digest

    def row(self, row: Row) -> Row:
        """Return `row` as the branch has it."""
        update: dict[str, object] = {"session": self._session, "id": self.id(row.id)}
        for name in ("turn", "copy_of"):
            if (old := getattr(row, name)) is not None:
                update[name] = self.id(old)
        if row.batch is not None:
            update["batch"] = row.batch.model_copy(update={"id": self.id(row.batch.id)})
        if row.boundary is not None:
            update["boundary"] = self._boundary(row.boundary)
        return row.model_copy(update=update)

    def boundary(self, kind: str, *, seq: int | None, created: datetime | None, place: int) -> Row:
        """Return a boundary that stands for an entry nobody can read."""
        return Row(
            boundary=Boundary(kind=kind),
            id=self.id(f"boundary at {place}"),
            session=self._session,
            seq=seq,
            role="user",
            created=created,
            kind=Kind.RESET if kind == "reset" else kind,
        )

    def _boundary(self, boundary: Boundary) -> Boundary:
        update: dict[str, object] = {}
        for name in ("owner", "rollover_id"):
            if isinstance(old := getattr(boundary, name, None), str):
                update[name] = self.id(old)
        window = getattr(boundary, "previous_window", None)
        if isinstance(window, str) and window.startswith(_ROW_REFERENCE):
            update["previous_window"] = _ROW_REFERENCE + self.id(window.removeprefix(_ROW_REFERENCE))
        return boundary.model_copy(update=update) if update else boundary


def blob_names(row: Row) -> Iterator[str]:
    """Yield the names of the blobs that `row` stands on; in parts of a later version too, as far as they look so."""
    for part in row.parts:
        match part:
            case TextPart() | ReasoningPart():
                found: tuple[object, ...] = (part.blob,)
            case ToolPart():
                found = (part.input_blob, part.output_blob)
            case MediaPart():
                found = (part.blob, part.text_blob)
            case _:
                found = tuple((part.model_extra or {}).values())
        for blob in found:
            sha256 = blob.sha256 if isinstance(blob, Blob) else blob.get("sha256") if isinstance(blob, dict) else None
            if isinstance(sha256, str) and _BLOB_NAME.fullmatch(sha256):
                yield sha256
