import asyncio
from typing import Literal

import pytest

from app.domain.chats import TurnState
from app.domain.errors import ErrorKind, ProviderError, StorageError
from app.domain.events import AnswerDelayed, ReplyDropped, ReplyStarted, ReplyUnsaved, RetryScheduled, SessionBroke
from app.domain.rows import Blob, Flag, Kind, MediaPart, ReasoningPart, Row, TextPart, ToolPart
from app.history.codec import encode_row
from app.history.partial import SAVE_INTERVAL_SECONDS, PartialFile
from app.history.store import Store
from app.providers.base import (
    QuietPiece,
    ReasoningPiece,
    ReplayPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
)
from app.session.inputs import Accepted, Refused, UserInput
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, Step, reply
from tests.unit.session.conftest import Program, until


async def test_a_message_is_answered_and_both_are_on_disk(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("Hel", "lo", reasoning="hm"))

    assert Accepted() == await chat.say("hi")

    user, answer = chat.rows()
    assert ("user", "hi", user.id) == (user.role, user.text, user.turn)
    assert ("assistant", "Hello", user.id) == (answer.role, answer.text, answer.turn)
    assert answer.flags == ()
    assert answer.usage is not None
    assert answer.usage.input == 10
    assert chat.streamed() == "hmHello"
    assert chat.rows() == chat.told_rows()
    assert not chat.files.partial.exists()


