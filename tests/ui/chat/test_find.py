"""Find in chat, over the whole history of a chat, in a real window."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.providers.base import TextPiece
from app.ui.chat.find_controller import FindController
from app.ui.chat.find_search import MOST_HITS
from app.ui.chat.transcript_model import RowKind
from app.ui.theme import load_theme
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk
from tests.ui.long_chats import LongChat, on_screen, row_id, transcript

FAR = 5_000
SHIFT = Qt.KeyboardModifier.ShiftModifier


def text_with(word: str, *numbers: int) -> dict[int, str]:
    return dict.fromkeys(numbers, f"Here is a {word} among words.\n\n" + "and some more to read " * 20)


def chat_with(desk: Desk, texts: dict[int, str], count: int = FAR) -> LongChat:
    chat = LongChat(desk, count, lambda number: texts.get(number, f"Message {number}\n\n" + "filling words " * 20))
    chat.open()
    return chat


class Finder:
    """Uses the bar as a person would."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        desk.window.actions_.find.trigger()

    @property
    def find(self) -> FindController:
        found = self.desk.window.findChild(FindController)
        assert isinstance(found, FindController)
        return found

    def look_for(self, text: str) -> None:
        """Type over what stands in the field and wait until all has been searched."""
        self.find.bar.field.selectAll()
        QTest.keyClicks(self.find.bar.field, text)
        self.desk.until(lambda: self.find.search.text == text)
        self.settle()

    def settle(self) -> None:
        self.desk.until(lambda: not self.find.search.is_running)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.find.bar.field, key, modifiers)

    def go(self, *, back: bool = False) -> None:
        """Go on and wait until the place is on screen."""
        self.find.bar.field.setFocus()
        self.press(Qt.Key.Key_Return, SHIFT if back else Qt.KeyboardModifier.NoModifier)
        self.desk.until(self.find._marks.is_in_view)

    @property
    def count(self) -> str:
        return self.find.bar.count.text()

    @property
    def note(self) -> str:
        return self.find.bar.note.text() if self.find.bar.note.isVisible() else ""

    def meant(self) -> str:
        """Return the item in which the place stands that is meant."""
        finding = transcript(self.desk).rows.look.finding
        assert finding is not None
        node = transcript(self.desk).model.node_of_order(finding.item)
        return "" if node is None else node.item.id

    def meant_text(self) -> str:
        """Return the words that are coloured most."""
        view = transcript(self.desk)
        finding = view.rows.look.finding
        assert finding is not None
        assert finding.key is not None
        node = view.model.node_of_order(finding.item)
        assert node is not None
        return view.on_screen.text(node, node.row_at_key(finding.key), *finding.span)


def test_what_is_not_loaded_is_found_counted_and_gone_to(desk: Desk) -> None:
    chat = chat_with(desk, text_with("Quokka", 7, 2_500, 4_900))
    finder = Finder(desk)
    assert finder.find.bar.field.hasFocus() or not desk.window.isActiveWindow()
    finder.look_for("quokka")
    # The nearest that is loaded is meant at once.
    desk.until(finder.find._marks.is_in_view)
    assert (finder.count, finder.meant(), finder.meant_text()) == ("3 of 3", row_id(4_900), "Quokka")

    finder.go(back=True)
    desk.until(lambda: finder.meant() == row_id(2_500))
    assert finder.count == "2 of 3"
    finder.go(back=True)
    desk.until(lambda: finder.meant() == row_id(7))
    assert finder.count == "1 of 3"
    assert row_id(7) in on_screen(desk)
    assert not desk.window.controller.pager.reaches_end
    assert len(chat.offsets) == FAR


def test_it_goes_round_and_says_so(desk: Desk) -> None:
    chat_with(desk, text_with("quokka", 7, 4_990))
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(lambda: finder.count == "2 of 2")
    desk.until(finder.find._marks.is_in_view)
    finder.go()
    desk.until(lambda: finder.meant() == row_id(7))
    assert (finder.count, finder.note) == ("1 of 2", "Continued from the beginning")
    finder.go(back=True)
    desk.until(lambda: finder.meant() == row_id(4_990))
    assert (finder.count, finder.note) == ("2 of 2", "Continued from the end")
    finder.go(back=True)
    desk.until(lambda: finder.meant() == row_id(7))
    assert finder.note == ""


