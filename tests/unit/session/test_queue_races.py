"""Messages that wait, while something else happens in the same moment. See context-windows.md, 12."""

import asyncio
import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from app.domain.errors import ChatInUse, StorageError
from app.domain.events import QueueChanged
from app.domain.queue import Pause, QueuedMessage, When
from app.history.files import ChatFiles
from app.session.inputs import (
    Accepted,
    Choices,
    EditQueued,
    GoOnWithQueue,
    MoveQueued,
    Refused,
    RemoveQueued,
    ResetContext,
    SendQueuedNow,
    SwitchVersion,
    UserInput,
)
from app.session.queue import MessageQueue
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, reply
from tests.unit.session.conftest import MODEL, Chat, Program, until


async def held_back(program: Program, *texts: str) -> tuple[Chat, list[str]]:
    """A chat that was stopped, in which `texts` wait; and their ids."""
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*reply("so far")[:1], hold])
    await chat.send("first")
    await hold.reached()
    ids = [await chat.queue(text) for text in texts]
    await chat.stop()
    return chat, ids


async def test_stop_holds_a_message_that_is_just_being_queued(tmp_path: Path) -> None:
    queue = MessageQueue(ChatFiles(tmp_path), lambda _view: None)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(queue.add(QueuedMessage("a", "a")))
        await asyncio.sleep(0)
        queue.hold(Pause.STOPPED)
    assert (queue.view.pause, queue.goes_on) == (Pause.STOPPED, False)


async def test_send_now_comes_behind_a_reset_that_was_asked_for_before(program: Program) -> None:
    chat, (second,) = await held_back(program, "second")
    # So that the reset has to read first.
    await program.restart()
    await program.manager.open_chat(chat.session)
    program.provider.play(reply("ok"))

    resetting = program.tasks.spawn(program.manager.send(chat.session, ResetContext()), name="reset")
    for _ in range(6):
        await asyncio.sleep(0)
    await chat.change_queue(SendQueuedNow(second))
    assert await resetting == Accepted()
    await until(lambda: chat.texts()[-1:] == ["ok"])
    await chat.idle()
    assert [row.text for row in program.provider.requests[-1].rows] == ["second"]


