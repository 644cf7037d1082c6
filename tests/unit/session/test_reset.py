"""A manual reset: the model never sees what was before it again, whatever happens in between."""

import asyncio
import json

import pytest

from app.domain.chats import TurnState
from app.domain.events import RowsAppended
from app.domain.rows import Boundary, Flag, Kind, MediaPart, Row, TextPart
from app.history.codec import encode_row
from app.history.partial import PartialFile
from app.history.sidecars import SessionMeta, read_sidecar, write_sidecar
from app.providers.base import StopPiece, StopReason, TextPiece
from app.session.inputs import Accepted, DraftContent, NewFile, Refused, ResetContext
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, reply
from tests.unit.session.conftest import Chat, Program


def meta_of(chat: Chat) -> SessionMeta:
    meta = read_sidecar(chat.files.meta, SessionMeta)
    assert meta is not None
    return meta


def sent_texts(program: Program) -> list[str]:
    return [row.text for row in program.provider.requests[-1].rows]


async def a_chat(program: Program) -> Chat:
    chat = await program.new_chat()
    program.provider.play(reply("Well met.", input_tokens=40))
    await chat.say("secret")
    return chat


async def test_after_a_reset_nothing_before_it_is_sent(program: Program) -> None:
    chat = await a_chat(program)

    assert await chat.reset() == Accepted()

    row = chat.rows()[-1]
    assert row.boundary == Boundary(kind="reset", context_tokens=41, limit=100_000)
    assert (row.role, row.kind, row.parts, row.seq) == ("user", Kind.RESET, (), 3)
    assert meta_of(chat).floor_seq == 3
    assert chat.events(RowsAppended)[-1].rows == (row,)

    program.provider.play(reply("Hello."))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]
    await program.restart()
    program.provider.play(reply("Yes."))
    await chat.say("still?")
    assert sent_texts(program) == ["anew", "Hello.", "still?"]
    assert [row.seq for row in chat.rows()] == [*range(1, 8)]
    assert len({row.id for row in chat.rows()}) == 7


async def test_a_fresh_context_is_not_reset(program: Program) -> None:
    chat = await program.new_chat()
    for _ in range(2):
        refused = await chat.reset()
        assert isinstance(refused, Refused)
        assert "fresh already" in refused.reason
        assert chat.rows() == []
    program.provider.play(reply("ok"))
    await chat.say("hi")
    assert await chat.reset() == Accepted()
    assert isinstance(await chat.reset(), Refused)
    await program.restart()
    assert isinstance(await chat.reset(), Refused)
    assert len(chat.rows()) == 3
    assert chat.state is TurnState.IDLE


async def test_a_reset_says_why_it_waits_for_a_turn(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("half"), hold, StopPiece(StopReason.END)])
    await chat.send("hi")
    await hold.reached()
    refused = await program.manager.send(chat.session, ResetContext())
    assert isinstance(refused, Refused)
    assert "still being written" in refused.reason
    hold.release()
    await chat.idle()
    assert chat.texts() == ["hi", "half"]
    assert meta_of(chat).floor_seq is None


async def test_what_was_cut_off_before_a_reset_cannot_be_continued(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("half"), hold])
    await chat.send("hi")
    await hold.reached()
    await chat.stop()
    assert await chat.reset() == Accepted()
    assert isinstance(await chat.resume(), Refused)
    await program.restart()
    assert isinstance(await chat.resume(), Refused)
    assert chat.rows()[-1].kind == Kind.RESET


async def test_what_a_reset_left_behind_stays_shown_and_so_does_the_draft(program: Program) -> None:
    chat = await a_chat(program)
    part = await program.manager.attach(chat.session, NewFile("notes.txt", b"notes"))
    await program.manager.save_draft(chat.session, DraftContent("half a thought", (part,)))
    await chat.reset()
    opened = await program.manager.open_chat(chat.session)
    assert opened.draft == DraftContent("half a thought", (part,))
    assert isinstance(part, MediaPart)
    assert await program.manager.attached_file(chat.session, part.blob.sha256) == b"notes"
    assert len(opened.page.entries) == 3
    assert chat.texts()[0] == "secret"


async def test_a_reset_the_disk_refuses_changes_nothing(program: Program) -> None:
    chat = await a_chat(program)
    with refusing(chat.files.chat):
        refused = await chat.reset()
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("The context can't be reset now.")
    assert meta_of(chat).floor_seq is None
    program.provider.play(reply("ok"))
    await chat.say("more")
    assert sent_texts(program) == ["secret", "Well met.", "more"]
    assert await chat.reset() == Accepted()
    assert meta_of(chat).floor_seq == 5