def test_nothing_is_found(desk: Desk) -> None:
    chat_with(desk, {}, 30)
    finder = Finder(desk)
    finder.look_for("wombat")
    assert finder.count == "Not found"
    assert not finder.find.bar.next.isEnabled()
    finder.press(Qt.Key.Key_Return)
    assert finder.count == "Not found"
    finder.find.bar.field.clear()
    desk.until(lambda: finder.count == "")


def test_one_goes_on_from_where_one_reads(desk: Desk) -> None:
    chat = chat_with(desk, text_with("quokka", *range(0, 400, 20)), 400)
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.window.show_message(chat.session, row_id(110), chat.offsets[110])
    finder.go()
    assert finder.meant() == row_id(120)
    desk.window.show_message(chat.session, row_id(230), chat.offsets[230])
    finder.go(back=True)
    assert finder.meant() == row_id(220)
    finder.go(back=True)
    assert finder.meant() == row_id(200)


def test_each_place_of_a_long_message_is_gone_to(desk: Desk) -> None:
    paragraphs = [f"Paragraph {number} has a quokka and **another quokka** in it." for number in range(60)]
    chat_with(desk, {11: "\n\n".join(paragraphs)}, 12)
    finder = Finder(desk)
    finder.look_for("quokka")
    transcript(desk).scroll_to_item(row_id(11))
    finder.find._current = None
    seen = []
    for number in range(1, 121):
        finder.go()
        assert finder.count == f"{number} of 120"
        assert finder.meant_text() == "quokka"
        rect = finder.find._marks.rect()
        assert rect is not None
        assert 0 <= rect.top() < rect.bottom() <= transcript(desk).viewport().height()
        finding = transcript(desk).rows.look.finding
        assert finding is not None
        assert finding.key is not None
        seen.append((finding.key.block, finding.span))
    assert len(set(seen)) == 120
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    "text",
    [
        "```python\n" + "x = 1  # padding\n" * 10 + "z" * 300 + " quokka\n```",
        "| a | b |\n|---|---|\n" + "| one | two |\n" * 5 + "| three | the quokka |",
        "- one\n- two\n  - a quokka\n\n> quoted",
        "A smile 😀😀 and a quokka, see <https://quokka.example/>",
    ],
    ids=["code", "table", "list", "beyond 16 bits"],
)
def test_places_in_code_tables_and_lists(desk: Desk, text: str) -> None:
    chat_with(desk, {5: text}, 6)
    finder = Finder(desk)
    finder.look_for("quokka")
    finder.find._current = None
    transcript(desk).scroll_to_item(row_id(4))
    finder.go()
    assert finder.meant_text() == "quokka"
    rect = finder.find._marks.rect()
    assert rect is not None
    assert 0 <= rect.left() < rect.right() <= transcript(desk).viewport().width()


def test_a_place_that_is_not_shown_has_its_message_marked(desk: Desk) -> None:
    long = "\n\n".join(f"Paragraph {number}." for number in range(80))
    chat_with(desk, {11: f"{long}\n\nSee [here](https://quokka.example/).\n\n{long} Quokka"}, 12)
    finder = Finder(desk)
    finder.look_for("quokka")
    view = transcript(desk)
    finder.go(back=True)
    desk.until(lambda: view.rows.look.marked == view.nodes[11].order)
    assert finder.count == "1 of 2"
    shown = [view.on_screen.text(each.node, each.row, 0, 1_000) for each in view.flow.placed]
    assert "See here." in shown
    # It is where it was found: nothing is searched anew.
    assert finder.note == ""
    finder.go()
    assert (finder.count, finder.meant_text()) == ("2 of 2", "Quokka")


