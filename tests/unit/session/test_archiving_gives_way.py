"""Rows move to the archive between turns only, never between an append and its request."""

from app.history.scanner import MAX_PAGE_BYTES
from app.history.store import Store
from app.session.archiving import Archiver
from tests.unit.history.rows import boundary_row, text_row
from tests.unit.session.conftest import Chat, Program


async def a_sealed_window(program: Program) -> tuple[Chat, Store]:
    """A chat that is not open, with a sealed window of several pieces still in its active file."""
    chat = await program.new_chat()
    await program.manager.close()
    store = Store(chat.files, session=chat.session)
    rows = [text_row(f"r{number}", "x" * 900_000) for number in range(MAX_PAGE_BYTES * 2 // 900_000 + 1)]
    for at, row in enumerate([*rows, boundary_row("b"), text_row("now")]):
        store.append([row.model_copy(update={"session": chat.session})], expected_last_seq=at)
    return chat, store


async def test_nothing_moves_while_a_turn_runs_and_all_of_it_afterwards(program: Program) -> None:
    chat, store = await a_sealed_window(program)
    asked: list[bool] = []
    answers = [True, False, False, False, True]

    def is_busy() -> bool:
        asked.append(True)
        return answers.pop(0) if answers else False

    before = chat.files.chat.read_bytes()
    archiver = Archiver(program.env(), chat.session, chat.files, store, is_busy=is_busy)
    archiver.start()
    await program.tasks.drain(timeout_seconds=5)
    assert len(asked) == 1
    assert not chat.files.archive.exists()

    archiver.start()
    await program.tasks.drain(timeout_seconds=5)
    assert len(asked) == 5, "three pieces, then a turn began"
    assert chat.files.chat.read_bytes() == before

    archiver.start()
    await program.tasks.drain(timeout_seconds=5)
    archive = chat.files.archive.read_bytes()
    assert archive + chat.files.chat.read_bytes() == before
    assert chat.files.chat.read_bytes().startswith(b'{"v":1,"boundary"')

    archiver.start()
    assert len(program.tasks) == 0, "nothing more to do"
