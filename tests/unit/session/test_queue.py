"""Messages that wait: sent once, in order, and never lost. See context-windows.md, 12."""

import asyncio
from pathlib import Path

import pytest

from app.domain.chats import TurnState
from app.domain.errors import ErrorKind, ProviderError
from app.domain.events import StateChanged
from app.domain.models import ModelCard, ThinkingLevel
from app.domain.queue import Pause, QueuedMessage, When
from app.domain.rows import Row
from app.history.files import ChatFiles
from app.history.reader import HistoryReader
from app.history.store import Store
from app.session.inputs import (
    Accepted,
    Choices,
    EditQueued,
    GoOnWithQueue,
    MoveQueued,
    Refused,
    RemoveQueued,
    SendQueuedNow,
    UserInput,
)
from app.session.queue import MAX_MESSAGES, MessageQueue
from app.session.sent import ids_among
from app.tools.base import ToolOutcome
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.unit.session.conftest import Chat, Program, until


async def streaming(program: Program, *, calls_tool: bool = False) -> tuple[Chat, Hold]:
    """A chat whose first reply, or whose first tool, is held."""
    chat = await program.new_chat()
    hold = Hold()
    if calls_tool:
        tool = ScriptedTool(script=[hold, ToolOutcome("seen")])
        program.tools.append(tool)
        program.provider.play(calls(("look", {})), reply("done looking"))
    else:
        program.provider.play([hold, *reply("first answer")])
    await chat.send("first")
    await hold.reached()
    return chat, hold


async def test_messages_wait_for_the_end_of_the_turn_and_go_in_order(program: Program) -> None:
    chat, hold = await streaming(program)
    program.provider.play(reply("second answer"), reply("third answer"))

    await chat.queue("second")
    await chat.queue("third")
    assert (chat.waiting, chat.queued_on_disk()) == (["second", "third"], ["second", "third"])
    assert chat.texts() == ["first"]

    hold.release()
    await chat.idle()
    await until(lambda: chat.queued_on_disk() == [])
    assert chat.texts() == ["first", "first answer", "second", "second answer", "third", "third answer"]
    assert chat.waiting == []


async def test_a_message_has_the_id_it_was_queued_with(program: Program) -> None:
    chat, hold = await streaming(program)
    program.provider.play(reply("ok"))
    message_id = await chat.queue("second")
    hold.release()
    await chat.idle()
    (row,) = [row for row in chat.rows() if row.text == "second"]
    assert (message_id, message_id) == (row.id, row.turn)


async def test_a_message_for_after_the_step_comes_before_the_model_goes_on(program: Program) -> None:
    chat, hold = await streaming(program, calls_tool=True)
    program.provider.scripts.clear()
    program.provider.play(reply("both answered"))

    await chat.queue("later", When.AFTER_TURN)
    await chat.queue("wait, not that", When.AFTER_STEP)
    assert chat.waiting == ["wait, not that", "later"]
    program.provider.play(reply("last"))
    hold.release()
    await chat.idle()

    assert chat.texts() == ["first", "", "wait, not that", "both answered", "later", "last"]
    assert [row.text for row in program.provider.requests[1].rows] == ["first", "", "wait, not that"]
    (call,) = program.provider.requests[1].rows[1].parts
    assert getattr(call, "output", None) == "seen"


async def test_a_message_for_after_the_turn_waits_for_all_its_steps(program: Program) -> None:
    chat, hold = await streaming(program, calls_tool=True)
    await chat.queue("second")
    program.provider.play(reply("answer"))
    hold.release()
    await chat.idle()
    assert chat.texts() == ["first", "", "done looking", "second", "answer"]


async def test_a_message_is_sent_at_once_if_nothing_runs(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("ok"))
    await chat.queue("hello")
    await chat.idle()
    assert chat.texts() == ["hello", "ok"]
    assert chat.queued_on_disk() == []


