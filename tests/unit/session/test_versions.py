"""Edit and resend, ask again, and going back: what is cut off is kept. See context-windows.md, 3."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest

from app.domain.events import RowsCut
from app.domain.models import ModelCard
from app.domain.rows import Flag
from app.history.partial import PartialFile
from app.session.inputs import Accepted, EditMessage, Input, Refused, Regenerate, SwitchVersion, UserInput
from app.session.turns import LARGE_WINDOW_CHARS
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.unit.session.conftest import Chat, Program, until


async def two_turns(program: Program) -> Chat:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("a")
    await chat.say("b")
    return chat


def branch_files(chat: Chat) -> list[Path]:
    return sorted(chat.files.branches.glob("*.jsonl"))


async def test_an_edited_message_takes_the_place_of_the_old_one(program: Program) -> None:
    chat = await two_turns(program)
    program.provider.play(reply("two!"))
    old = chat.rows()[2]

    assert Accepted() == await chat.edit(old.id, "b!")

    assert chat.texts() == ["a", "one", "b!", "two!"]
    assert [row.text for row in program.provider.requests[-1].rows] == ["a", "one", "b!"]
    (cut,) = chat.events(RowsCut)
    assert chat.rows()[1].id == cut.after
    (branch,) = branch_files(chat)
    assert [json.loads(line)["parts"][0]["text"] for line in branch.read_bytes().splitlines()[1:]] == ["b", "two"]
    (versions,) = chat.versions
    assert (chat.rows()[1].id, 2, 1) == (versions.after, len(versions.ids), versions.current)


async def test_the_first_message_can_be_edited(program: Program) -> None:
    chat = await two_turns(program)
    program.provider.play(reply("one!"))
    await chat.edit(chat.rows()[0].id, "a!")
    assert chat.texts() == ["a!", "one!"]
    (versions,) = chat.versions
    assert (versions.after, versions.current) == ("", 1)


async def test_asking_again_keeps_the_message_and_every_answer(program: Program) -> None:
    chat = await two_turns(program)
    asked = chat.rows()[2]
    program.provider.play(reply("two, again"), reply("two, a third time"))
    await chat.regenerate(chat.rows()[3].id)
    await chat.regenerate(chat.rows()[3].id)

    assert chat.texts() == ["a", "one", "b", "two, a third time"]
    assert asked == chat.rows()[2]
    (versions,) = chat.versions
    assert (asked.id, 3, 2) == (versions.after, len(versions.ids), versions.current)


async def test_one_goes_back_to_the_first_version_and_forth(program: Program) -> None:
    chat = await two_turns(program)
    before = chat.rows()
    program.provider.play(reply("two!"))
    await chat.edit(before[2].id, "b!")
    edited = chat.rows()
    (versions,) = chat.versions

    assert Accepted() == await chat.switch(versions.after, versions.ids[0])
    assert before == chat.rows()
    (versions,) = chat.versions
    assert versions.current == 0
    assert len(branch_files(chat)) == 1

    await chat.switch(versions.after, versions.ids[1])
    assert edited == chat.rows()
    (versions,) = chat.versions
    assert versions.current == 1

    # The model sees the version that is the chat now.
    program.provider.play(reply("on"))
    await chat.say("c")
    assert [row.text for row in program.provider.requests[-1].rows] == ["a", "one", "b!", "two!", "c"]


async def test_versions_within_versions_come_back_with_them(program: Program) -> None:
    chat = await two_turns(program)
    program.provider.play(reply("two!"), reply("one!"))
    await chat.edit(chat.rows()[2].id, "b!")
    await chat.edit(chat.rows()[0].id, "a!")
    (outer,) = chat.versions
    await chat.switch("", outer.ids[0])
    assert chat.texts() == ["a", "one", "b!", "two!"]
    outer, inner = chat.versions
    assert ("", chat.rows()[1].id) == (outer.after, inner.after)
    await chat.switch(inner.after, inner.ids[0])
    assert chat.texts() == ["a", "one", "b", "two"]


async def test_they_are_there_after_a_restart(program: Program) -> None:
    chat = await two_turns(program)
    program.provider.play(reply("two!"))
    await chat.edit(chat.rows()[2].id, "b!")
    told = chat.versions
    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert told == opened.versions
    await chat.switch(told[0].after, told[0].ids[0])
    assert chat.texts() == ["a", "one", "b", "two"]


async def test_asking_again_in_the_middle_takes_all_that_follows_along(program: Program) -> None:
    chat = await two_turns(program)
    program.provider.play(reply("one, again"))
    await chat.regenerate(chat.rows()[1].id)
    assert chat.texts() == ["a", "one, again"]
    (versions,) = chat.versions
    await chat.switch(versions.after, versions.ids[0])
    assert chat.texts() == ["a", "one", "b", "two"]


async def test_a_turn_of_several_steps_is_asked_again_as_a_whole(program: Program) -> None:
    program.tools.append(ScriptedTool())
    chat = await program.new_chat()
    program.provider.play(calls(("look", {})), reply("end"))
    await chat.say("a")
    program.provider.play(reply("again"))
    await chat.regenerate(chat.rows()[-1].id)
    assert chat.texts() == ["a", "again"]


async def test_stop_right_after_an_edit_keeps_the_new_message(program: Program) -> None:
    chat = await two_turns(program)
    hold = Hold()
    program.provider.play([hold])
    row = chat.rows()[2]
    assert Accepted() == await program.manager.send(chat.session, EditMessage(row.id, UserInput("new", "b!")))
    await hold.reached()
    await chat.stop()
    assert chat.texts() == ["a", "one", "b!", ""]
    assert Flag.INTERRUPTED in chat.rows()[-1].flags
    assert sum(row.text == "b!" for row in chat.rows()) == 1


async def test_what_is_not_in_the_window_can_not_be_changed(program: Program) -> None:
    chat = await two_turns(program)
    rows = chat.rows()
    await chat.reset()
    program.provider.play(reply("three"))
    await chat.say("c")
    before = chat.rows()
    for outcome in (
        await chat.edit(rows[0].id, "x"),
        await chat.regenerate(rows[1].id),
        await chat.switch(rows[1].id, "no-such-branch"),
        # A reply is no message of the person's.
        await chat.edit(before[-1].id, "x"),
    ):
        assert isinstance(outcome, Refused)
        assert outcome.reason
    assert before == chat.rows()
    assert branch_files(chat) == []


async def test_a_fresh_window_forgets_the_versions_before_it(program: Program) -> None:
    chat = await two_turns(program)
    program.provider.play(reply("two!"))
    await chat.edit(chat.rows()[2].id, "b!")
    await chat.reset()
    assert chat.versions == ()
    # The file stays.
    assert len(branch_files(chat)) == 1


async def test_a_refused_edit_changes_nothing(program: Program) -> None:
    chat = await two_turns(program)
    before = chat.rows()
    outcome = await chat.edit(before[2].id, "   ")
    assert isinstance(outcome, Refused)
    assert before == chat.rows()
    assert branch_files(chat) == []


async def test_a_disk_that_refuses_leaves_the_chat_as_it_was(program: Program) -> None:
    chat = await two_turns(program)
    before = chat.rows()
    with refusing(chat.files.chat):
        assert isinstance(await chat.edit(before[2].id, "b!"), Refused)
        assert isinstance(await chat.regenerate(before[3].id), Refused)
    assert before == chat.rows()
    program.provider.play(reply("two!"))
    assert Accepted() == await chat.edit(before[2].id, "b!")
    assert chat.texts() == ["a", "one", "b!", "two!"]


@pytest.mark.parametrize("item", ["edit", "regenerate", "switch"])
async def test_nothing_is_changed_while_a_reply_is_written(program: Program, item: str) -> None:
    chat = await two_turns(program)
    rows = chat.rows()
    hold = Hold()
    program.provider.play([hold, *reply("three")])
    await chat.send("c")
    await hold.reached()
    asked: dict[str, Input] = {
        "edit": EditMessage(rows[2].id, UserInput("new", "b!")),
        "regenerate": Regenerate(rows[3].id),
        "switch": SwitchVersion(rows[1].id, "x"),
    }
    assert isinstance(await program.manager.send(chat.session, asked[item]), Refused)
    hold.release()
    await chat.idle()
    assert chat.texts() == ["a", "one", "b", "two", "c", "three"]


async def test_what_a_crash_left_in_the_middle_is_settled_at_open(program: Program) -> None:
    chat = await two_turns(program)
    before = chat.files.chat.read_bytes()
    program.provider.play(reply("two!"))
    await chat.edit(chat.rows()[2].id, "b!")
    await program.manager.close()
    # As a kill between the branch and the chat would leave it: the rows are in both.
    chat.files.chat.write_bytes(before)
    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert opened.versions == ()
    assert branch_files(chat) == []
    assert chat.texts() == ["a", "one", "b", "two"]


async def test_a_chat_that_was_never_edited_has_no_versions(program: Program) -> None:
    chat = await two_turns(program)
    opened = await program.manager.open_chat(chat.session)
    assert opened.versions == ()
    assert not chat.files.branches.exists()


async def test_a_large_window_is_read_again_for_every_turn(program: Program) -> None:
    program.provider.more = [ModelCard(id="large", provider="scripted", name="Large", limit=None, max_output=None)]
    await program.restart()
    chat = await program.new_chat()
    await program.manager.set_model(chat.session, "scripted/large")
    program.provider.play(reply("one"), reply("two"), reply("two!"))
    large = "x" * (LARGE_WINDOW_CHARS + 1)
    await chat.say(large)
    await chat.say("b")
    await chat.edit(chat.rows()[2].id, "b!")
    (versions,) = chat.versions
    assert await chat.switch(versions.after, versions.ids[0]) == Accepted()

    asked = [[row.text for row in request.rows] for request in program.provider.requests]
    assert asked == [[large], [large, "one", "b"], [large, "one", "b!"]]
    assert chat.texts()[1:] == ["one", "b", "two"]


async def test_an_edited_message_that_lies_in_a_blob_is_sent_whole_ever_after(program: Program) -> None:
    program.provider.more = [ModelCard(id="large", provider="scripted", name="Large", limit=None, max_output=None)]
    await program.restart()
    chat = await program.new_chat()
    await program.manager.set_model(chat.session, "scripted/large")
    program.provider.play(reply("one"), reply("two"), reply("three"))
    await chat.say("a")
    large = "x" * 2_000_000
    await chat.edit(chat.rows()[0].id, large)
    await chat.say("b")
    assert [[row.text for row in request.rows] for request in program.provider.requests[1:]] == [
        [large],
        [large, "two", "b"],
    ]


async def test_an_edit_that_the_disk_took_is_told_though_it_failed_behind_it(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = await two_turns(program)
    third = chat.rows()[2]
    program.provider.play(reply("two!"))
    inode, sync = chat.files.chat.stat().st_ino, os.fsync

    def fail_behind_the_step(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode) and chat.files.chat.stat().st_ino != inode:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_behind_the_step)
        assert await chat.edit(third.id, "b!") == Accepted()
    assert chat.texts() == ["a", "one", "b!", "two!"]
    assert [event.after for event in chat.events(RowsCut)] == [chat.rows()[1].id]
    (versions,) = chat.versions
    assert await chat.switch(versions.after, versions.ids[0]) == Accepted()
    assert chat.texts() == ["a", "one", "b", "two"]


@pytest.mark.parametrize("change", ["edit", "regenerate"])
async def test_an_unfinished_reply_that_was_cut_off_does_not_come_back(program: Program, change: str) -> None:
    """Its file may stay behind: another program holds it open, say."""
    chat = await program.new_chat()
    program.provider.play([*reply("so far")[:1], Hold()], reply("instead"))
    await chat.send("hi")
    await until(lambda: chat.streamed() == "so far")
    await chat.stop()
    first, so_far = chat.rows()
    await (chat.edit(first.id, "hi!") if change == "edit" else chat.regenerate(so_far.id))
    before = chat.texts()
    await program.manager.close()
    PartialFile(chat.files).save(so_far)

    await program.restart()
    await program.manager.open_chat(chat.session)
    assert chat.texts() == before
    assert not chat.files.partial.exists()
