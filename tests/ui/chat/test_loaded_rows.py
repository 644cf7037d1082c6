"""Which rows are loaded: their order, what lies behind one of them, and the newest window."""

from datetime import UTC, datetime

from app.domain.rows import Boundary, Flag, Row, TextPart
from app.ui.chat.loaded_rows import LoadedRows

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def row(row_id: str, role: str = "user", *, boundary: str = "", is_hidden: bool = False) -> Row:
    return Row(
        id=row_id,
        session="s",
        role="assistant" if role == "assistant" else "user",
        created=NOW,
        boundary=Boundary(kind=boundary) if boundary else None,
        flags=frozenset({Flag.HIDDEN}) if is_hidden else frozenset(),
        parts=(TextPart(text=row_id),),
    )


def loaded(*rows: Row) -> LoadedRows:
    made = LoadedRows()
    made.append(rows)
    return made


def test_rows_come_above_and_below_and_none_comes_twice() -> None:
    made = loaded(row("c"), row("d"))
    made.prepend([row("a"), row("b"), row("c")])
    made.append([row("d"), row("e")])
    assert made.cut("b", from_begin=True) == ["c", "d", "e"]
    assert made.row("c") is None
    assert made.row("b") is not None


def test_a_cut_behind_a_row_that_is_not_here_is_not_made() -> None:
    made = loaded(row("c"), row("d"))
    assert made.cut("a", from_begin=False) is None
    assert made.cut("", from_begin=False) is None
    assert made.cut("", from_begin=True) == ["c", "d"]
    assert made.newest() is None


def test_hidden_rows_are_no_begin_of_a_version() -> None:
    made = loaded(row("a"), row("h", is_hidden=True), row("b", "assistant"))
    assert made.first_behind("a", {"a", "b"}, from_begin=True) == "b"
    assert made.first_behind("b", {"a", "b"}, from_begin=True) == ""
    assert made.first_behind("x", {"a", "b"}, from_begin=True) is None


def test_only_what_lies_behind_the_newest_boundary_is_in_the_window() -> None:
    made = loaded(row("a"), row("reset", boundary="reset"), row("b"), row("roll", boundary="rollover"), row("c"))
    assert [made.is_in_newest(each) for each in ("a", "b", "c")] == [False, False, True]
    made.append([row("d", "assistant")])
    assert made.is_in_newest("d")
    newest = made.newest()
    assert newest is not None
    assert newest.id == "d"
    own = made.newest("user")
    assert own is not None
    assert own.id == "c"


def test_why_a_row_is_out_of_the_window_is_the_last_reset_behind_it_or_else_the_newest_boundary() -> None:
    made = loaded(row("a"), row("reset", boundary="reset"), row("b"), row("roll", boundary="rollover"), row("c"))
    found = {each: made.boundary_behind(each) for each in ("a", "b", "c")}
    assert {each: None if row is None else row.id for each, row in found.items()} == {
        "a": "reset",
        "b": "roll",
        "c": None,
    }
