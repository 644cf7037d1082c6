"""Any message of a chat, however far back, and the way back to the latest."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible

from app.providers.base import TextPiece
from app.ui.chat.transcript_view import TranscriptView
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk
from tests.ui.long_chats import LongChat, at_top, on_screen, row_id, tops, transcript

FAR = 20_000


def scroll(view: TranscriptView, pixels: int) -> None:
    bar = view.verticalScrollBar()
    bar.setValue(bar.value() + pixels)


def test_the_first_of_many_messages_and_back(desk: Desk) -> None:
    chat = LongChat(desk, FAR)
    chat.open()
    view = transcript(desk)
    assert view.is_at_end()
    assert not view.jump_button.isVisible()

    chat.show(0)
    assert at_top(desk) == row_id(0)
    assert view.rows.look.marked == view.nodes[0].order
    assert view.hasFocus() or not desk.window.isActiveWindow()
    assert not view.is_at_end()
    assert view.jump_button.isVisible()
    assert len(view.nodes) < 1_000

    view.jump_button.click()
    desk.until(view.is_at_end)
    assert on_screen(desk)[-1] == row_id(FAR - 1)
    assert len(view.nodes) < 1_000


def test_jumping_again_and_again_keeps_only_one_stretch(desk: Desk) -> None:
    chat = LongChat(desk, FAR)
    chat.open()
    for number in (10, 15_000, 3_000, FAR - 1, 7_001):
        chat.show(number)
        assert len(transcript(desk).nodes) < 1_500
        assert desk.window.controller.pager.shown == {node.item.id for node in transcript(desk).nodes}


def test_a_message_that_is_loaded_is_shown_at_once(desk: Desk) -> None:
    chat = LongChat(desk, 200)
    chat.open()
    nodes = list(transcript(desk).nodes)
    desk.window.show_message(chat.session, row_id(120), chat.offsets[120])
    assert at_top(desk) == row_id(120)
    assert list(transcript(desk).nodes) == nodes


def test_pages_come_on_both_sides_and_move_nothing(desk: Desk) -> None:
    chat = LongChat(desk, 3_000)
    chat.open()
    chat.show(1_500)
    view = transcript(desk)
    pager = desk.window.controller.pager
    wanted: list[str] = []
    view.older_wanted.connect(lambda: wanted.append("older"))
    view.newer_wanted.connect(lambda: wanted.append("newer"))
    for side, pixels in (("older", -500), ("newer", 500), ("newer", 500), ("older", -500)):
        wanted.clear()
        while side not in wanted:
            scroll(view, pixels)
        edge, before = getattr(pager, side), tops(desk)
        desk.until(lambda side=side, edge=edge: getattr(pager, side) is not edge)  # type: ignore[misc]
        assert tops(desk) == before
    numbers = [int(node.item.id[1:]) for node in view.nodes]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_paging_forward_reaches_the_end_and_what_is_below_it(desk: Desk) -> None:
    chat = LongChat(desk, 1_001)
    chat.open()
    chat.show(300)
    view = transcript(desk)
    pager = desk.window.controller.pager
    assert pager.newer is not None

    def at_end() -> bool:
        view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
        return view.is_at_end()

    desk.until(at_end)
    assert pager.reaches_end
    # The last message never got a reply: what helps stands below it again.
    assert view.nodes[-1].item.id == f"open-{row_id(1_000)}"
    assert desk.window.controller.may_resume
    assert [node.item.id for node in view.nodes][-2] == row_id(1_000)


def test_a_hidden_row_is_shown_by_its_neighbour(desk: Desk) -> None:
    chat = LongChat(desk, 3_000, hidden=frozenset({1_000, 1_001}))
    chat.open()
    desk.window.show_message(chat.session, row_id(1_000), chat.offsets[1_000])
    desk.until(lambda: row_id(999) in on_screen(desk))
    assert at_top(desk) == row_id(999)


def test_a_row_that_is_gone_is_told_of(desk: Desk) -> None:
    chat = LongChat(desk, 3_000)
    chat.open()
    before = tops(desk)
    offset = chat.offsets[1_000]
    chat.write(500)
    told: list[str] = []
    desk.window.controller.failed.connect(told.append)
    desk.window.show_message(chat.session, row_id(1_000), offset)
    desk.until(lambda: bool(told))
    assert told == ["This message is not there any more: the chat's history was changed."]
    assert tops(desk) == before


def test_a_message_of_another_chat_is_shown_once_that_is_open(desk: Desk) -> None:
    first = LongChat(desk, 2_000)
    second = LongChat(desk, 2_000)
    first.open()
    second.show(5)
    assert desk.window.controller.session == second.session
    assert desk.window.chats.open_session == second.session
    # Whoever has gone on meanwhile is not called back.
    desk.window.show_message(first.session, row_id(5), first.offsets[5])
    second.open()
    first.open()
    assert transcript(desk).is_at_end()


def test_what_is_sent_goes_to_the_end_first(desk: Desk) -> None:
    chat = LongChat(desk, 5_000)
    chat.open()
    chat.show(10)
    desk.provider.play(reply("a fresh answer"))
    desk.say("a fresh question")
    desk.until(transcript(desk).is_at_end)
    desk.until(lambda: "a fresh answer" in desk.shown())
    assert [row.text for row in chat.rows()][-2:] == ["a fresh question", "a fresh answer"]
    assert [node.item.id for node in transcript(desk).nodes][-3] == row_id(4_999)
    assert desk.window.page.composer.text() == ""


def test_a_reply_goes_on_below_what_is_read(desk: Desk) -> None:
    chat = LongChat(desk, 5_000)
    chat.open()
    hold, last = Hold(), Hold()
    desk.provider.play([TextPiece("begun "), hold, TextPiece("went on "), last, *reply("ended")])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    view = transcript(desk)
    desk.until(lambda: view.nodes[-1].item.streaming)
    running = view.nodes[-1].item.id

    chat.show(10)
    before = tops(desk)
    hold.release()
    desk.reached(last)
    assert view.model.node(running) is None
    assert tops(desk) == before

    # At the end again it is shown with all it has said.
    view.scroll_to_end()
    desk.until(lambda: view.model.node(running) is not None)
    desk.until(lambda: "begun went on" in desk.shown())
    view.selection.clear()
    chat.show(10)
    last.release()
    desk.until(lambda: len(chat.rows()) == 5_002 and not desk.window.controller.is_streaming)
    assert "1" in view.jump_button.text()
    view.jump_button.click()
    desk.until(view.is_at_end)
    assert "begun went on ended" in desk.shown()


def test_a_selection_survives_what_comes_above_and_below(desk: Desk) -> None:
    chat = LongChat(desk, 3_000)
    chat.open()
    chat.show(1_500)
    view = transcript(desk)
    view.select_all()
    first, last = view.nodes[0].item.id, view.nodes[-1].item.id
    scroll(view, 20_000)
    pager = desk.window.controller.pager
    desk.until(lambda: len(pager.shown) > 300)
    assert view.has_selection()
    text = view.selected_text()
    assert f"Message {int(first[1:])}\n" in text
    assert f"Message {int(last[1:]) - 1}\n" in text


def test_a_screen_reader_is_told_where_the_reader_is(desk: Desk) -> None:
    chat = LongChat(desk, 3_000)
    chat.open()
    QAccessible.setActive(True)
    try:
        chat.show(1_001)
        interface = QAccessible.queryAccessibleInterface(transcript(desk))
        names = [
            child.text(QAccessible.Text.Name) for at in range(interface.childCount()) if (child := interface.child(at))
        ]
        assert any("Message 1001" in name for name in names)
    finally:
        QAccessible.setActive(False)
