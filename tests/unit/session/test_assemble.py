"""What a model is sent of a window, and what never reaches it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.models import ModelCard
from app.domain.rows import (
    Blob,
    Boundary,
    Flag,
    Kind,
    MediaPart,
    ReasoningPart,
    RequestInfo,
    Row,
    TextPart,
    ToolPart,
    ToolState,
)
from app.history.sidecars import SessionMeta
from app.session.assemble import NO_RESULT, assemble
from app.session.state import SessionState, awaits_reply, is_unfinished, newest_window

CARD = ModelCard("m", "p", "M", limit=1_000, max_output=100)
OTHER = ModelCard("m", "q", "M", limit=1_000, max_output=100)
SIBLING = ModelCard("m2", "p", "M2", limit=1_000, max_output=100)
REPLAY: dict[str, object] = {"signature": "s"}


def user(*parts: object, row_id: str = "u") -> Row:
    return Row.model_validate({"id": row_id, "session": "s", "role": "user", "parts": parts})


def answer(*parts: object, provider: str = "p") -> Row:
    made = Row.model_validate({"id": "a", "session": "s", "role": "assistant", "parts": parts})
    return made.model_copy(update={"request": RequestInfo(provider=provider, model="m")})


def test_replay_data_goes_only_to_the_model_that_made_it() -> None:
    window = [user(TextPart(text="q")), answer(ReasoningPart(text="hm", replay=REPLAY), TextPart(text="a"))]
    assert assemble(window, CARD).rows == tuple(window)
    for other in (OTHER, SIBLING):
        assert assemble(window, other).rows[1].parts == (TextPart(text="a"),)


def test_what_a_call_was_signed_with_goes_only_to_the_model_that_made_it() -> None:
    call = ToolPart(call_id="c", name="look", input={}, state="done", output="x", replay=REPLAY)
    window = [user(TextPart(text="q")), answer(call)]
    assert assemble(window, CARD).rows[1].parts == (call,)
    for other in (OTHER, SIBLING):
        assert assemble(window, other).rows[1].parts == (call.model_copy(update={"replay": None}),)


def test_reasoning_without_replay_data_stays_on_disk() -> None:
    request = assemble([answer(ReasoningPart(text="hm"), TextPart(text="a"))], CARD)
    assert request.rows[0].parts == (TextPart(text="a"),)


def test_a_reply_of_reasoning_alone_is_not_sent() -> None:
    window = [user(TextPart(text="q")), answer(ReasoningPart(text="hm", replay=REPLAY))]
    assert [row.role for row in assemble(window, CARD).rows] == ["user"]


def test_a_reply_of_white_space_alone_is_not_sent() -> None:
    window = [user(TextPart(text="q")), answer(TextPart(text="\n\n"))]
    assert [row.role for row in assemble(window, CARD).rows] == ["user"]


def test_a_call_keeps_its_result_whatever_model_gets_it() -> None:
    call = ToolPart(call_id="c", name="look", input={"a": 1}, state="done", output="seen")
    for card in (CARD, OTHER):
        assert assemble([answer(call)], card).rows[0].parts == (call,)


def test_a_call_without_a_result_gets_one() -> None:
    call = ToolPart(call_id="c", name="look", input={}, state="pending")
    (part,) = assemble([answer(call)], CARD).rows[0].parts
    assert isinstance(part, ToolPart)
    assert (part.state, part.output) == ("interrupted", NO_RESULT)


def test_a_torn_call_is_not_sent() -> None:
    torn = ToolPart(call_id="c", name="look", input='{"a": ', state="interrupted")
    assert assemble([answer(torn)], CARD).rows == ()
    assert assemble([answer(TextPart(text="a"), torn)], CARD).rows[0].parts == (TextPart(text="a"),)


def test_user_rows_that_follow_each_other_keep_all_their_parts() -> None:
    file = MediaPart(media_type="image/png", bytes=1, blob=Blob(sha256="0" * 64, bytes=1))
    window = [user(file, TextPart(text="one"), row_id="u1"), user(TextPart(text="two"), row_id="u2")]
    (row,) = assemble(window, CARD).rows
    assert row.parts == (file, TextPart(text="one"), TextPart(text="two"))


def test_files_and_calls_on_the_wrong_side_are_not_sent() -> None:
    file = MediaPart(media_type="image/png", bytes=1, blob=Blob(sha256="0" * 64, bytes=1))
    call = ToolPart(call_id="c", name="look", input={}, state="done", output="x")
    assert assemble([user(call, TextPart(text="q"))], CARD).rows[0].parts == (TextPart(text="q"),)
    assert assemble([answer(file, TextPart(text="a"))], CARD).rows[0].parts == (TextPart(text="a"),)


KINDS = ["rollover", "reset", "compaction", "from the future"]
STATES: list[ToolState] = ["pending", "done", "failed", "interrupted", "denied"]
texts = st.builds(lambda text: TextPart(text=text), st.sampled_from(["", " ", "word"]))
calls = st.builds(
    lambda call_id, state, value, output: ToolPart(
        call_id=call_id, name="look", input=value, state=state, output=output
    ),
    st.sampled_from(["c1", "c2"]),
    st.sampled_from(STATES),
    st.sampled_from([{}, {"a": 1}, '{"a": ', None, [1]]),
    st.sampled_from([None, "seen", {"n": 1}]),
)
boundaries = st.none() | st.sampled_from(KINDS).map(lambda kind: Boundary(kind=kind))


@st.composite
def histories(draw: st.DrawFn) -> list[Row]:
    """Rows of any kind with numbers that rise, some without one."""
    rows: list[Row] = []
    seq = 0
    for index in range(draw(st.integers(0, 12))):
        seq += draw(st.integers(1, 3))
        boundary = draw(boundaries) if draw(st.booleans()) else None
        rows.append(
            Row(
                id=f"r{index}",
                session="s",
                seq=seq if draw(st.integers(0, 9)) else None,
                role=draw(st.sampled_from(["user", "assistant"])),
                boundary=boundary,
                kind=draw(st.sampled_from([Kind.MESSAGE, Kind.MESSAGE, Kind.CONTINUE, Kind.RESET, "strange"])),
                flags=draw(st.sampled_from([(), (), (Flag.REJECTED,), (Flag.INTERRUPTED,)])),
                parts=(TextPart(text=f"<{index}>"), *draw(st.lists(texts | calls, max_size=3))),
            )
        )
    return rows


def is_closing(row: Row) -> bool:
    return row.boundary is not None and row.boundary.kind != "compaction"


@given(histories(), st.none() | st.integers(0, 30))
def test_nothing_before_the_newest_reset_or_rollover_is_ever_sent(rows: list[Row], floor_seq: int | None) -> None:
    request = assemble(newest_window(rows, floor_seq), CARD)

    closing = max((index for index, row in enumerate(rows) if is_closing(row)), default=-1)
    sent = "".join(row.text for row in request.rows)
    assert not any(f"<{index}>" in sent for index in range(closing + 1))
    newest = max((row.seq for row in rows if row.seq is not None and is_closing(row)), default=0)
    for index, row in enumerate(rows):
        if row.seq is not None and row.seq <= max(newest, floor_seq or 0):
            assert f"<{index}>" not in sent
        if Flag.REJECTED in row.flags:
            assert f"<{index}>" not in sent
    assert assemble(rows, CARD) == assemble(newest_window(rows, None), CARD), "the slice needs no help"


@given(histories())
def test_a_call_and_its_result_are_never_separated(rows: list[Row]) -> None:
    for row in assemble(rows, CARD).rows:
        for part in row.parts:
            if isinstance(part, ToolPart):
                assert row.role == "assistant"
                assert isinstance(part.input, dict)
                assert part.state != "pending"
                assert part.output is not None


@given(histories())
def test_the_newest_window_is_the_same_however_it_is_come_by(rows: list[Row]) -> None:
    state = SessionState(SessionMeta())
    for row in rows:
        state.take([row], row.seq or 0)
    assert state.window == newest_window(rows, None)


def test_a_window_begins_behind_a_rollover_and_with_a_summary() -> None:
    before, after = user(TextPart(text="old"), row_id="1"), user(TextPart(text="new"), row_id="2")

    def sent(kind: str) -> str:
        boundary = user(TextPart(text="summary"), row_id="b").model_copy(update={"boundary": Boundary(kind=kind)})
        return "|".join(row.text for row in assemble([before, boundary, after], CARD).rows)

    assert {kind: sent(kind) for kind in KINDS} == {
        "rollover": "new",
        "reset": "new",
        "from the future": "new",
        "compaction": "summary\n\nnew",
    }


@pytest.mark.parametrize(
    ("parts", "flags", "awaits"),
    [
        ([TextPart(text="a")], (), False),
        ([], (), False),
        ([ToolPart(call_id="c", name="look", input={}, state="done", output="x")], (), True),
        ([ToolPart(call_id="c", name="look", input={}, state="done", output="x"), TextPart(text="a")], (), True),
        ([ToolPart(call_id="c", name="look", input="{", state="interrupted")], (), False),
        ([TextPart(text="a"), ToolPart(call_id="c", name="look", input={}, state="interrupted")], ("failed",), True),
        ([ToolPart(call_id="c", name="look", input={}, state="interrupted"), TextPart(text="a")], ("failed",), False),
    ],
)
def test_results_of_calls_ask_for_the_next_step(parts: list[object], flags: tuple[str, ...], awaits: bool) -> None:
    row = answer(*parts).model_copy(update={"flags": flags})
    assert awaits_reply(row) == awaits
    assert is_unfinished(row) == (awaits or bool(flags))