async def test_it_keeps_the_model_of_its_queueing(program: Program) -> None:
    program.provider.more = [ModelCard(id="other", provider="scripted", name="Other", limit=None, max_output=None)]
    await program.restart()
    chat, hold = await streaming(program)
    await chat.queue("second")
    await program.manager.set_model(chat.session, "scripted/other")
    program.provider.play(reply("ok"), reply("ok"))
    hold.release()
    await chat.idle()
    await chat.say("third")
    assert [request.model for request in program.provider.requests] == ["model", "model", "other"]


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_it_keeps_the_level_and_the_profile_of_its_queueing(program: Program, *, is_restarted: bool) -> None:
    levels = (ThinkingLevel.LOW, ThinkingLevel.HIGH)
    program.provider.more = (ModelCard("thinker", "scripted", "T", limit=100_000, max_output=500, levels=levels),)
    await program.restart()
    chat, hold = await streaming(program)
    manager = program.manager
    await manager.set_model(chat.session, "scripted/thinker")
    await manager.set_level(chat.session, "low")
    await manager.set_profile(chat.session, "reader")
    await chat.queue("second")
    await manager.set_level(chat.session, "high")
    await manager.set_profile(chat.session, "planner")
    if is_restarted:
        await program.restart()
        await program.manager.open_chat(chat.session)
        program.provider.scripts.clear()
        program.provider.play(reply("second answer"))
        await chat.change_queue(GoOnWithQueue())
    else:
        program.provider.play(reply("second answer"))
        hold.release()
    await chat.idle()

    request = chat.rows()[-1].request
    assert request is not None
    assert (request.thinking_level, request.profile) == ("low", "reader")
    assert program.provider.requests[-1].level is ThinkingLevel.LOW


async def test_a_message_that_is_queued_again_keeps_the_model_it_had(program: Program) -> None:
    program.provider.more = [ModelCard(id="other", provider="scripted", name="Other", limit=None, max_output=None)]
    await program.restart()
    chat, hold = await streaming(program)
    message = UserInput(program.new_id(), "second", choices=Choices("scripted/other"))
    assert await program.manager.enqueue(chat.session, message, When.AFTER_TURN) == Accepted(is_queued=True)
    program.provider.play(reply("ok"))
    hold.release()
    await chat.idle()
    assert [request.model for request in program.provider.requests] == ["model", "other"]


async def test_stop_lets_the_others_wait_until_a_turn_has_ended_well(program: Program) -> None:
    chat, _hold = await streaming(program)
    await chat.queue("second")

    await chat.stop()
    assert (chat.waiting, chat.pause) == (["second"], Pause.STOPPED)

    program.provider.play(reply("continued"), reply("second answer"))
    await chat.resume()
    await chat.idle()
    assert chat.texts() == ["first", "", "continued", "second", "second answer"]


async def test_an_error_lets_the_others_wait(program: Program) -> None:
    chat, hold = await streaming(program)
    program.provider.scripts.clear()
    await chat.queue("second")
    program.provider.play([ProviderError(ErrorKind.AUTHENTICATION)])
    await chat.queue("third")
    hold.release()
    await chat.idle()
    assert (chat.waiting, chat.pause) == (["third"], Pause.ERROR)
    assert chat.texts() == ["first", "first answer", "second", ""]

    program.provider.play(reply("again"), reply("third answer"))
    await chat.resume()
    await chat.idle()
    assert chat.texts() == ["first", "first answer", "second", "", "again", "third", "third answer"]


async def test_a_reply_the_disk_refuses_lets_the_others_wait(program: Program) -> None:
    chat, hold = await streaming(program)
    await chat.queue("second")
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
    assert (chat.waiting, chat.pause) == (["second"], Pause.ERROR)
    # No other turn was begun, not even in vain: the disk might have taken it.
    assert [event.state for event in chat.events(StateChanged)].count(TurnState.PREPARING) == 1

    program.provider.play(reply("second answer"))
    await chat.change_queue(GoOnWithQueue())
    await chat.idle()
    assert chat.texts() == ["first", "first answer", "second", "second answer"]


async def test_what_waits_survives_a_restart_and_is_not_sent(program: Program) -> None:
    chat, _hold = await streaming(program)
    await chat.queue("second")
    await chat.queue("third")
    await program.restart()

    opened = await program.manager.open_chat(chat.session)
    assert [message.text for message in opened.queue.messages] == ["second", "third"]
    assert Pause.RESTART is opened.queue.pause

    # Not even a turn that ends well lets it go on.
    program.provider.play(reply("continued"))
    await chat.resume()
    await chat.idle()
    assert chat.waiting == ["second", "third"]

    program.provider.play(reply("a"), reply("b"))
    await chat.change_queue(GoOnWithQueue())
    await until(lambda: chat.waiting == [])
    await chat.idle()
    assert chat.texts() == ["first", "", "continued", "second", "a", "third", "b"]


