"""Versions in the transcript: which one is shown, going back and forth, and what follows when rows are cut off."""

import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt

from app.domain.ids import new_id
from app.history.branches import Branches
from app.history.files import ChatFiles
from app.history.store import Store
from app.session.inputs import EditMessage, Regenerate, UserInput
from app.ui.chat.deeds import Deed, VersionMark
from app.ui.chat.transcript_model import RowKind
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.ui.chat.messages import (
    button,
    click,
    marked,
    marks,
    messages,
    press,
    reaches_end,
    settled,
    shown_ids,
    texts,
    view,
)
from tests.ui.conftest import Desk
from tests.ui.long_chats import LongChat, row_id, tops, words


def edited(desk: Desk) -> None:
    """Have a chat whose second message was changed once."""
    desk.provider.play(reply("one"), reply("two"), reply("two!"))
    desk.say("a")
    desk.say("b")
    messages(desk).edit_last()
    desk.type("!")
    desk.press(Qt.Key.Key_Return)
    settled(desk, "a", "one", "b!", "two!")
    marked(desk, **{"b!": (2, 2)})


def ask(desk: Desk, item: EditMessage | Regenerate) -> None:
    """Have the engine do something, as another part of the program would."""
    work = desk.program.bridge.send(desk.session, item)
    desk.program.tasks.spawn(work, name="ask")


def test_one_goes_back_and_forth_by_clicks(desk: Desk) -> None:
    edited(desk)
    click(desk, desk.rows()[2], Deed.PREVIOUS)
    settled(desk, "a", "one", "b", "two")
    marked(desk, b=(1, 2))
    click(desk, desk.rows()[2], Deed.NEXT)
    settled(desk, "a", "one", "b!", "two!")
    marked(desk, **{"b!": (2, 2)})