def test_case_is_taken_as_the_search_takes_it(desk: Desk) -> None:
    # The Kelvin sign is a k, a long s an s; ß is not ss.
    chat_with(desk, {2: "Ku\u212aoka and MA\u017fSE, Maße"}, 6)
    finder = Finder(desk)
    finder.look_for("kuk")
    desk.until(finder.find._marks.is_in_view)
    assert (finder.count, finder.meant_text()) == ("1 of 1", "Ku\u212a")
    finder.look_for("masse")
    desk.until(finder.find._marks.is_in_view)
    assert (finder.count, finder.meant_text()) == ("1 of 1", "MA\u017fSE")


def test_reasoning_is_not_counted_and_stays_folded(desk: Desk) -> None:
    desk.provider.play(reply("An answer with a quokka.", reasoning="A quokka? A quokka!"))
    desk.say("tell me")
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(finder.find._marks.is_in_view)
    assert finder.count == "1 of 1"
    assert finder.meant_text() == "quokka"
    assert all(node.unfolded == set() for node in transcript(desk).nodes)


def test_a_place_in_a_folded_tool_card_unfolds_it(desk: Desk) -> None:
    chat = LongChat(desk, 40)
    chat.add_call({"first": "no bird", "second": "a quokka is none, says the quokka"})
    chat.open()
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(finder.find._marks.is_in_view)
    assert (finder.count, finder.meant(), finder.meant_text()) == ("1 of 2", row_id(40), "quokka")
    assert transcript(desk).nodes[-1].unfolded == {1}
    finder.go()
    assert (finder.count, finder.meant_text()) == ("2 of 2", "quokka")


def test_a_place_further_down_in_the_result_of_a_call_is_shown_too(desk: Desk) -> None:
    lines = [f"line {number} of a log" for number in range(2_000)]
    lines[60] += " with a quokka"
    lines[1_900] += " with a quokka"
    chat = LongChat(desk, 40)
    chat.add_call("\n".join(lines))
    chat.open()
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(finder.find._marks.is_in_view)
    assert (finder.count, finder.meant_text()) == ("1 of 2", "quokka")
    # The second stands where no card shows it: the card is what there is to see, and it is open.
    finder.go()
    assert finder.count == "2 of 2"
    assert on_screen(desk)[-1] == row_id(40)


def test_a_call_that_can_only_be_shown_as_a_whole_is_open_on_screen_at_once(desk: Desk) -> None:
    chat = LongChat(desk, 2, lambda number: f"Message {number}: a quokka")
    chat.add_call("\n".join([f"line {number} of a log" for number in range(2_000)] + ["a quokka"]))
    chat.open()
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(finder.find._marks.is_in_view)
    assert finder.count == "1 of 3"
    finder.go()
    finder.go()
    desk.until(lambda: finder.count == "3 of 3")
    view = transcript(desk)
    last = view.nodes[-1]
    assert last.unfolded == {1}
    rows = {last.rows[placed.row].kind for placed in view.flow.placed if placed.node is last}
    assert RowKind.BLOCK in rows, "what was unfolded is laid out"
    assert len([placed for placed in view.flow.placed if placed.node is last]) > 4


def test_much_that_is_found_is_counted_so_far(desk: Desk) -> None:
    chat_with(desk, dict.fromkeys(range(0, 300, 2), "quokka " * 90), 301)
    finder = Finder(desk)
    finder.look_for("quokka")
    assert finder.count.replace(",", "").endswith(" of 10000+")
    assert len(finder.find.search.hits) == MOST_HITS
    finder.go(back=True)
    assert finder.meant_text() == "quokka"


def test_what_is_not_searched_is_named(desk: Desk) -> None:
    chat = LongChat(desk, 40)
    with chat.files.chat.open("ab") as file:
        file.write(b'{"id": "x", "parts": [{"type": "text", "text": "' + b"quokka " * 200_000 + b'"}]}\n')
    chat.open()
    finder = Finder(desk)
    finder.look_for("quokka")
    assert (finder.count, finder.note) == ("Not found", "Not searched: 1 entry that is too long")


