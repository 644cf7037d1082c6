"""Rows that are too long for one line: what goes to blobs, and what comes back."""

from pathlib import Path

import pytest

from app.domain.errors import StorageError
from app.domain.rows import Part, ReasoningPart, Row, TextPart, ToolPart
from app.history.blobs import KEPT_BYTES, MAX_RESULT_BYTES, Blobs, fit_row, whole_row
from app.history.codec import MAX_LINE_BYTES, encode_row


def row_of(*parts: Part) -> Row:
    return Row(id="r", session="s", role="assistant", parts=parts)


def call(number: int, output: str) -> ToolPart:
    return ToolPart(call_id=f"c{number}", name="look", input={"n": number}, state="done", output=output)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def test_a_reply_of_hundreds_of_calls_fits_and_comes_back_whole(blobs: Blobs) -> None:
    row = row_of(*(call(number, f"{number} " + "x" * 16_000) for number in range(150)))
    fitted = fit_row(row, blobs)
    assert len(encode_row(fitted)) <= MAX_LINE_BYTES
    assert whole_row(fitted, blobs) == row
    # No more than it takes.
    assert any(isinstance(part, ToolPart) and part.output_blob is None for part in fitted.parts)


def test_the_largest_leaf_goes_first_and_the_others_stay(blobs: Blobs) -> None:
    row = row_of(TextPart(text="a" * 300_000), call(1, "b" * 800_000), TextPart(text="c" * 200_000))
    first, second, third = fit_row(row, blobs).parts
    assert (first, third) == (row.parts[0], row.parts[2])
    assert isinstance(second, ToolPart)
    assert second.output_blob is not None


def test_thoughts_that_would_leave_no_room_lose_what_their_model_wants_back(blobs: Blobs) -> None:
    row = row_of(ReasoningPart(text="hm", replay={"data": "x" * 2_000_000}), TextPart(text="said"))
    fitted = fit_row(row, blobs)
    assert fitted.parts == (ReasoningPart(text="hm"), TextPart(text="said"))


def test_what_can_not_fit_is_said(blobs: Blobs) -> None:
    with pytest.raises(StorageError, match="too many parts"):
        fit_row(row_of(ToolPart(call_id="c", name="x" * 2_000_000)), blobs)


@pytest.mark.parametrize(
    ("output", "is_apart"),
    [
        ("x" * MAX_RESULT_BYTES, False),
        ("x" * (MAX_RESULT_BYTES + 1), True),
        ("é" * (MAX_RESULT_BYTES // 2), False),
        ("é" * (MAX_RESULT_BYTES // 2 + 1), True),
        ({"lines": ["x"] * 16_000}, False),
        ({"lines": ["x"] * 17_000}, True),
        (None, False),
    ],
)
def test_a_result_over_64_kib_never_stays_in_its_row(blobs: Blobs, output: object, *, is_apart: bool) -> None:
    row = row_of(
        TextPart(text="t" * 200_000), ToolPart(call_id="c", name="look", input={}, state="done", output=output)
    )
    fitted = fit_row(row, blobs)
    text, call_ = fitted.parts
    assert isinstance(call_, ToolPart)
    assert (call_.output_blob is not None) == is_apart
    assert text == row.parts[0], "only results have a limit of their own"
    assert whole_row(fitted, blobs) == row
    if is_apart:
        assert len(str(call_.output)) < 2 * KEPT_BYTES[0] + 100


def test_a_reply_of_many_changes_loses_what_was_shown_of_them_rather_than_its_row(blobs: Blobs) -> None:
    made = tuple(call(number, "done").model_copy(update={"diff": "+x\n" * 10_000}) for number in range(50))
    fitted = fit_row(row_of(ReasoningPart(text="hm", replay={"id": "r1"}), *made), blobs)
    assert len(encode_row(fitted)) <= MAX_LINE_BYTES
    reasoning, *parts = fitted.parts
    assert isinstance(reasoning, ReasoningPart)
    assert reasoning.replay == {"id": "r1"}
    assert [(part.output, part.diff) for part in parts if isinstance(part, ToolPart)] == [("done", None)] * 50