async def test_states_follow_each_other(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.say("hi")
    from app.domain.events import StateChanged

    states = [event.state for event in chat.events(StateChanged)]
    assert states == [TurnState.PREPARING, TurnState.STREAMING, TurnState.SETTLING, TurnState.IDLE]


async def test_a_chat_is_named_after_its_first_message(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"), reply("ok"))
    await chat.say("\n  Plan a   trip\nto Kyoto")
    await chat.say("second")
    (summary,) = await program.manager.list_chats()
    assert summary.title == "Plan a trip"


async def test_a_title_of_the_persons_stays(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await program.manager.rename_chat(chat.session, "Mine")
    await chat.say("hello")
    (summary,) = await program.manager.list_chats()
    assert summary.title == "Mine"


async def test_the_model_sees_the_whole_window(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("a")
    await chat.say("b")
    assert [row.text for row in program.provider.requests[1].rows] == ["a", "one", "b"]


async def test_the_window_is_the_same_after_a_restart(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("a")
    await program.restart()
    await chat.say("b")
    assert [row.text for row in program.provider.requests[1].rows] == ["a", "one", "b"]


async def test_stop_keeps_what_came_and_closes_the_stream(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("half "), hold, *reply("more")])
    await chat.send("hi")
    await hold.reached()

    await chat.stop()

    _, answer = chat.rows()
    assert (answer.text, answer.flags) == ("half ", (Flag.INTERRUPTED,))
    assert program.provider.closed_early == 1
    assert not chat.files.partial.exists()


async def test_stop_before_the_first_word_keeps_the_message(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([hold, *reply("more")], reply("answer"))
    await chat.send("hi")
    await hold.reached()
    await chat.stop()
    assert [(row.text, row.flags) for row in chat.rows()] == [("hi", ()), ("", (Flag.INTERRUPTED,))]

    assert Accepted() == await chat.resume()
    await chat.idle()
    assert [row.text for row in program.provider.requests[1].rows] == ["hi"], "no duplicate, no empty reply"
    assert chat.texts() == ["hi", "", "answer"]


async def test_continue_asks_to_go_on_and_keeps_the_turn(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("half "), hold], reply("done"))
    await chat.send("hi")
    await hold.reached()
    await chat.stop()

    assert Accepted() == await chat.resume()
    await chat.idle()

    user, _half, ask, answer = chat.rows()
    assert (Kind.CONTINUE, (Flag.HIDDEN,), user.id) == (ask.kind, ask.flags, ask.turn)
    assert ("done", user.id) == (answer.text, answer.turn)
    assert ["hi", "half ", ask.text] == [row.text for row in program.provider.requests[1].rows]


async def test_a_continue_that_fails_can_be_tried_again(program: Program) -> None:
    chat = await program.new_chat()
    refused = ProviderError(ErrorKind.AUTHENTICATION, "bad key")
    program.provider.play([TextPiece("half"), refused], [refused], reply("rest"))
    await chat.say("hi")
    for _ in range(2):
        assert Accepted() == await chat.resume()
        await chat.idle()
    assert [row.text for row in chat.rows() if row.text and row.kind == Kind.MESSAGE] == ["hi", "half", "rest"]


async def test_a_complete_reply_is_not_continued(program: Program) -> None:
    chat = await program.new_chat()
    assert isinstance(await chat.resume(), Refused)
    program.provider.play(reply("ok"))
    await chat.say("hi")
    assert isinstance(await chat.resume(), Refused)


async def test_nothing_is_sent_while_a_reply_is_written(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([hold, *reply("ok")])
    await chat.send("hi")
    refused = await chat.send("more")
    assert isinstance(refused, Refused)
    assert "still being written" in refused.reason
    hold.release()
    await chat.idle()
    assert chat.texts() == ["hi", "ok"]


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b", "\ufeff\n\x00"])
async def test_an_empty_message_is_refused(program: Program, text: str) -> None:
    chat = await program.new_chat()
    assert isinstance(await chat.send(text), Refused)
    assert chat.rows() == []


RETRIED = [ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.SERVER, ErrorKind.NETWORK]


@pytest.mark.parametrize("kind", RETRIED)
async def test_a_passing_fault_is_tried_again_until_it_works(program: Program, kind: ErrorKind) -> None:
    chat = await program.new_chat()
    program.provider.play([ProviderError(kind)], [ProviderError(kind)], reply("ok"))
    await chat.say("hi")
    assert chat.texts() == ["hi", "ok"]
    assert program.clock.naps == [2.0, 4.0]
    assert [(event.attempt, event.delay_seconds) for event in chat.events(RetryScheduled)] == [(1, 2.0), (2, 4.0)]
    assert len(chat.events(ReplyDropped)) == 2
    assert len({event.row_id for event in chat.events(ReplyStarted)}) == 3


async def test_after_six_tries_the_turn_ends_with_its_error(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(*[[ProviderError(ErrorKind.OVERLOADED, "busy")]] * 6)
    await chat.say("hi")
    _, failed = chat.rows()
    assert (failed.flags, failed.parts) == ((Flag.FAILED,), ())
    assert failed.error is not None
    assert (failed.error.kind, failed.error.detail) == ("overloaded", "busy")
    assert program.clock.naps == [2.0, 4.0, 8.0, 16.0, 32.0]


async def test_retry_after_is_honoured(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([ProviderError(ErrorKind.RATE_LIMIT, retry_after_seconds=120)], reply("ok"))
    await chat.say("hi")
    assert program.clock.naps == [120.0]


async def test_a_retry_after_of_more_than_five_minutes_ends_the_turn(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([ProviderError(ErrorKind.RATE_LIMIT, retry_after_seconds=301)])
    await chat.say("hi")
    assert program.clock.naps == []
    assert chat.rows()[-1].error is not None


@pytest.mark.parametrize("kind", sorted(set(ErrorKind) - set(RETRIED)))
async def test_other_errors_are_not_tried_again(program: Program, kind: ErrorKind) -> None:
    chat = await program.new_chat()
    program.provider.play([ProviderError(kind, "why")])
    await chat.say("hi")
    error = chat.rows()[-1].error
    assert error is not None
    assert kind == error.kind
    assert len(program.provider.requests) == 1


async def test_after_visible_text_nothing_is_tried_again(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([TextPiece("half"), ProviderError(ErrorKind.NETWORK)])
    await chat.say("hi")
    answer = chat.rows()[-1]
    assert (answer.text, answer.flags) == ("half", (Flag.FAILED,))
    assert len(program.provider.requests) == 1


async def test_thoughts_without_words_are_nothing_that_was_shown(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([ReplayPiece({"hidden": 1}), ProviderError(ErrorKind.NETWORK)], reply("ok"))
    await chat.say("hi")
    assert chat.texts() == ["hi", "ok"]
    assert len(program.provider.requests) == 2


async def test_a_stream_without_an_end_is_truncated(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([TextPiece("half")])
    await chat.say("hi")
    error = chat.rows()[-1].error
    assert error is not None
    assert error.kind == ErrorKind.TRUNCATED


@pytest.mark.parametrize(
    ("reason", "kind"), [(StopReason.REFUSAL, "refusal"), (StopReason.MAX_TOKENS, "truncated"), (StopReason.END, None)]
)
async def test_how_a_model_stopped_is_kept(program: Program, reason: StopReason, kind: str | None) -> None:
    chat = await program.new_chat()
    program.provider.play([TextPiece("x"), StopPiece(reason)])
    await chat.say("hi")
    error = chat.rows()[-1].error
    assert kind == (error.kind if error else None)


async def test_stop_ends_the_wait_between_tries(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()

    program.clock.hold = hold
    program.provider.play([ProviderError(ErrorKind.SERVER)])
    await chat.send("hi")
    await hold.reached()
    assert chat.state == TurnState.WAITING
    await chat.stop()
    assert [(row.text, row.flags) for row in chat.rows()] == [("hi", ()), ("", (Flag.FAILED,))]
    error = chat.rows()[-1].error
    assert error is not None
    assert error.kind == ErrorKind.SERVER, "what was waited for is still said"


async def test_quitting_in_mid_reply_keeps_it(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("half"), hold])
    await chat.send("hi")
    await hold.reached()
    await program.restart()
    assert [(row.text, row.flags) for row in chat.rows()] == [("hi", ()), ("half", (Flag.INTERRUPTED,))]


async def test_a_reply_a_crash_cut_off_is_shown_as_interrupted_and_nothing_is_sent(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.say("hi")
    await program.manager.close()
    left = Row(id="cut", session=chat.session, role="assistant", turn="t", parts=(TextPart(text="as far as it"),))
    PartialFile(chat.files).save(left)

    await program.restart()
    opened = await program.manager.open_chat(chat.session)

    last = opened.page.entries[-1]
    assert (last.row.id, last.row.flags) == ("cut", (Flag.INTERRUPTED,))  # type: ignore[union-attr]
    assert len(program.provider.requests) == 1
    assert not chat.files.partial.exists()


async def test_a_partial_whose_row_is_in_history_is_dropped(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.say("hi")
    await program.manager.close()
    PartialFile(chat.files).save(chat.rows()[-1])
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert chat.texts() == ["hi", "ok"]
    assert not chat.files.partial.exists()


@pytest.mark.parametrize("left", [b"", b"{", b"\0\0", b'{"id":"x"}', b"[]"])
async def test_a_broken_partial_is_no_reason_not_to_open(program: Program, left: bytes) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    chat.files.partial.write_bytes(left)
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert chat.rows() == []


async def test_the_partial_is_on_disk_while_a_reply_is_written(program: Program) -> None:
    chat = await program.new_chat()
    first, second = Hold(), Hold()
    program.provider.play([TextPiece("as far "), TextPiece("as this"), first, TextPiece(" here"), second, *reply("!")])
    await chat.send("hi")
    await first.reached()
    await until(chat.files.partial.exists)
    kept = PartialFile(chat.files).load()
    assert kept is not None
    assert kept.text == "as far as this"
    first.release()
    await second.reached()

    def is_newer() -> bool:
        newer = PartialFile(chat.files).load()
        return newer is not None and (newer.id, newer.text) == (kept.id, "as far as this here")

    await until(is_newer)
    assert SAVE_INTERVAL_SECONDS <= 0.5, "what a crash may cost"
    second.release()
    await chat.idle()
    assert kept.id == chat.rows()[-1].id


async def test_a_message_the_disk_refuses_is_not_shown_as_sent(program: Program) -> None:
    chat = await program.new_chat()
    with refusing(chat.files.chat):
        refused = await chat.send("hi")
        assert isinstance(refused, Refused)
        assert refused.reason
        await chat.idle()
    program.provider.play(reply("ok"))
    assert Accepted() == await chat.say("hi")
    assert chat.texts() == ["hi", "ok"]


async def test_a_reply_the_disk_refuses_is_kept_and_written_with_the_next_message(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("precious"), hold, StopPiece(StopReason.END)], reply("two"))
    await chat.send("hi")
    await hold.reached()
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
        (told,) = chat.events(ReplyUnsaved)
        assert (told.row.text, chat.events(SessionBroke)) == ("precious", [])
        kept = PartialFile(chat.files).load()
        assert kept is not None
        assert kept.text == "precious"
    opened = await program.manager.open_chat(chat.session)
    assert (opened.unsaved, opened.unsaved_reason) == (told.row, told.reason)
    await chat.say("next")
    assert chat.texts() == ["hi", "precious", "next", "two"]
    assert [row.flags for row in chat.rows()] == [(), (), (), ()]


async def test_a_bug_in_a_turn_is_told_and_what_was_shown_is_kept(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    chat = await program.new_chat()
    program.provider.play([TextPiece("shown"), KeyError("bug")], reply("ok"))
    await chat.say("hi")
    assert len(chat.events(SessionBroke)) == 1
    assert "broke" in caplog.text
    caplog.clear()
    await chat.say("again")
    assert chat.texts() == ["hi", "shown", "again", "ok"]


async def test_many_chats_stream_at_once(program: Program) -> None:
    chats = [await program.new_chat() for _ in range(5)]
    holds = [Hold() for _ in chats]
    program.provider.play(*[[TextPiece(f"{n}"), hold, *reply("!")] for n, hold in enumerate(holds)])
    for chat in chats:
        await chat.send("hi")
    for hold in holds:
        await hold.reached()
    for hold in reversed(holds):
        hold.release()
    for chat in chats:
        await chat.idle()
    assert sorted(["hi", f"{n}!"] for n in range(5)) == sorted(chat.texts() for chat in chats)


async def test_stop_in_the_same_moment_as_send_blocks_nothing(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    sending = asyncio.ensure_future(chat.send("hi"))  # noqa: TID251 - both must be due in one turn of the loop
    stopping = asyncio.ensure_future(program.manager.stop(chat.session))  # noqa: TID251
    outcome, _ = await asyncio.gather(sending, stopping)
    await chat.idle()
    if isinstance(outcome, Refused):
        assert outcome.reason == ""
        assert chat.rows() == []
    await chat.say("again")
    assert chat.texts()[-2] == "again"


async def test_a_foreign_line_costs_at_most_one_try(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("hi")
    foreign = Row(id="f", session=chat.session, seq=99, role="user", parts=(TextPart(text="foreign"),))
    with chat.files.chat.open("ab") as file:
        file.write(encode_row(foreign) + b"\n")
    assert isinstance(await chat.say("first"), Refused)
    assert await chat.say("second") == Accepted()
    assert [row.seq for row in chat.rows()] == [1, 2, 99, 100, 101]
    # User rows that follow each other go out as one.
    assert program.provider.requests[-1].rows[-1].text == "foreign\n\nsecond"


async def test_a_reply_of_nothing_but_thoughts_is_tried_again_and_never_sent(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([ReasoningPiece("hm"), hold], reply("answer"))
    await chat.send("hi")
    await hold.reached()
    await chat.stop()
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert [(row.role, row.text) for row in program.provider.requests[1].rows] == [("user", "hi")]
    assert [row.kind for row in chat.rows()] == [Kind.MESSAGE] * 3


async def test_a_long_message_reaches_the_model_whole_before_and_after_a_restart(program: Program) -> None:
    chat = await program.new_chat()
    text = "long " * 300_000
    program.provider.play(reply("one"), reply("two"), reply("three"))
    await chat.say(text)
    await chat.say("next")
    await program.restart()
    await chat.say("last")
    assert [request.rows[0].text == text for request in program.provider.requests] == [True] * 3


async def test_a_reply_the_disk_refused_is_written_when_asked(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("precious"), hold, StopPiece(StopReason.END)])
    await chat.send("hi")
    await hold.reached()
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
        with pytest.raises(StorageError):
            await program.manager.save_owed(chat.session)
    await program.manager.save_owed(chat.session)
    assert chat.texts() == ["hi", "precious"]
    assert (await program.manager.open_chat(chat.session)).unsaved is None


async def test_a_reply_owed_to_a_full_disk_is_written_when_the_chat_is_closed(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("precious"), hold, StopPiece(StopReason.END)])
    await chat.send("hi")
    await hold.reached()
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
    await program.restart()
    assert chat.texts() == ["hi", "precious"]


async def test_a_chat_that_cannot_be_repaired_can_still_be_read(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"), reply("later"))
    await chat.say("hi")
    await program.manager.close()
    left = Row(id="cut", session=chat.session, role="assistant", turn="t", parts=(TextPart(text="as far"),))
    PartialFile(chat.files).save(left)
    chat.files.meta.unlink()
    chat.files.meta.mkdir()

    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert len(opened.page.entries) == 2
    assert isinstance(await chat.send("no"), Refused)
    await chat.idle()

    chat.files.meta.rmdir()
    assert await chat.say("now") == Accepted()
    assert chat.texts() == ["hi", "ok", "as far", "now", "later"]


async def test_a_session_file_that_cannot_be_read_is_not_overwritten(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.rename_chat(chat.session, "Mine")
    await program.manager.close()
    kept = chat.files.meta.rename(chat.files.folder / "kept")
    chat.files.meta.mkdir()
    await program.restart()
    await program.manager.open_chat(chat.session)
    await program.manager.close()
    chat.files.meta.rmdir()
    kept.rename(chat.files.meta)
    assert [summary.title for summary in await program.manager.list_chats()] == ["Mine"]


async def test_a_partial_nobody_can_read_is_set_aside(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    chat.files.partial.write_bytes(b'{"v":9,"id":["from the future"]}')
    await program.restart()
    await program.manager.open_chat(chat.session)
    (kept,) = chat.files.folder.glob("partial-*.damaged")
    assert b"from the future" in kept.read_bytes()


async def test_usage_that_cannot_be_true_counts_as_absent(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one", input_tokens=200_001), reply("two"))
    await chat.say("a")
    await program.restart()
    await chat.say("b")
    answer = program.provider.requests[1].rows[1]
    assert answer.usage is not None
    assert answer.usage.input is None
    assert answer.usage.output == 1


async def test_stop_while_a_turn_is_resumed_adds_no_second_empty_reply(program: Program) -> None:
    chat = await program.new_chat()
    holds = [Hold(), Hold()]
    program.provider.play([holds[0]], [holds[1]])
    await chat.send("hi")
    await holds[0].reached()
    await chat.stop()
    resuming = asyncio.ensure_future(chat.resume())  # noqa: TID251
    stopping = asyncio.ensure_future(program.manager.stop(chat.session))  # noqa: TID251
    await asyncio.gather(resuming, stopping)
    await chat.idle()
    assert len(chat.rows()) == 2


CALL: list[Step] = [ToolStartPiece("c1", "look"), ToolInputPiece("c1", '{"a"'), ToolInputPiece("c1", ": 1}")]


async def test_a_call_nobody_offered_is_kept_and_answered_as_denied(program: Program) -> None:
    chat = await program.new_chat()
    whole = [*CALL, ToolEndPiece("c1", {"a": 1}), StopPiece(StopReason.TOOL_USE)]
    program.provider.play([TextPiece("Let me see."), *whole], reply("ok"))
    await chat.say("hi")
    _, answer = chat.rows()
    text, call = answer.parts
    assert isinstance(call, ToolPart)
    assert (call.call_id, call.name, call.input, call.state) == ("c1", "look", {"a": 1}, "denied")
    assert call.output
    await chat.say("and now?")
    assert program.provider.requests[1].rows[1].parts == (text, call)


async def test_a_call_that_is_torn_is_kept_as_it_came_and_never_sent(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([*CALL, ProviderError(ErrorKind.NETWORK, "gone")], reply("ok"))
    await chat.say("hi")
    _, answer = chat.rows()
    (call,) = answer.parts
    assert isinstance(call, ToolPart)
    assert (call.input, call.state, call.output) == ('{"a": 1}', "interrupted", None)
    assert chat.events(RetryScheduled) == [], "a call that was shown is something visible"

    assert Accepted() == await chat.resume()
    await chat.idle()
    assert [row.text for row in program.provider.requests[1].rows] == ["hi"]
    assert chat.texts() == ["hi", "", "ok"]


async def test_a_call_is_pending_on_disk_while_it_is_written(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*CALL, ToolEndPiece("c1", {"a": 1}), hold, StopPiece(StopReason.TOOL_USE)])
    await chat.send("hi")
    await hold.reached()
    await until(lambda: (row := PartialFile(chat.files).load()) is not None and bool(row.parts))
    row = PartialFile(chat.files).load()
    assert row is not None
    (call,) = row.parts
    assert isinstance(call, ToolPart)
    assert (call.state, call.input) == ("pending", {"a": 1})
    hold.release()
    await chat.idle()


async def test_replay_data_closes_its_stretch_of_reasoning(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(
        [
            ReasoningPiece("one"),
            ReplayPiece({"n": 1}),
            ReasoningPiece("two"),
            ReplayPiece({"n": 2}),
            ReplayPiece({"hidden": 3}),
            *reply("ok"),
        ]
    )
    await chat.say("hi")
    parts = [(part.text, part.replay) for part in chat.rows()[1].parts if isinstance(part, ReasoningPart)]
    assert parts == [("one", {"n": 1}), ("two", {"n": 2}), ("", {"hidden": 3})]


async def test_a_character_cut_in_two_is_whole_for_the_model(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("a\ud83d", "\ude00b"), reply("ok"))

    await chat.say("hi")
    await chat.say("again")

    assert chat.rows()[1].text == "a\U0001f600b"
    assert program.provider.requests[1].rows[1].text == "a\U0001f600b"


async def test_silence_is_told_and_nothing_of_it_is_kept(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play([QuietPiece(60), QuietPiece(90), *reply("ok")])
    await chat.say("hi")
    assert [event.seconds for event in chat.events(AnswerDelayed)] == [60, 90]
    assert chat.texts() == ["hi", "ok"]


async def test_a_reply_that_would_not_fit_is_asked_for_once_more_and_shorter(program: Program) -> None:
    chat = await program.new_chat()
    too_long = ProviderError(ErrorKind.CONTEXT_EXCEEDED, "too long", allowed_output=123)
    program.provider.play([too_long], reply("ok"))
    await chat.say("hi")
    assert [request.max_tokens for request in program.provider.requests] == [1_000, 123]
    assert program.clock.naps == []
    assert chat.texts() == ["hi", "ok"]


@pytest.mark.parametrize(("excess", "asked"), [(400, [1_000, 600]), (1_000, [1_000])])
async def test_a_reply_that_is_too_much_for_one_minute_is_asked_for_shorter_if_any_is_left(
    program: Program, excess: int, asked: list[int]
) -> None:
    chat = await program.new_chat()
    program.provider.play([ProviderError(ErrorKind.INVALID_REQUEST, "too large", excess_tokens=excess)], reply("ok"))
    await chat.say("hi")
    assert [request.max_tokens for request in program.provider.requests] == asked
    assert program.clock.naps == []


@pytest.mark.parametrize("allowed", [[123, 122], [1_000], [0]])
async def test_a_shorter_reply_is_tried_only_once_and_only_if_it_is_shorter(
    program: Program, allowed: list[int]
) -> None:
    chat = await program.new_chat()
    errors = [ProviderError(ErrorKind.CONTEXT_EXCEEDED, "too long", allowed_output=most) for most in allowed]
    program.provider.play(*([error] for error in errors))
    await chat.say("hi")
    assert len(program.provider.requests) == len(allowed)
    error = chat.rows()[-1].error
    assert error is not None
    assert error.kind == ErrorKind.CONTEXT_EXCEEDED


async def test_files_are_sent_before_the_text_and_may_stand_alone(program: Program) -> None:
    chat = await program.new_chat()
    file = MediaPart(media_type="image/png", name="a.png", bytes=1, blob=Blob(sha256="0" * 64, bytes=1))
    program.provider.play(reply("ok"), reply("ok"))
    await program.manager.send(chat.session, UserInput("one", "what is it?", (file,)))
    await chat.idle()
    await program.manager.send(chat.session, UserInput("two", " ", (file,)))
    await chat.idle()
    assert [row.parts for row in chat.rows() if row.role == "user"] == [
        (file, TextPart(text="what is it?")),
        (file,),
    ]


@pytest.mark.parametrize("role", ["user", "assistant"])
async def test_a_row_of_a_kind_nobody_knows_does_not_hide_the_turn_before_it(
    program: Program, role: Literal["user", "assistant"]
) -> None:
    chat = await program.new_chat()
    program.provider.play([*reply("so far")[:1], ProviderError(ErrorKind.SERVER, "gone")], reply("and on"))
    await chat.say("hi")
    question, answer = chat.rows()
    await program.manager.close()
    notice = Row(id="n", session=chat.session, role=role, kind="later", parts=(TextPart(text="a notice"),))
    Store(chat.files, session=chat.session).append([notice], expected_last_seq=answer.seq or 0)
    await program.restart()
    await program.manager.open_chat(chat.session)

    assert await chat.resume() == Accepted()
    await chat.idle()
    last = chat.rows()[-1]
    assert (last.text, last.turn) == ("and on", question.id)
    assert "a notice" not in [row.text for row in program.provider.requests[-1].rows]