def test_new_messages_are_searched_as_they_come(desk: Desk) -> None:
    chat_with(desk, text_with("quokka", 1), 40)
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(lambda: finder.count in {"1 of 1", "1 found"})
    desk.provider.play(reply("Two more: quokka, quokka."))
    desk.say("any quokka?")
    desk.until(lambda: len(finder.find.search.hits) == 4)
    assert finder.count.endswith(("of 4", "4 found"))


def test_it_begins_again_when_the_history_is_rewritten(desk: Desk) -> None:
    texts = text_with("quokka", 3, 1_000)
    chat = chat_with(desk, texts)
    finder = Finder(desk)
    finder.look_for("quokka")
    finder.find._current = None
    assert len(finder.find.search.hits) == 2
    chat.write(4_000, lambda number: text_with("quokka", 3_000).get(number, "nothing of it here"))
    finder.find.go_next()
    desk.until(lambda: len(finder.find.search.hits) == 1)
    assert finder.note == "The chat was changed elsewhere; it is searched again."
    finder.go()
    desk.until(lambda: finder.meant() == row_id(3_000))
    finder.settle()
    assert finder.count == "1 of 1"


def test_typing_on_gives_up_what_was_looked_for(desk: Desk) -> None:
    chat_with(desk, text_with("quokka", 3, 4_990) | text_with("quoll", 4, 4_991))
    finder = Finder(desk)
    field = finder.find.bar.field
    QTest.keyClicks(field, "quo")
    desk.until(lambda: finder.find.search.text == "quo")
    QTest.keyClicks(field, "ll")
    desk.until(lambda: finder.find.search.text == "quoll" and not finder.find.search.is_running)
    assert [hit.row_id for hit in finder.find.search.hits] == [row_id(4), row_id(4_991)]
    desk.until(finder.find._marks.is_in_view)
    assert finder.meant_text() == "quoll"


def test_enter_does_not_wait_for_a_pause(desk: Desk) -> None:
    chat_with(desk, text_with("quokka", 3), 300)
    finder = Finder(desk)
    QTest.keyClicks(finder.find.bar.field, "quokka")
    finder.go()
    assert finder.meant() == row_id(3)


def test_escape_closes_it_and_the_last_text_is_kept(desk: Desk) -> None:
    hold = Hold()
    chat_with(desk, text_with("quokka", 3), 30)
    desk.provider.play([TextPiece("running "), hold, *reply("on")])
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    finder = Finder(desk)
    finder.look_for("quokka")
    # With a reply running, Esc in the bar closes the bar and stops nothing.
    finder.press(Qt.Key.Key_Escape)
    assert finder.find.bar.isHidden()
    assert transcript(desk).rows.look.finding is None
    assert desk.window.controller.is_streaming
    hold.release()
    desk.until(lambda: not desk.window.controller.is_streaming)
    desk.window.actions_.find_next.trigger()
    assert not finder.find.bar.isHidden()
    assert finder.find.bar.field.text() == "quokka"
    desk.until(lambda: finder.count == "1 of 1")
    # So it does with the focus in the transcript.
    transcript(desk).setFocus()
    QTest.keyClick(transcript(desk), Qt.Key.Key_Escape)
    assert finder.find.bar.isHidden()


def test_what_is_selected_is_looked_for(desk: Desk) -> None:
    chat_with(desk, {5: "quokka", 3: "a quokka and\n\nmore"}, 6)
    view = transcript(desk)
    placed = next(
        each for each in view.flow.placed if each.node is view.nodes[5] and each.node.rows[each.row].block is not None
    )
    frame = view.rows.frame(placed.node, placed.row)
    place = view.on_screen.place_at(QPointF(frame.x + 5, placed.y + frame.above + 8))
    assert place is not None
    view.selection.select(*view.on_screen.word_at(place))
    finder = Finder(desk)
    finder.settle()
    assert finder.find.search.text == "quokka"
    desk.until(lambda: finder.count == "2 of 2")
    assert finder.meant() == row_id(5)
    # All of a chat is nothing to look for.
    view.select_all()
    desk.window.actions_.find.trigger()
    assert finder.find.search.text == "quokka"


