"""What a model is sent of a window, and what never reaches it."""

from app.domain.models import ModelCard
from app.domain.rows import Blob, MediaPart, ReasoningPart, RequestInfo, Row, TextPart, ToolPart
from app.session.assemble import NO_RESULT, assemble

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