async def test_a_reset_whose_floor_the_disk_refuses_changes_nothing(program: Program) -> None:
    chat = await a_chat(program)
    with refusing(chat.files.meta):
        assert isinstance(await chat.reset(), Refused)
    assert len(chat.rows()) == 2
    program.provider.play(reply("ok"))
    await chat.say("more")
    assert sent_texts(program) == ["secret", "Well met.", "more"]


async def test_a_second_reset_that_fails_leaves_the_first(program: Program) -> None:
    chat = await a_chat(program)
    await chat.reset()
    program.provider.play(reply("ok"))
    await chat.say("more")
    with refusing(chat.files.chat):
        assert isinstance(await chat.reset(), Refused)
    assert meta_of(chat).floor_seq == 3


async def test_a_reset_cut_off_behind_its_floor_stands_at_the_next_open(program: Program) -> None:
    chat = await a_chat(program)
    await program.manager.close()
    write_sidecar(chat.files.meta, meta_of(chat).model_copy(update={"floor_seq": 3}))

    await program.restart()
    await program.manager.open_chat(chat.session)

    row = chat.rows()[-1]
    assert (row.seq, row.kind) == (3, Kind.RESET)
    assert row.boundary is not None
    assert row.boundary.kind == "reset"
    program.provider.play(reply("ok"))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert len(chat.rows()) == 5, "no second reset"


async def test_a_floor_far_above_a_history_that_lost_rows_hides_nothing_that_follows(program: Program) -> None:
    chat = await a_chat(program)
    await program.manager.close()
    write_sidecar(chat.files.meta, meta_of(chat).model_copy(update={"floor_seq": 99}))
    await program.restart()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]
    assert meta_of(chat).floor_seq == 3
    await program.restart()
    await chat.say("more")
    assert sent_texts(program) == ["anew", "one", "more"]


async def test_a_reply_cut_off_before_a_reset_comes_before_it(program: Program) -> None:
    chat = await a_chat(program)
    await program.manager.close()
    left = Row(id="cut", session=chat.session, role="assistant", turn="t", parts=(TextPart(text="of the secret"),))
    PartialFile(chat.files).save(left)
    write_sidecar(chat.files.meta, meta_of(chat).model_copy(update={"floor_seq": 3}))
    await program.restart()
    program.provider.play(reply("ok"))
    await chat.say("anew")
    assert [row.text for row in chat.rows()] == ["secret", "Well met.", "of the secret", "", "anew", "ok"]
    assert sent_texts(program) == ["anew"]
    assert meta_of(chat).floor_seq == 4


@pytest.mark.parametrize("is_settled", [True, False])
async def test_a_partial_from_before_a_reset_never_comes_behind_it(program: Program, *, is_settled: bool) -> None:
    """The disk would not let it go when its row was written, or gave it back with a copy of the folder."""
    chat = await a_chat(program)
    kept = chat.rows()[-1]
    assert await chat.reset() == Accepted()
    await program.manager.close()
    PartialFile(chat.files).save(kept if is_settled else kept.model_copy(update={"id": "lost"}))
    before = chat.rows()
    await program.restart()
    program.provider.play(reply("Hello."))
    await chat.say("anew")
    assert chat.rows()[:-2] == before
    assert sent_texts(program) == ["anew"]
    assert not chat.files.partial.exists()
    assert len(list(chat.files.folder.glob("partial-*.damaged"))) == (not is_settled)


async def test_rows_up_to_the_floor_are_never_sent_whatever_they_say(program: Program) -> None:
    chat = await a_chat(program)
    await chat.reset()
    await program.manager.close()
    # Somebody took the boundary out of its row.
    lines = chat.files.chat.read_bytes().splitlines()
    altered = {key: value for key, value in json.loads(lines[-1]).items() if key != "boundary"}
    chat.files.chat.write_bytes(b"\n".join([*lines[:-1], json.dumps(altered).encode(), b""]))
    await program.restart()
    program.provider.play(reply("ok"))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]


async def test_without_a_session_file_the_row_alone_is_enough(program: Program) -> None:
    chat = await a_chat(program)
    await chat.reset()
    await program.manager.close()
    chat.files.meta.unlink()
    await program.restart()
    program.provider.play(reply("ok"))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]


async def test_a_boundary_of_another_program_counts_as_a_reset(program: Program) -> None:
    chat = await a_chat(program)
    await program.manager.close()
    strange = Row(id="b", session=chat.session, seq=3, role="user", boundary=Boundary(kind="from the future"))
    with chat.files.chat.open("ab") as file:
        file.write(encode_row(strange) + b"\n")
    await program.restart()
    program.provider.play(reply("ok"))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]


