import asyncio
from datetime import timedelta

import pytest

from app.domain.chats import Access
from app.domain.errors import ChatInUse, ChatNotFound, StorageError
from app.domain.events import AccessChanged, ChatRewritten, RowsAppended, SessionBroke
from app.domain.rows import Boundary, Flag, Row, TextPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import title_from
from app.history.partial import PartialFile
from app.history.reader import RowEntry
from app.history.sidecars import SessionMeta, read_sidecar
from app.history.store import Store
from app.providers.base import StopPiece, StopReason, TextPiece
from app.session.inputs import Accepted, DraftContent, GoOnWithQueue, Refused
from app.session.worker import Worker
from tests.fakes.scripted import Hold, reply
from tests.unit.session.conftest import Chat, Program, until


async def test_chats_are_listed_latest_first(program: Program) -> None:
    first, second = await program.new_chat(), await program.new_chat()
    program.clock.advance(60)
    program.provider.play(reply("ok"))
    await first.say("hi")
    assert [first.session, second.session] == [chat.id for chat in await program.manager.list_chats()]


async def test_a_deleted_chat_comes_back_whole(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.say("hi")
    await program.manager.delete_chat(chat.session)
    assert await program.manager.list_chats() == ()
    (deleted,) = await program.manager.list_deleted()
    assert (chat.session, "hi") == (deleted.id, deleted.title)

    await program.manager.restore_chat(chat.session)
    assert await program.manager.list_deleted() == ()
    await program.manager.open_chat(chat.session)
    assert chat.texts() == ["hi", "ok"]


async def test_deleting_a_chat_ends_its_reply_and_keeps_it(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*reply("half")[:1], hold])
    await chat.send("hi")
    await hold.reached()
    await program.manager.delete_chat(chat.session)
    await program.manager.restore_chat(chat.session)
    assert chat.texts() == ["hi", "half"]


