"""Sealed windows go to the archive between turns; whoever talks notices nothing of it."""

from app.domain.chats import TurnState
from app.domain.rows import Row
from app.history.receipt import read_receipt
from app.history.store import Store
from app.providers.base import StopPiece, StopReason, TextPiece
from app.session.archiving import Archiver
from app.session.inputs import Accepted
from tests.fakes.scripted import Hold, reply
from tests.unit.session.conftest import Chat, Program

RESET = b'{"v":1,"boundary":{"kind":"reset"'


async def a_chat(program: Program) -> Chat:
    chat = await program.new_chat()
    program.provider.play(reply("Well met."))
    await chat.say("hello")
    return chat


def ids(rows: list[Row]) -> list[str]:
    return [row.id for row in rows]


async def test_after_a_reset_the_active_file_begins_with_it_and_the_chat_goes_on(program: Program) -> None:
    chat = await a_chat(program)
    data = chat.files.chat.read_bytes()
    assert await chat.reset() == Accepted()
    await program.tasks.drain(timeout_seconds=5)
    assert chat.files.archive.read_bytes() == data
    assert chat.files.chat.read_bytes().startswith(RESET)
    program.provider.play(reply("Anew."))
    await chat.say("again")
    assert [row.text for row in chat.rows()] == ["hello", "Well met.", "", "again", "Anew."]
    assert [row.seq for row in chat.rows()] == [1, 2, 3, 4, 5]
    await program.restart()
    await program.manager.open_chat(chat.session)
    await program.tasks.drain(timeout_seconds=5)
    assert [row.seq for row in chat.rows()] == [1, 2, 3, 4, 5]
    assert chat.files.archive.read_bytes() == data


async def test_what_was_not_archived_when_the_turn_ended_is_at_the_next_opening(program: Program) -> None:
    chat = await a_chat(program)
    chat.files.archive.mkdir()
    assert await chat.reset() == Accepted()
    await program.tasks.drain(timeout_seconds=5)
    chat.files.archive.rmdir()
    assert RESET in chat.files.chat.read_bytes()
    assert not chat.files.chat.read_bytes().startswith(RESET)
    before = ids(chat.rows())
    await program.restart()
    await program.manager.open_chat(chat.session)
    await program.tasks.drain(timeout_seconds=5)
    assert chat.files.chat.read_bytes().startswith(RESET)
    assert ids(chat.rows()) == before


async def test_a_turn_comes_first(program: Program) -> None:
    chat = await a_chat(program)
    assert await chat.reset() == Accepted()
    hold = Hold()
    program.provider.play([TextPiece("half"), hold, StopPiece(StopReason.END)])
    await chat.send("quick")
    await hold.reached()
    assert chat.state is not TurnState.IDLE
    archived = chat.files.archive.read_bytes() if chat.files.archive.exists() else b""
    archiver = Archiver(
        program.env(),
        chat.session,
        chat.files,
        Store(chat.files, session=chat.session),
        is_busy=lambda: chat.state is not TurnState.IDLE,
    )
    archiver.start()
    await archiver.stop()
    assert (chat.files.archive.read_bytes() if chat.files.archive.exists() else b"") == archived
    hold.release()
    await chat.idle()
    await program.tasks.drain(timeout_seconds=5)
    receipt = read_receipt(chat.files)
    assert receipt is not None
    assert receipt.move is None
    assert chat.files.chat.read_bytes().startswith(RESET)
    assert [row.text for row in chat.rows()] == ["hello", "Well met.", "", "quick", "half"]