def test_another_chat_is_searched_when_it_is_opened(desk: Desk) -> None:
    other = LongChat(desk, 30, lambda number: "quokka" if number < 4 else "filling")
    chat_with(desk, text_with("quokka", 3), 30)
    finder = Finder(desk)
    finder.look_for("quokka")
    assert len(finder.find.search.hits) == 1
    other.open()
    desk.until(lambda: len(finder.find.search.hits) == 4)


def test_it_speaks_and_can_be_used_without_a_mouse(desk: Desk) -> None:
    chat_with(desk, text_with("quokka", 3), 30)
    finder = Finder(desk)
    bar = finder.find.bar
    controls = (bar.field, bar.previous, bar.next, bar.shut)
    assert all(control.accessibleName() for control in controls)
    finder.look_for("quokka")
    if desk.window.isActiveWindow():
        for control in controls[1:]:
            focused = QApplication.focusWidget()
            assert focused is not None
            QTest.keyClick(focused, Qt.Key.Key_Tab)
            assert QApplication.focusWidget() is control


def test_its_keys_are_those_people_know(desk: Desk) -> None:
    def keys(action: QAction) -> set[str]:
        return {shortcut.toString() for shortcut in action.shortcuts()}

    actions = desk.window.actions_
    assert "Ctrl+F" in keys(actions.find)
    assert {"F3", "Ctrl+G"} <= keys(actions.find_next)
    assert "Shift+F3" in keys(actions.find_previous)
    assert not actions.find.isEnabled()


@pytest.mark.parametrize("width", [360, 1_000])
def test_it_fits_any_width(desk: Desk, width: int) -> None:
    chat_with(desk, text_with("quokka", *range(30)), 30)
    desk.window.resize(width, 600)
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(lambda: finder.count == "30 of 30" or " of 30" in finder.count)
    bar = finder.find.bar
    for control in (bar.field, bar.count, bar.previous, bar.next, bar.shut):
        assert control.isVisible()
        assert bar.rect().contains(control.geometry())
        assert control.width() >= control.minimumSizeHint().width() - 1


def colours_of(desk: Desk) -> set[int]:
    """Return every colour that is painted in the transcript."""
    image = transcript(desk).viewport().grab().toImage().convertToFormat(QImage.Format.Format_ARGB32)
    return set(memoryview(image.constBits()).cast("I"))


@pytest.mark.parametrize("dark", [False, True])
def test_places_are_painted_and_the_one_that_is_meant_more_so(desk: Desk, *, dark: bool) -> None:
    chat_with(desk, {4: "a quokka and a quokka " * 9, 5: "```\nquokka()\n```"}, 6)
    view = transcript(desk)
    view.set_theme(load_theme(dark=dark))
    finder = Finder(desk)
    finder.look_for("quokka")
    desk.until(finder.find._marks.is_in_view)
    assert {view.theme.found.rgb(), view.theme.found_here.rgb()} <= colours_of(desk)
    # What is found all over the place lies below the text.
    finder.look_for("u")
    assert {view.theme.found_below.rgb(), view.theme.found_here.rgb()} <= colours_of(desk)
    finder.press(Qt.Key.Key_Escape)
    assert not {view.theme.found.rgb(), view.theme.found_here.rgb()} & colours_of(desk)


def test_quitting_in_the_middle_of_a_search_leaves_nothing_behind(desk: Desk) -> None:
    chat_with(desk, text_with("quokka", 3), 20_000)
    finder = Finder(desk)
    QTest.keyClicks(finder.find.bar.field, "quokka")
    desk.until(lambda: finder.find.search.total_bytes > 0)
    assert finder.find.search.is_running
    desk.close()
    assert desk.failures == []