async def test_send_now_comes_behind_a_switch_that_was_asked_for_before(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("first")
    await chat.regenerate(chat.rows()[-1].id)
    (versions,) = chat.versions
    hold = Hold()
    program.provider.play([*reply("so far")[:1], hold])
    await chat.send("next")
    await hold.reached()
    second = await chat.queue("second")
    await chat.stop()
    program.provider.play(reply("ok"))
    await program.restart()
    await program.manager.open_chat(chat.session)

    switch = SwitchVersion(versions.after, versions.ids[0])
    switching = program.tasks.spawn(program.manager.send(chat.session, switch), name="switch")
    for _ in range(6):
        await asyncio.sleep(0)
    await chat.change_queue(SendQueuedNow(second))
    assert await switching == Accepted()
    await until(lambda: chat.texts()[-1:] == ["ok"])
    await chat.idle()
    assert [row.text for row in program.provider.requests[-1].rows] == ["first", "one", "second"]


async def test_send_now_twice_does_not_cut_the_reply_to_the_message(program: Program) -> None:
    chat, (second,) = await held_back(program, "second")
    program.provider.play(reply("ok"), reply("not asked for"))
    async with asyncio.TaskGroup() as tasks:
        for _ in range(40):
            tasks.create_task(chat.change_queue(SendQueuedNow(second)))
            await asyncio.sleep(0.0002)
    await chat.idle()
    assert chat.texts() == ["first", "so far", "second", "ok"]
    assert len(program.provider.requests) == 2


async def test_what_waits_is_not_lost_if_it_could_not_be_read_at_first(program: Program) -> None:
    chat, _ids = await held_back(program, "second")
    await program.manager.close()
    with refusing(chat.files.queue):
        await program.restart()
        opened = await program.manager.open_chat(chat.session)
        assert opened.queue.messages == ()
    hold = Hold()
    program.provider.play([hold, *reply("ok")])
    await chat.send("third")
    await hold.reached()
    await chat.queue("fourth")
    assert ["second", "fourth"] == chat.waiting == chat.queued_on_disk()
    assert chat.pause is Pause.RESTART
    hold.release()
    await chat.idle()


async def test_nothing_is_queued_over_messages_that_can_not_be_read(program: Program) -> None:
    chat, _ids = await held_back(program, "second")
    await program.manager.close()
    hold = Hold()
    program.provider.play([hold, *reply("ok")])
    with refusing(chat.files.queue):
        await program.restart()
        await program.manager.open_chat(chat.session)
        await chat.send("third")
        await hold.reached()
        outcome = await program.manager.enqueue(chat.session, UserInput("x", "fourth"), When.AFTER_TURN)
        assert isinstance(outcome, Refused)
        with pytest.raises(StorageError):
            await chat.change_queue(EditQueued("x", text="y"))
    assert chat.queued_on_disk() == ["second"]
    hold.release()
    await chat.idle()
    assert chat.texts() == ["first", "so far", "third", "ok"]
    # The next change finds them.
    program.provider.play(reply("ok"))
    await chat.change_queue(GoOnWithQueue())
    await until(lambda: "second" in chat.texts())
    await chat.idle()


async def test_what_was_sent_is_off_the_disk_before_others_may_hold_the_chat(tmp_path: Path) -> None:
    files = ChatFiles(tmp_path)
    queue = MessageQueue(files, lambda _view: None)
    await queue.add(QueuedMessage("a", "a"))
    await queue.add(QueuedMessage("b", "b"))
    queue.forget({"a"})
    await queue.close()

    after = MessageQueue(files, lambda _view: None)
    await after.load(may_repair=True)
    assert [message.text for message in after.view.messages] == ["b"]
    await after.add(QueuedMessage("c", "c"))
    await queue.save()
    with pytest.raises(StorageError, match="closed in the same moment"):
        await queue.add(QueuedMessage("d", "d"))
    await after.load(may_repair=True)
    assert [message.text for message in after.view.messages] == ["b", "c"]


async def test_a_message_is_on_disk_though_the_disk_failed_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, sync = ChatFiles(tmp_path), os.fsync
    queue = MessageQueue(files, lambda _view: None)

    def fail_for_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_for_folders)
        await queue.add(QueuedMessage("a", "a"))
    assert [message.text for message in queue.view.messages] == ["a"]


async def test_a_message_that_is_just_being_sent_can_not_be_changed(tmp_path: Path) -> None:
    queue = MessageQueue(ChatFiles(tmp_path), lambda _view: None)
    await queue.add(QueuedMessage("a", "a"))
    await queue.take()
    for change in (EditQueued("a", text="b"), MoveQueued("a", 0), RemoveQueued("a")):
        assert await queue.change(change) is None
    queue.put_back()
    assert await queue.change(EditQueued("a", text="b")) is not None


async def test_another_process_sees_what_waits_and_takes_it_over_once(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([hold, *reply("one")], [Hold()])
    await chat.send("first")
    await hold.reached()
    await chat.queue("second")
    third = await chat.queue("third")

    other = Program(program.root, provider=program.provider, clock=program.clock, new_id=program.new_id)
    opened = await other.manager.open_chat(chat.session)
    # It waits for the reply that comes over there, not for anybody here.
    assert ([message.text for message in opened.queue.messages], opened.queue.pause) == (["second", "third"], None)
    with pytest.raises(ChatInUse):
        await other.manager.change_queue(chat.session, SendQueuedNow(third))
    hold.release()
    theirs = Chat(other, chat.session)
    await until(lambda: theirs.waiting == ["third"])

    await program.manager.close()
    assert await other.manager.take_over(chat.session)
    opened = await other.manager.open_chat(chat.session)
    assert ([message.text for message in opened.queue.messages], opened.queue.pause) == (["third"], Pause.RESTART)
    program.provider.play(reply("three"))
    await other.manager.change_queue(chat.session, GoOnWithQueue())
    await until(lambda: theirs.texts()[-1:] == ["three"])
    await theirs.idle()
    assert theirs.texts() == ["first", "one", "second", "", "third", "three"]
    await other.manager.close()
    await other.tasks.close()


async def test_stop_right_behind_send_now_lets_the_message_wait(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*reply("so far")[:1], hold])
    await chat.send("first")
    await hold.reached()
    second = await chat.queue("second")
    await chat.change_queue(SendQueuedNow(second))
    await chat.stop()
    assert (chat.waiting, chat.pause, chat.texts()) == (["second"], Pause.STOPPED, ["first", "so far"])