def test_one_goes_back_and_forth_by_the_keyboard_and_stays_on_the_buttons(desk: Desk) -> None:
    edited(desk)
    view(desk).setFocus(Qt.FocusReason.TabFocusReason)
    while view(desk).focused_item != desk.rows()[2].id:
        press(desk, Qt.Key.Key_Tab)
    press(desk, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    settled(desk, "a", "one", "b", "two")
    marked(desk, b=(1, 2))
    desk.until(lambda: view(desk).focused_item == desk.rows()[2].id)
    press(desk, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    settled(desk, "a", "one", "b!", "two!")
    desk.until(lambda: view(desk).focused_item == desk.rows()[2].id)


def test_the_buttons_say_which_version_it_is_and_where_it_ends(desk: Desk) -> None:
    edited(desk)
    row = desk.rows()[2]
    assert button(desk, row, Deed.PREVIOUS).name == "Version 2 of 2: Previous version"
    assert button(desk, row, Deed.NEXT).name == "Version 2 of 2: Next version. This is the newest version."
    click(desk, row, Deed.NEXT)
    assert texts(desk) == ["a", "one", "b!", "two!"]


def test_a_screen_reader_is_told_which_version_it_is(desk: Desk) -> None:
    edited(desk)
    assert "b!\nVersion 2 of 2" in desk.spoken()


def test_every_answer_is_a_version_of_its_own(desk: Desk) -> None:
    desk.provider.play(reply("one"), reply("two"), reply("three"))
    desk.say("a")
    for answer in ("two", "three"):
        messages(desk).answer_again()
        settled(desk, "a", answer)
    marked(desk, three=(3, 3))
    click(desk, desk.rows()[1], Deed.PREVIOUS)
    settled(desk, "a", "two")
    marked(desk, two=(2, 3))


def test_versions_are_there_when_the_chat_is_opened_again(desk: Desk) -> None:
    edited(desk)
    desk.restart()
    marked(desk, **{"b!": (2, 2)})
    click(desk, desk.rows()[2], Deed.PREVIOUS)
    settled(desk, "a", "one", "b", "two")


def test_a_fresh_start_takes_the_versions_away(desk: Desk) -> None:
    edited(desk)
    desk.window.controller.reset_context()
    desk.until(lambda: not marks(desk))


def test_no_version_can_be_chosen_while_a_reply_runs(desk: Desk) -> None:
    edited(desk)
    hold = Hold()
    desk.provider.play([hold, *reply("three")])
    desk.type("c")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: desk.window.controller.is_streaming)
    assert button(desk, desk.rows()[2], Deed.PREVIOUS).name.endswith("Stop the reply first.")
    click(desk, desk.rows()[2], Deed.PREVIOUS)
    hold.release()
    settled(desk, "a", "one", "b!", "two!", "c", "three")


def test_an_answer_that_was_stopped_before_a_word_can_be_gone_back_from(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    hold = Hold()
    desk.provider.play([hold])
    messages(desk).answer_again()
    desk.reached(hold)
    desk.window.controller.stop()
    desk.until(lambda: not desk.window.controller.is_streaming)
    desk.until(lambda: len(marks(desk)) == 1)
    (item,) = view(desk).rows.bars.look.marks
    desk.until(lambda: view(desk).model.node(item) is not None)
    click(desk, item, Deed.PREVIOUS)
    settled(desk, "a", "one")


def test_where_a_version_has_nothing_to_show_the_notice_says_which_it_is(desk: Desk) -> None:
    desk.provider.play(reply("one"))
    desk.say("a")
    chat, (asked, answer) = desk.session, desk.rows()
    desk.close()
    # As a crash right after the cut leaves it.
    files = ChatFiles(desk.root / "sessions" / chat)
    files.lease.take()
    store = Store(files, session=chat, new_id=new_id)
    store.repair()
    Branches(files, store).cut(asked.id, "regenerate", expected_last_seq=answer.seq or 0)
    files.lease.release()
    desk.program = desk._start()
    notice = f"open-{asked.id}"
    desk.until(lambda: view(desk).model.node(notice) is not None)
    assert button(desk, notice, Deed.PREVIOUS).name == "Version 2 of 2: Previous version"
    click(desk, notice, Deed.PREVIOUS)
    settled(desk, "a", "one")
    desk.until(lambda: view(desk).model.node(notice) is None)


def test_the_versions_of_a_reply_of_several_steps_stand_below_its_last_step(desk: Desk) -> None:
    desk.tools.append(ScriptedTool("look"))
    desk.provider.play(reply("one"), calls(("look", {}), text="I look."), reply("Found it."))
    desk.say("a")
    messages(desk).answer_again()
    desk.until(lambda: len(desk.rows()) == 3)
    desk.idle()
    first, last = desk.rows()[1:]
    desk.until(lambda: len(marks(desk)) == 1)
    assert button(desk, last, Deed.PREVIOUS).name == "Version 2 of 2: Previous version"
    assert not any(row.kind is RowKind.BAR for row in view(desk).nodes[1].rows)
    click(desk, first, Deed.PREVIOUS)
    settled(desk, "a", "one")


# Rows that are cut off


def test_going_to_another_version_keeps_the_place_of_the_reader(desk: Desk) -> None:
    chat = LongChat(desk, 60)
    chat.open()
    desk.provider.play(reply(words(100)))
    ask(desk, EditMessage(row_id(40), UserInput("new", words(99))))
    desk.until(lambda: len(chat.rows()) == 42)
    desk.idle()
    desk.until(lambda: len(marks(desk)) == 1)
    button(desk, "new", Deed.PREVIOUS)
    before = tops(desk)["new"]
    click(desk, "new", Deed.PREVIOUS)
    desk.until(lambda: row_id(59) in shown_ids(desk))
    desk.idle()
    assert abs(tops(desk)[row_id(40)] - max(0, before)) <= 2


def test_rows_that_are_cut_off_above_what_is_loaded_are_gone_from_the_transcript(desk: Desk) -> None:
    chat = LongChat(desk, 2_000)
    chat.open()
    pager = desk.window.controller.pager
    assert row_id(10) not in pager.shown
    desk.provider.play(reply("fresh"))
    ask(desk, EditMessage(row_id(10), UserInput("new", "changed")))
    desk.until(lambda: len(chat.rows()) == 12)
    desk.idle()
    desk.until(lambda: shown_ids(desk)[-2:] == [row.id for row in chat.rows()[-2:]])
    assert set(shown_ids(desk)) <= {row.id for row in chat.rows()}
    assert len(view(desk).nodes) <= 12
    assert reaches_end(desk)


def test_rows_that_are_cut_off_below_what_is_loaded_are_not_waited_for(desk: Desk) -> None:
    chat = LongChat(desk, 2_000)
    chat.open()
    chat.show(10)
    assert not reaches_end(desk)
    desk.provider.play(reply("fresh"))
    ask(desk, EditMessage(row_id(1980), UserInput("new", "changed")))
    desk.until(lambda: len(chat.rows()) == 1982)
    desk.idle()
    desk.until(lambda: chat.rows()[-1].id in shown_ids(desk))
    assert reaches_end(desk)


def test_a_place_that_was_cut_off_is_said_to_be_gone(desk: Desk) -> None:
    chat = LongChat(desk, 60)
    chat.open()
    desk.provider.play(reply("fresh"))
    ask(desk, EditMessage(row_id(40), UserInput("new", "changed")))
    desk.until(lambda: len(chat.rows()) == 42)
    desk.idle()
    desk.window.show_message(chat.session, row_id(50), chat.offsets[50])
    toast = desk.window.toast
    desk.until(toast.isVisible)
    assert "not there any more" in toast._text.text()


def test_what_is_looked_for_is_looked_for_in_the_version_that_is_shown(desk: Desk) -> None:
    desk.provider.play(reply("a pear"), reply("an apple and an apple"))
    desk.say("a")
    desk.window.find_in_chat("apple")
    find = desk.window._find
    assert find is not None
    desk.until(lambda: not find.search.is_running)
    assert find.search.hits == []
    messages(desk).answer_again()
    settled(desk, "a", "an apple and an apple")
    desk.until(lambda: len(find.search.hits) == 2)
    click(desk, desk.rows()[1], Deed.PREVIOUS)
    settled(desk, "a", "a pear")
    desk.until(lambda: not find.search.is_running and find.search.hits == [])


def test_a_selection_of_what_is_cut_off_ends(desk: Desk) -> None:
    edited(desk)
    view(desk).select_all()
    click(desk, desk.rows()[2], Deed.PREVIOUS)
    settled(desk, "a", "one", "b", "two")
    assert not view(desk).has_selection()


def test_the_history_shows_the_version_that_is_the_chat(desk: Desk) -> None:
    edited(desk)
    history = desk.window.sides.show_history()

    def listed() -> list[str]:
        model = history._list.model()
        root = model.index(0, 0)
        return [str(model.index(at, 0, root).data()) for at in range(model.rowCount(root))]

    desk.until(lambda: any("two!" in text for text in listed()))
    click(desk, desk.rows()[2], Deed.PREVIOUS)
    settled(desk, "a", "one", "b", "two")
    desk.until(lambda: not any("two!" in text for text in listed()) and any("two" in text for text in listed()))


# Whatever is done


def shown(desk: Desk) -> tuple[list[tuple[str, str]], dict[str, VersionMark]]:
    """Return what the transcript says, and what it says of versions."""
    items = [(node.item.id, node.item.note) for node in view(desk).nodes]
    return items, dict(view(desk).rows.bars.look.marks)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_the_transcript_is_what_a_fresh_opening_shows(desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    desk.provider.play(*(reply(f"reply {number}") for number in range(100)))
    desk.say("message 0")
    number = 0

    def done(before: Callable[[], object]) -> None:
        was = before()
        desk.until(lambda: before() != was)
        desk.idle()
        desk.until(lambda: not desk.window.page.composer.field.isReadOnly())

    def ids() -> list[str]:
        return [row.id for row in desk.rows()]

    for _ in range(14):
        rows = desk.rows()
        known = {mark: item for item, mark in view(desk).rows.bars.look.marks.items()}
        number += 1
        match chance.choice(["say", "edit", "again", "switch", "switch"]):
            case "say":
                desk.say(f"message {number}")
            case "edit":
                click(desk, chance.choice([row for row in rows if row.role == "user"]), Deed.EDIT)
                desk.type(f" {number}")
                desk.press(Qt.Key.Key_Return)
                done(ids)
            case "again":
                click(desk, chance.choice([row for row in rows if row.role == "assistant"]), Deed.ANSWER_AGAIN)
                done(ids)
            case "switch" if known:
                mark, item = chance.choice(sorted(known.items(), key=lambda each: each[1]))
                deed = Deed.PREVIOUS if mark.number > 1 and (mark.number == mark.count or number % 2) else Deed.NEXT
                click(desk, item, deed)
                done(ids)
            case _:
                continue
        desk.until(lambda: shown_ids(desk) == ids())
    chat = desk.session
    # Events come in order: once this is heard, so are all that tell of versions.
    desk.window.chats.rename(chat, "All is heard")
    desk.until(lambda: "All is heard" in desk.titles())
    before = shown(desk)
    desk.window.chats.new()
    desk.until(lambda: desk.session not in ("", chat))
    desk.window.chats.open(chat)
    desk.until(lambda: desk.session == chat)
    assert before == shown(desk)
    assert shown_ids(desk) == ids()