async def test_the_trash_is_emptied_after_thirty_days(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.delete_chat(chat.session)
    program.clock.advance(timedelta(days=29, hours=23).total_seconds())
    await program.manager.tidy_trash()
    assert len(await program.manager.list_deleted()) == 1
    program.clock.advance(3600)
    await program.manager.tidy_trash()
    assert await program.manager.list_deleted() == ()
    with pytest.raises(ChatNotFound):
        await program.manager.restore_chat(chat.session)


@pytest.mark.parametrize("name", ["..", "../x", "", "a/b", "a\\b", "x" * 65])
async def test_a_name_that_is_no_id_reaches_no_file(program: Program, name: str) -> None:
    with pytest.raises(ChatNotFound):
        await program.manager.open_chat(name)
    with pytest.raises(ChatNotFound):
        await program.manager.restore_chat(name)
    await program.manager.purge_chat(name)
    assert program.root.parent.exists()


async def test_a_chat_that_is_left_gives_its_lease_back_once_idle(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([hold, *reply("ok")])
    await chat.send("hi")
    await hold.reached()
    await program.manager.leave_chat(chat.session)
    with pytest.raises(ChatInUse):
        ChatFiles(chat.files.folder).lease.take()
    hold.release()
    other = ChatFiles(chat.files.folder)

    def is_free() -> bool:
        try:
            other.lease.take()
        except ChatInUse:
            return False
        return True

    await until(is_free)
    other.lease.release()
    assert chat.texts() == ["hi", "ok"]


async def test_drafts_are_kept(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.save_draft(chat.session, DraftContent("half a thought é😀"))
    await program.restart()
    assert (await program.manager.open_chat(chat.session)).draft.text == "half a thought é😀"


async def test_a_lost_session_file_is_made_again_from_the_history(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.say("What is a muntin?")
    await program.manager.close()
    for damage in (chat.files.meta.unlink, lambda: chat.files.meta.write_text("{")):
        damage()
        await program.restart()
        (summary,) = await program.manager.list_chats()
        assert (summary.title, summary.model) == ("What is a muntin?", "scripted/model")


async def test_fields_of_a_later_version_stay_in_the_session_file(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    meta = read_sidecar(chat.files.meta, SessionMeta)
    assert meta is not None
    chat.files.meta.write_text(meta.model_dump_json()[:-1] + ',"colour":"green"}')
    await program.restart()
    await program.manager.rename_chat(chat.session, "x")
    assert '"colour":"green"' in chat.files.meta.read_text()


@pytest.fixture
def other(program: Program) -> Program:
    """A second process on the same data folder."""
    return Program(program.root, provider=program.provider, clock=program.clock, new_id=program.new_id)


async def test_a_second_process_reads_follows_and_takes_over(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    program.provider.play(reply("one"), reply("two"), reply("three"))
    await ours.say("a")

    opened = await other.manager.open_chat(ours.session)
    theirs = Chat(other, ours.session)
    assert (opened.access, len(opened.page.entries)) == (Access.HELD_ELSEWHERE, 2)
    assert "process" in opened.holder
    assert isinstance(await theirs.send("no"), Refused)
    with pytest.raises(ChatInUse):
        await other.manager.delete_chat(ours.session)
    assert not await other.manager.take_over(ours.session)

    await ours.say("b")
    await until(lambda: len(theirs.told_rows()) == 2)
    assert [row.text for row in theirs.told_rows()] == ["b", "two"]

    await program.manager.close()
    await until(lambda: any(event.access is Access.FREE for event in theirs.events(AccessChanged)))
    assert await other.manager.take_over(ours.session)
    await theirs.say("c")
    assert theirs.texts() == ["a", "one", "b", "two", "c", "three"]
    assert len(theirs.events(RowsAppended)) == 3
    await other.manager.close()
    await other.tasks.close()
    assert other.failures == []


async def test_a_second_process_learns_that_rows_were_cut_off(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    program.provider.play(reply("one"), reply("two"), reply("two!"), reply("three"))
    await ours.say("a")
    await ours.say("b")
    theirs = Chat(other, ours.session)
    await other.manager.open_chat(ours.session)

    await ours.edit(ours.rows()[2].id, "b!")
    await until(lambda: len(theirs.events(ChatRewritten)) == 1)
    await ours.switch(ours.versions[0].after, ours.versions[0].ids[0])
    await until(lambda: len(theirs.events(ChatRewritten)) == 2)
    # What is appended from then on is told as ever.
    await ours.say("c")
    await until(lambda: [row.text for row in theirs.told_rows()][-2:] == ["c", "three"])
    await program.manager.close()
    await other.manager.close()
    await other.tasks.close()


async def test_a_second_process_sees_what_waits(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    hold = Hold()
    program.provider.play([hold, *reply("one")], reply("two"))
    await ours.send("a")
    await hold.reached()
    await ours.queue("b")
    opened = await other.manager.open_chat(ours.session)
    assert [message.text for message in opened.queue.messages] == ["b"]
    with pytest.raises(ChatInUse):
        await other.manager.change_queue(ours.session, GoOnWithQueue())
    hold.release()
    await ours.idle()
    await until(lambda: Chat(other, ours.session).waiting == [])
    await program.manager.close()
    await other.manager.close()
    await other.tasks.close()


async def test_a_row_that_comes_right_behind_the_opening_is_shown_or_told(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    program.provider.play(reply("one"))
    await ours.say("a")
    worker = Worker(other.env(), ours.session, other.library.files(ours.session), lambda _session: None)
    await worker.open()
    shown = worker.reader.page_backward().entries
    row = Row(id="late", session=ours.session, role="user", parts=(TextPart(text="b"),))
    Store(ours.files, session=ours.session).append([row], expected_last_seq=2)
    theirs = Chat(other, ours.session)
    await until(lambda: [row.text for row in theirs.told_rows()] == ["b"])
    assert len(shown) == 2
    await worker.close()
    await other.tasks.close()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", ""),
        ("short", "short"),
        ("\n\n second line\nthird", "second line"),
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("x" * 61, "x" * 59 + "…"),
        ("x" * 60, "x" * 60),
    ],
)
def test_titles_are_short(text: str, title: str) -> None:
    assert title == title_from(text)
    assert len(title_from(text)) <= 60


async def test_a_chat_that_is_deleted_is_not_brought_back_by_a_late_request(program: Program) -> None:
    for _ in range(20):
        chat = await program.new_chat()
        page = (await program.manager.open_chat(chat.session)).page
        await asyncio.gather(
            program.manager.delete_chat(chat.session),
            program.manager.page_before(chat.session, page.older),
            program.manager.save_draft(chat.session, DraftContent("x")),
            program.manager.leave_chat(chat.session),
            return_exceptions=True,
        )
        assert not chat.files.folder.exists()
        await program.manager.restore_chat(chat.session)
        await program.manager.delete_chat(chat.session)


async def test_a_request_after_leaving_holds_no_lease(program: Program) -> None:
    chat = await program.new_chat()
    page = (await program.manager.open_chat(chat.session)).page
    await program.manager.leave_chat(chat.session)
    await program.manager.page_before(chat.session, page.older)
    await program.manager.save_draft(chat.session, DraftContent("kept"))
    await program.manager.rename_chat(chat.session, "Renamed")
    other = ChatFiles(chat.files.folder)
    other.lease.take()
    other.lease.release()
    opened = await program.manager.open_chat(chat.session)
    assert (opened.draft.text, opened.summary.title) == ("kept", "Renamed")


async def test_the_newest_draft_wins(program: Program) -> None:
    chat = await program.new_chat()
    await asyncio.gather(*(program.manager.save_draft(chat.session, DraftContent(f"draft {n}")) for n in range(30)))
    await program.restart()
    assert (await program.manager.open_chat(chat.session)).draft.text == "draft 29"


async def test_who_only_reads_renames_nothing(program: Program, other: Program) -> None:
    chat = await program.new_chat()
    await other.manager.open_chat(chat.session)
    with pytest.raises(ChatInUse):
        await other.manager.rename_chat(chat.session, "no")
    await other.manager.close()
    with pytest.raises(ChatInUse):
        await other.manager.rename_chat(chat.session, "no")
    with pytest.raises(ChatInUse):
        await other.manager.save_draft(chat.session, DraftContent("no"))


async def test_a_rename_that_fails_changes_nothing(program: Program) -> None:
    chat = await program.new_chat()
    chat.files.meta.unlink()
    chat.files.meta.mkdir()
    with pytest.raises(StorageError):
        await program.manager.rename_chat(chat.session, "never")
    chat.files.meta.rmdir()
    program.provider.play(reply("ok"))
    await chat.say("first words")
    assert (await program.manager.list_chats())[0].title == "first words"


async def test_taking_over_twice_at_once_is_taking_over_once(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await ours.say("a")
    await other.manager.open_chat(ours.session)
    left = Row(id="cut", session=ours.session, role="assistant", turn="t", parts=(TextPart(text="half"),))
    await program.manager.close()
    PartialFile(ours.files).save(left)
    assert await asyncio.gather(*(other.manager.take_over(ours.session) for _ in range(2))) == [True, True]
    theirs = Chat(other, ours.session)
    assert [row.text for row in theirs.told_rows()] == ["half"]
    assert await theirs.say("b") == Accepted()
    await other.manager.close()
    await other.tasks.close()


async def test_a_chat_deleted_by_its_holder_ends_the_reading_along(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    await other.manager.open_chat(ours.session)
    await program.manager.delete_chat(ours.session)
    theirs = Chat(other, ours.session)
    await until(lambda: bool(theirs.events(SessionBroke)))
    assert not ours.files.folder.exists()
    await other.manager.close()
    await other.tasks.close()
    assert other.failures == []


async def test_an_opened_chat_is_one_moment(program: Program) -> None:
    chat = await program.new_chat()
    for number in range(15):
        hold = Hold()
        program.provider.play([TextPiece("x"), hold, StopPiece(StopReason.END)])
        await chat.send(f"m{number}")
        await hold.reached()
        hold.release()
        opened = await program.manager.open_chat(chat.session)
        texts = [entry.row.text for entry in opened.page.entries if isinstance(entry, RowEntry)]
        assert opened.state.is_active or texts[-1] == "x"
        await chat.idle()


async def test_what_a_killed_process_left_half_written_is_swept(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    left = chat.files.folder / ".chat.1234.tmp"
    left.write_text("half")
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert not left.exists()


async def test_a_chat_is_listed_although_another_vanishes(program: Program) -> None:
    first, second = await program.new_chat(), await program.new_chat()
    await program.manager.close()
    first.files.meta.unlink()
    first.files.meta.mkdir()
    assert {chat.id for chat in await program.manager.list_chats()} == {first.session, second.session}


async def test_a_new_chat_is_an_empty_one_that_is_there(program: Program, other: Program) -> None:
    chat = await program.new_chat()
    assert (await program.manager.new_chat("scripted/model")).id == chat.session, "shown here"
    await program.manager.leave_chat(chat.session)
    assert (await program.manager.new_chat("scripted/model")).id == chat.session, "open nowhere"
    await other.manager.open_chat(chat.session)
    assert (await program.manager.new_chat("scripted/model")).id != chat.session, "shown elsewhere"
    await other.manager.close()
    program.provider.play(reply("ok"))
    await program.manager.open_chat(chat.session)
    await chat.say("\u200b.")
    assert (await program.manager.new_chat("scripted/model")).id != chat.session, "something was said"


async def test_a_chat_whose_folder_is_read_only_can_be_read(program: Program) -> None:
    """A lock that can't be made: a folder stands where its file should be."""
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.say("hi")
    await program.manager.close()
    lock = chat.files.folder / "session.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert (opened.access, len(opened.page.entries)) == (Access.UNWRITABLE, 2)
    assert "can't be locked" in opened.holder
    assert isinstance(await chat.send("no"), Refused)
    with pytest.raises(StorageError):
        await program.manager.rename_chat(chat.session, "no")
    await program.manager.save_draft(chat.session, DraftContent("no"))
    lock.rmdir()


async def test_a_chat_made_again_without_a_model_gets_the_default_one(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    chat.files.meta.unlink()
    program.provider.play(reply("ok"))
    await program.restart()
    assert await chat.say("hi") == Accepted()


# What the second bug hunt found


@pytest.mark.parametrize("partial_too", [False, True])
async def test_an_owed_reply_survives_leaving_its_chat(program: Program, *, partial_too: bool) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([TextPiece("precious"), hold, StopPiece(StopReason.END)])
    await chat.send("hi")
    await hold.reached()
    await until(chat.files.partial.exists)
    saved = chat.files.chat.read_bytes()
    broken = [chat.files.chat, *([chat.files.partial] if partial_too else [])]
    for path in broken:
        path.unlink()
        path.mkdir()
    await program.manager.leave_chat(chat.session)
    hold.release()
    await chat.idle()
    for path in broken:
        path.rmdir()
    chat.files.chat.write_bytes(saved)
    await program.manager.open_chat(chat.session)
    await program.manager.leave_chat(chat.session)
    assert [(row.text, row.flags) for row in chat.rows()] == [("hi", ()), ("precious", ())]


async def test_an_owed_reply_kept_by_a_crash_is_whole(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    owed = Row(
        id="owed", session=chat.session, role="assistant", flags=(Flag.SETTLED,), parts=(TextPart(text="whole"),)
    )
    PartialFile(chat.files).save(owed)
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert [(row.text, row.flags) for row in chat.rows()] == [("whole", ())]


async def test_a_reply_whose_row_lost_a_block_is_recovered(program: Program) -> None:
    """Power failure: the file has its length, a block of it is zeros, and partial.json is intact."""
    chat = await program.new_chat()
    program.provider.play(reply("x" * 18_000))
    await chat.say("hi")
    await program.manager.close()
    row = chat.rows()[-1]
    data = bytearray(chat.files.chat.read_bytes())
    data[-8000:-4000] = bytes(4000)
    chat.files.chat.write_bytes(data)
    PartialFile(chat.files).save(row)
    await program.restart()
    await program.manager.open_chat(chat.session)
    assert chat.rows()[-1].text == "x" * 18_000


async def test_a_message_that_is_on_disk_is_no_draft_any_more(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"), reply("ok"))
    await program.manager.save_draft(chat.session, DraftContent("sent"))
    await chat.say("sent")
    await program.manager.save_draft(chat.session, DraftContent("another thought"))
    await chat.say("also sent")
    assert (await program.manager.open_chat(chat.session)).draft.text == "another thought"


async def test_two_new_chats_at_once_are_one(program: Program) -> None:
    made = await asyncio.gather(*(program.manager.new_chat("scripted/model") for _ in range(5)))
    assert len({chat.id for chat in made}) == 1


async def test_a_new_chat_while_others_open_and_close(program: Program) -> None:
    chats = [await program.new_chat() for _ in range(5)]
    program.provider.play(*[reply("ok")] * 5)
    for chat in chats:
        await chat.say("hi")
    await asyncio.gather(
        program.manager.new_chat("scripted/model"), *(program.manager.leave_chat(chat.session) for chat in chats)
    )


async def test_a_take_over_that_fails_can_be_tried_again(program: Program, other: Program) -> None:
    ours = await program.new_chat()
    await other.manager.open_chat(ours.session)
    await program.manager.close()
    saved = ours.files.meta.read_bytes()
    ours.files.meta.unlink()
    ours.files.meta.mkdir()
    with pytest.raises(StorageError):
        await other.manager.take_over(ours.session)
    ours.files.meta.rmdir()
    ours.files.meta.write_bytes(saved)
    assert await other.manager.take_over(ours.session)
    other.provider.play(reply("ok"))
    assert await Chat(other, ours.session).say("hi") == Accepted()
    await other.manager.close()
    await other.tasks.close()


async def test_a_broken_file_of_a_chat_open_elsewhere_stays_where_it_is(program: Program, other: Program) -> None:
    chat = await program.new_chat()
    chat.files.meta.write_text("{")
    assert len(await other.manager.list_chats()) == 1
    assert chat.files.meta.read_text() == "{"


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00"])
async def test_an_impossible_time_is_no_time(program: Program, moment: str) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    line = f'{{"v":1,"id":"a","session":"{chat.session}","role":"user","created":"{moment}","parts":[]}}\n'
    chat.files.chat.write_text(line)
    meta = chat.files.meta.read_text()
    chat.files.meta.write_text(meta[:-1] + f',"updated":"{moment.removesuffix("Z")}Z"}}')
    await program.restart()
    (summary,) = await program.manager.list_chats()
    assert 1970 <= summary.updated.astimezone().year <= 9000
    opened = await program.manager.open_chat(chat.session)
    entry = opened.page.entries[0]
    assert isinstance(entry, RowEntry)
    assert entry.row.created is None


async def test_a_row_of_an_unknown_kind_is_not_sent(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    strange = Row(id="k", session=chat.session, seq=1, role="user", kind="lead_in", parts=(TextPart(text="strange"),))
    chat.files.chat.write_bytes(encode_row(strange) + b"\n")
    program.provider.play(reply("ok"))
    await program.restart()
    await chat.say("hi")
    assert [row.text for row in program.provider.requests[0].rows] == ["hi"]


async def test_nothing_at_or_above_a_reset_reaches_a_model(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("secret")
    await program.manager.close()
    reset = Row(id="r", session=chat.session, seq=3, role="user", boundary=Boundary(kind="reset"), kind="reset")
    with chat.files.chat.open("ab") as file:
        file.write(encode_row(reset) + b"\n")
    await program.restart()
    await chat.say("after")
    assert [row.text for row in program.provider.requests[1].rows] == ["after"]


async def test_a_compaction_opens_the_window_with_its_text(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("long ago")
    await program.manager.close()
    summary = Row(
        id="c", session=chat.session, seq=3, role="user", boundary=Boundary(kind="compaction"), kind="compaction",
        parts=(TextPart(text="in short"),),
    )  # fmt: skip
    with chat.files.chat.open("ab") as file:
        file.write(encode_row(summary) + b"\n")
    await program.restart()
    await chat.say("after")
    assert program.provider.requests[1].rows[0].text == "in short\n\nafter"