async def test_send_now_begins_nothing_in_a_chat_that_closes(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*reply("so far")[:1], hold])
    await chat.send("first")
    await hold.reached()
    await chat.change_queue(SendQueuedNow(await chat.queue("second")))
    await program.manager.close()
    assert (chat.texts(), chat.queued_on_disk()) == (["first", "so far"], ["second"])


async def test_send_now_is_not_told_as_a_stop(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*reply("so far")[:1], hold], reply("ok"))
    await chat.send("first")
    await hold.reached()
    await chat.change_queue(SendQueuedNow(await chat.queue("second")))
    await until(lambda: chat.texts()[-1:] == ["ok"])
    await chat.idle()
    assert {event.queue.pause for event in chat.events(QueueChanged)} == {None}


async def test_what_waited_over_a_restart_goes_on_waiting_when_a_turn_is_stopped(program: Program) -> None:
    chat, _ids = await held_back(program, "second")
    await program.restart()
    await program.manager.open_chat(chat.session)
    hold = Hold()
    program.provider.play([hold], reply("ok"))
    await chat.send("third")
    await hold.reached()
    await chat.stop()
    await chat.say("fourth")
    assert (chat.waiting, chat.pause) == (["second"], Pause.RESTART)


@pytest.mark.parametrize("change", ["reset", "switch"])
async def test_what_was_stopped_is_not_sent_because_of_a_reset_or_a_switch(program: Program, change: str) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"), reply("two"))
    await chat.say("first")
    await chat.regenerate(chat.rows()[-1].id)
    (versions,) = chat.versions
    hold = Hold()
    program.provider.play([hold])
    await chat.send("next")
    await hold.reached()
    await chat.queue("second")
    await chat.stop()
    outcome = await (chat.reset() if change == "reset" else chat.switch(versions.after, versions.ids[0]))
    assert outcome == Accepted()
    assert (chat.waiting, chat.pause) == (["second"], Pause.STOPPED)
    assert len(program.provider.requests) == 3


@pytest.mark.parametrize(
    "choices", [Choices("scripted/gone"), Choices("gone/model"), Choices(MODEL, profile="gone")], ids=str
)
async def test_a_message_for_a_model_or_profile_that_is_gone_waits_on(program: Program, choices: Choices) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([hold, *reply("one")], reply("ok"))
    await chat.send("first")
    await hold.reached()
    message = UserInput("m", "second", choices=choices)
    assert await program.manager.enqueue(chat.session, message, When.AFTER_TURN) == Accepted(is_queued=True)
    await chat.queue("third")
    hold.release()
    await chat.idle()
    told = chat.events(QueueChanged)[-1].queue
    assert ([each.text for each in told.messages], told.pause) == (["second", "third"], Pause.ERROR)
    assert "gone" in told.reason
    assert chat.texts() == ["first", "one"]

    await chat.change_queue(RemoveQueued("m"))
    await chat.change_queue(GoOnWithQueue())
    await until(lambda: chat.texts()[-1:] == ["ok"])
    await chat.idle()


async def test_a_message_is_sent_though_the_reply_ends_while_it_is_written_down(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = await program.new_chat()
    hold, goes_on = Hold(), threading.Event()
    program.provider.play([hold, *reply("one")], reply("two"), reply("three"))
    await chat.send("first")
    await hold.reached()
    replace = os.replace

    def replace_later(source: Path, target: Path) -> None:
        if Path(target).name == "queue.json":
            goes_on.wait(10)
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_later)
    second = program.tasks.spawn(chat.queue("second"), name="queue")
    hold.release()
    await chat.idle()
    # One that comes now comes behind it.
    third = program.tasks.spawn(chat.queue("third"), name="queue")
    for _ in range(20):
        await asyncio.sleep(0)
    assert chat.texts() == ["first", "one"]
    goes_on.set()
    await asyncio.gather(second, third)
    await until(lambda: chat.texts()[-1:] == ["three"])
    await chat.idle()
    assert chat.texts() == ["first", "one", "second", "two", "third", "three"]