async def test_an_owed_reply_is_written_before_the_reset(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("precious"), hold, StopPiece(StopReason.END)])
    await chat.send("hi")
    await hold.reached()
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
    assert await chat.reset() == Accepted()
    assert [(row.text, row.kind) for row in chat.rows()] == [
        ("hi", Kind.MESSAGE),
        ("precious", Kind.MESSAGE),
        ("", Kind.RESET),
    ]


async def test_stop_in_the_same_moment_as_a_reset_leaves_one_or_none(program: Program) -> None:
    chat = await a_chat(program)
    resetting = asyncio.ensure_future(  # noqa: TID251 - Stop must come while it runs
        program.manager.send(chat.session, ResetContext())
    )
    for _ in range(4):
        await asyncio.sleep(0)
    await chat.stop()
    outcome = await resetting
    await chat.idle()
    has_row = chat.rows()[-1].kind == Kind.RESET
    assert has_row == (outcome == Accepted()) == (meta_of(chat).floor_seq is not None)


async def test_a_message_right_behind_a_reset_is_taken(program: Program) -> None:
    chat = await a_chat(program)
    assert await program.manager.send(chat.session, ResetContext()) == Accepted()
    program.provider.play(reply("Hello."))
    assert await chat.send("anew") == Accepted()
    await chat.idle()
    assert sent_texts(program) == ["anew"]


async def test_what_is_sent_while_a_reset_is_written_comes_behind_it(program: Program) -> None:
    chat = await a_chat(program)
    program.provider.play(reply("Hello."))
    program.provider.play(reply("Never."))
    outcomes = await asyncio.gather(
        program.manager.send(chat.session, ResetContext()), chat.send("anew"), chat.send("too"), chat.reset()
    )
    await chat.idle()
    # One message is taken; what comes while it is answered is refused, as always.
    assert all(outcome == Accepted() for outcome in outcomes[:2])
    assert all(isinstance(outcome, Refused) for outcome in outcomes[2:])
    assert sent_texts(program) == ["anew"]
    assert chat.texts() == ["secret", "Well met.", "", "anew", "Hello."]


async def test_nothing_is_sent_to_a_chat_that_is_closed_behind_its_reset(program: Program) -> None:
    chat = await a_chat(program)
    await program.manager.leave_chat(chat.session)
    program.provider.play(reply("Hello."))
    _, sent = await asyncio.gather(program.manager.send(chat.session, ResetContext()), chat.send("anew"))
    await chat.idle()
    await program.tasks.drain(timeout_seconds=5)
    assert isinstance(sent, Refused)
    assert chat.texts() == ["secret", "Well met.", ""]
    assert chat.files.lease.probe() is None


async def test_a_chat_that_is_open_elsewhere_is_not_reset(program: Program) -> None:
    chat = await a_chat(program)
    await program.manager.close()
    other = chat.files
    other.lease.take()
    await program.restart()
    refused = await program.manager.send(chat.session, ResetContext())
    other.lease.release()
    assert isinstance(refused, Refused)
    assert len(chat.rows()) == 2


@pytest.mark.parametrize("is_damaged", [True, False])
@pytest.mark.parametrize("is_fresh", [True, False])
async def test_of_a_long_window_the_end_is_enough(program: Program, *, is_damaged: bool, is_fresh: bool) -> None:
    """More than a page behind the newest reply, of rows or of none."""
    chat = await a_chat(program)
    if is_fresh:
        assert await chat.reset() == Accepted()
    await program.manager.close()
    last_seq = len(chat.rows())
    rows = [
        Row(id=f"u{seq}", session=chat.session, seq=seq, role="user", parts=(TextPart(text="x" * 500_000),))
        for seq in range(last_seq + 1, last_seq + 8)
    ]
    lines = [b"{" + b"x" * 500_000 if is_damaged else encode_row(row) for row in rows]
    with chat.files.chat.open("ab") as file:
        file.writelines(line + b"\n" for line in lines)
    await program.restart()
    outcome = await chat.reset()
    if is_damaged and is_fresh:
        assert isinstance(outcome, Refused)
        return
    assert outcome == Accepted()
    tokens, limit = (None, None) if is_fresh else (41, 100_000)
    assert chat.rows()[-1].boundary == Boundary(kind="reset", context_tokens=tokens, limit=limit)
    program.provider.play(reply("Hello."))
    await chat.say("anew")
    assert sent_texts(program) == ["anew"]


@pytest.mark.parametrize("flags", [(), (Flag.HIDDEN,)])
async def test_a_reset_of_a_window_without_a_reply_knows_no_figure(program: Program, flags: tuple[str, ...]) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    row = Row(id="u", session=chat.session, seq=1, role="user", flags=flags, parts=(TextPart(text="hi"),))
    chat.files.chat.write_bytes(encode_row(row) + b"\n")
    await program.restart()
    assert await chat.reset() == Accepted()
    assert chat.rows()[-1].boundary == Boundary(kind="reset")
