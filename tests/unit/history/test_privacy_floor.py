"""The floor as rows and `session.json` tell it: the later of both counts, and what can't be read opens nothing."""

import pytest

from app.domain.errors import StorageError
from app.domain.rows import Boundary, Row, TextPart
from app.domain.windows import View
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.sidecars import SessionMeta, write_sidecar
from tests.unit.history.looking import all_hits, all_items, view_of
from tests.unit.history.rows import SESSION, open_store


def line(row_id: str, *, seq: int | None = None, boundary: str = "") -> bytes:
    row = Row(
        boundary=Boundary(kind=boundary) if boundary else None,
        id=row_id,
        session=SESSION,
        seq=seq,
        role="user",
        kind=boundary or "message",
        parts=() if boundary else (TextPart(text=f"text of {row_id}"),),
    )
    return encode_row(row) + b"\n"


def write(files: ChatFiles, *lines: bytes, floor_seq: int) -> None:
    open_store(files)
    files.chat.write_bytes(b"".join(lines))
    write_sidecar(files.meta, SessionMeta(floor_seq=floor_seq))


def seen(files: ChatFiles) -> list[str]:
    """The rows a model may list, which are those it may find."""
    agent = view_of(files, View.AGENT)
    listed = [item.row_id for item in all_items(agent, recent_first=False)]
    assert [hit.item.row_id for hit in all_hits(agent, "text of", recent_first=False)] == listed
    return listed


def test_a_reset_row_counts_though_session_json_tells_of_an_older_one(files: ChatFiles) -> None:
    write(files, line("a", seq=1), line("b", seq=3), line("r", seq=4, boundary="reset"), line("c"), floor_seq=2)
    assert seen(files) == ["c"]
    assert [window.id for window in view_of(files, View.AGENT).windows().windows] == ["w:4"]


def test_session_json_counts_though_the_rows_tell_of_an_older_reset(files: ChatFiles) -> None:
    write(files, line("r", seq=1, boundary="reset"), line("x"), line("a", seq=2), line("y"), floor_seq=2)
    assert seen(files) == ["y"]
    assert [item.row_id for item in all_items(view_of(files)) if item.is_above_floor] == ["a", "x"]


def test_a_row_that_has_the_number_of_the_reset_itself_is_above_wherever_it_lies(files: ChatFiles) -> None:
    write(files, line("r", seq=2, boundary="reset"), line("a", seq=2), line("b", seq=3), floor_seq=2)
    assert seen(files) == ["b"]
    assert view_of(files, View.AGENT).item("#2") is None


def test_a_session_file_that_the_disk_refuses_opens_nothing_to_a_model(files: ChatFiles) -> None:
    write(files, line("a", seq=1), floor_seq=1)
    files.meta.unlink()
    files.meta.mkdir()
    agent, person = view_of(files, View.AGENT), view_of(files)
    for read in (agent.windows, agent.items, lambda: agent.search("text"), lambda: agent.item("#1")):
        with pytest.raises(StorageError):
            read()
    assert [item.row_id for item in all_items(person)] == ["a"]