async def test_a_message_whose_row_is_there_is_dropped_at_open(program: Program) -> None:
    chat, hold = await streaming(program)
    program.provider.play(reply("ok"))
    await chat.queue("second")
    on_disk = chat.files.queue.read_bytes()
    hold.release()
    await chat.idle()
    await until(lambda: chat.queued_on_disk() == [])
    await program.manager.close()
    # As a kill right behind the append would leave it.
    chat.files.queue.write_bytes(on_disk)
    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert opened.queue.messages == ()
    await until(lambda: chat.queued_on_disk() == [])


async def test_a_file_that_says_nothing_is_set_aside(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.close()
    chat.files.queue.write_bytes(b'{"messages": [{"text"')
    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert opened.queue.messages == ()
    assert [path.read_bytes() for path in chat.files.folder.glob("queue.json.*.damaged")] == [b'{"messages": [{"text"']


async def test_a_message_can_be_changed_moved_and_removed(program: Program) -> None:
    chat, hold = await streaming(program)
    one, two, three = [await chat.queue(text) for text in ("one", "two", "three")]

    await chat.change_queue(EditQueued(two, text="two!"))
    await chat.change_queue(MoveQueued(three, 0))
    assert ["three", "one", "two!"] == chat.waiting == chat.queued_on_disk()
    await chat.change_queue(EditQueued(two, when=When.AFTER_STEP))
    assert ["two!", "three", "one"] == chat.waiting == chat.queued_on_disk()
    # Those for after the step stay first.
    await chat.change_queue(MoveQueued(two, 2))
    assert chat.waiting == ["two!", "three", "one"]

    removed = await chat.change_queue(RemoveQueued(one))
    assert removed is not None
    assert removed.text == "one"
    assert await chat.change_queue(RemoveQueued(one)) is None
    assert await chat.change_queue(EditQueued(one, text="x")) is None

    program.provider.play(reply("a"), reply("b"))
    hold.release()
    await chat.idle()
    assert chat.texts() == ["first", "first answer", "two!", "a", "three", "b"]


async def test_send_now_ends_the_turn_and_keeps_what_came(program: Program) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([*reply("so far")[:1], hold])
    await chat.send("first")
    await hold.reached()
    await chat.queue("second")
    third = await chat.queue("third")
    program.provider.play(reply("third answer"), reply("second answer"))

    await chat.change_queue(SendQueuedNow(third))
    await until(lambda: len(chat.rows()) == 6)
    await chat.idle()

    assert chat.texts() == ["first", "so far", "third", "third answer", "second", "second answer"]
    assert program.provider.closed_early == 1


async def test_stop_takes_back_that_a_message_is_to_be_sent_now(program: Program) -> None:
    chat, _hold = await streaming(program)
    message = await chat.queue("second")
    await chat.change_queue(SendQueuedNow(message))
    assert chat.state.is_active, "what came is still being kept"
    await chat.stop()
    assert chat.texts() == ["first", ""]
    assert (chat.waiting, chat.pause) == (["second"], Pause.STOPPED)


async def test_send_now_works_while_the_queue_waits_for_the_person(program: Program) -> None:
    chat, _hold = await streaming(program)
    second = await chat.queue("second")
    await chat.queue("third")
    await program.restart()
    await program.manager.open_chat(chat.session)
    program.provider.play(reply("ok"))
    await chat.change_queue(SendQueuedNow(second))
    await until(lambda: chat.waiting == ["third"])
    await chat.idle()
    assert chat.texts() == ["first", "", "second", "ok"]
    assert Pause.RESTART is chat.pause


async def test_a_disk_that_refuses_keeps_the_message_out_and_says_so(program: Program) -> None:
    chat, hold = await streaming(program)
    await chat.queue("second")
    with refusing(chat.files.queue):
        outcome = await program.manager.enqueue(chat.session, UserInput("x", "third"), When.AFTER_TURN)
    assert isinstance(outcome, Refused)
    assert "can't be saved" in outcome.reason
    assert ["second"] == chat.waiting == chat.queued_on_disk()
    program.provider.play(reply("ok"))
    hold.release()
    await chat.idle()


async def test_the_same_message_is_queued_once(program: Program) -> None:
    chat, hold = await streaming(program)
    message = UserInput("same", "second")
    for _ in range(2):
        outcome = await program.manager.enqueue(chat.session, message, When.AFTER_TURN)
        assert Accepted(is_queued=True) == outcome
    assert chat.waiting == ["second"]
    program.provider.play(reply("ok"))
    hold.release()
    await chat.idle()
    assert chat.texts() == ["first", "first answer", "second", "ok"]


async def test_nobody_queues_without_end(program: Program) -> None:
    chat, hold = await streaming(program)
    for number in range(MAX_MESSAGES):
        await chat.queue(str(number))
    outcome = await program.manager.enqueue(chat.session, UserInput("x", "one more"), When.AFTER_TURN)
    assert isinstance(outcome, Refused)
    await chat.stop()
    hold.release()


async def test_a_message_that_can_not_be_sent_goes_on_waiting_and_says_why(program: Program) -> None:
    chat, hold = await streaming(program)
    await chat.queue("second")
    with refusing(chat.files.chat):
        hold.release()
        await chat.idle()
    assert ["second"] == chat.waiting == chat.queued_on_disk()
    opened = await program.manager.open_chat(chat.session)
    assert Pause.ERROR is opened.queue.pause

    with refusing(chat.files.chat):
        await chat.change_queue(GoOnWithQueue())
        await chat.idle()
    opened = await program.manager.open_chat(chat.session)
    assert "can't be" in opened.queue.reason
    # It waits as any other.
    (message,) = opened.queue.messages
    assert await chat.change_queue(EditQueued(message.id, text="second")) is not None

    program.provider.play(reply("ok"))
    await chat.change_queue(GoOnWithQueue())
    await until(lambda: chat.waiting == [])
    await chat.idle()
    assert chat.texts() == ["first", "first answer", "second", "ok"]


@pytest.mark.parametrize("when", list(When))
async def test_nothing_is_sent_by_a_chat_that_closes(program: Program, when: When) -> None:
    chat, _hold = await streaming(program)
    await chat.queue("second", when)
    await program.manager.close()
    assert chat.texts() == ["first", ""]
    assert chat.queued_on_disk() == ["second"]


async def test_a_message_that_is_in_the_chat_already_is_not_said_again(program: Program) -> None:
    chat, hold = await streaming(program)
    (first,) = chat.rows()
    outcome = await program.manager.enqueue(chat.session, UserInput(first.id, "first"), When.AFTER_TURN)
    assert Accepted(is_queued=True) == outcome
    await chat.queue("second")
    program.provider.play(reply("ok"))
    hold.release()
    await until(lambda: chat.waiting == [])
    await chat.idle()
    assert chat.texts() == ["first", "first answer", "second", "ok"]


async def test_a_message_that_is_sent_while_others_are_written_down_does_not_come_back(tmp_path: Path) -> None:
    queue = MessageQueue(ChatFiles(tmp_path), lambda _view: None)
    await queue.add(QueuedMessage("a", "a"))
    await queue.add(QueuedMessage("b", "b"))
    taken = await queue.take()
    assert taken is not None

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(queue.change(EditQueued("b", text="b!")))
        await asyncio.sleep(0)
        queue.forget({taken.id})

    assert [message.text for message in queue.view.messages] == ["b!"]


async def test_a_message_whose_row_was_cut_off_since_is_dropped_at_open_too(program: Program) -> None:
    chat, hold = await streaming(program)
    program.provider.play(reply("ok"), reply("changed"))
    await chat.queue("second")
    on_disk = chat.files.queue.read_bytes()
    hold.release()
    await chat.idle()
    await chat.edit(chat.rows()[2].id, "second!")
    await program.manager.close()
    chat.files.queue.write_bytes(on_disk)
    await program.restart()
    opened = await program.manager.open_chat(chat.session)
    assert opened.queue.messages == ()


def test_rows_from_long_ago_are_found_too(tmp_path: Path) -> None:
    files = ChatFiles(tmp_path)
    store = Store(files, session="s")
    for at in range(0, 1_200, 200):
        rows = [Row(id=f"row {number}", session="s", role="user") for number in range(at, at + 200)]
        store.append(rows, expected_last_seq=at)
    assert ids_among(files, HistoryReader(files), {"row 0", "row 1199", "row 1200"}) == {"row 0", "row 1199"}
