"""The panel in each of its states, on a history that is played."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAccessible, QAction, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
)
from pytestqt.qtbot import QtBot

from app.domain.errors import HistoryChanged, StaleItem, StorageError
from app.domain.windows import HistoryItem, Skipped, ToolUse
from app.ui.history.entries import Floor, Note, Value
from app.ui.history.listing import MOST_ITEMS
from app.ui.history.panel import HistoryPanel
from app.ui.history.reading import MOST_CHARS, PIECE_CHARS
from app.ui.history.searching import PAUSE_AFTER
from app.ui.history.wording import number_text
from tests.fakes.history import PlayedHistory


class Hand:
    """Uses the panel as a person would."""

    def __init__(self, panel: HistoryPanel, qtbot: QtBot) -> None:
        self.panel = panel
        self.qtbot = qtbot

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=5_000)

    def open(self, session: str = "s") -> None:
        self.panel.show_chat(session)
        self.until(lambda: self.panel.listing.state.status in ("ready", "failed"))

    def status(self) -> str:
        return self.panel.status.text.text() if self.panel.status.isVisible() else ""

    def message(self) -> str:
        return self.panel._message.text() if self.panel._message.isVisible() else ""

    def listed(self, number: int = 0) -> list[str]:
        """Return what stands below a window: previews, and lines about the list in brackets."""
        children = self.panel._windows_model.groups[number].children
        return [
            f"[{child.text}]" if isinstance(child, Note) else child.preview if isinstance(child, HistoryItem) else ""
            for child in children
        ]

    def unfold(self, number: int = 0) -> None:
        model = self.panel._windows_model
        self.panel.windows.expand(model.index(number, 0))
        self.until(lambda: bool(self.listed(number)) and self.listed(number) != ["[Loading…]"])

    def scroll_to_end(self) -> None:
        """Scroll as far as there is something, once that is laid out."""
        self.panel.windows.executeDelayedItemsLayout()
        bar = self.panel.windows.verticalScrollBar()
        bar.setValue(bar.maximum())

    def choose(self, row: int, group: int = 0) -> None:
        tree = self.panel._list
        tree.setCurrentIndex(tree.model().index(row, 0, tree.model().index(group, 0)))

    def search(self, words: str) -> None:
        self.panel.search.field.setFocus()
        self.panel.search.field.setText(words)
        self.qtbot.keyClick(self.panel.search.field, Qt.Key.Key_Return)
        self.until(lambda: self.panel.searching.search.status != "running")

    def read(self) -> str:
        return self.panel.reader.text.toPlainText()

    def reading(self, words: str) -> None:
        self.until(lambda: words in self.read() and not self.panel.reading.is_busy)

    def menu(self, value: Value) -> dict[str, QAction]:
        """Return what the menu of an entry offers."""
        return {action.text(): action for action in self.panel.menu_of(value).actions() if action.text()}


@pytest.fixture
def hand(panel: HistoryPanel, qtbot: QtBot) -> Hand:
    return Hand(panel, qtbot)


_ITEM_MENU = ["Show in chat", "Copy", "Quote in your message", "Branch a new chat from here"]
_WINDOW_MENU = [
    "Read Window 1 as one text",
    "Export as Markdown…",
    "Export as JSON…",
    "Branch a new chat from its end",
]


def _say(played: PlayedHistory, count: int) -> None:
    """Fill an active window."""
    said = [("user" if number % 2 == 0 else "assistant", f"message {number}") for number in range(count)]
    played.add_window("first", said)


# States of the list


def test_an_empty_chat_says_that_it_is_empty(hand: Hand, played: PlayedHistory) -> None:
    assert "No chat is open" in hand.message()
    played.add_window("first", [])
    hand.open()
    assert "Nothing was said in this chat yet" in hand.message()
    assert hand.panel.timeline.isHidden()


def test_the_reading_of_the_history_is_told_while_it_lasts(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 2)
    played.indexing = [(40_000_000, 900_000_000)]
    seen: list[str] = []
    hand.panel.listing.changed.connect(lambda: seen.append(hand.status()))
    hand.open()
    assert any("Reading the history: 40 of 900\u00a0MB" in words for words in seen)
    assert hand.status() == "", "one window needs no words"


def test_what_cannot_be_read_is_told_and_tried_again(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 2)
    played.errors["windows"] = [StorageError("The disk says no.")]
    hand.open()
    assert hand.status() == "The disk says no."
    hand.qtbot.mouseClick(hand.panel.status.button, Qt.MouseButton.LeftButton)
    hand.until(lambda: hand.panel.listing.state.status == "ready")
    assert hand.status() == ""


def test_a_window_that_cannot_be_read_says_so_in_its_place(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 2)
    played.add_window("rollover", [("user", "hi")])
    hand.open()
    played.errors["items"] = [StorageError("The disk says no.")]
    hand.unfold()
    assert hand.listed() == ["[The disk says no. Click to try again.]"]
    hand.choose(0)
    hand.qtbot.keyClick(hand.panel.windows, Qt.Key.Key_Return)
    hand.until(lambda: hand.listed() == ["hi"])


def test_damaged_and_oversized_rows_are_named(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 2)
    played.skipped = Skipped(oversized=2, damaged=1)
    hand.open()
    hand.until(lambda: hand.listed()[:2] == ["message 0", "message 1"])
    assert hand.listed()[2:] == ["[Not listed: 1 damaged entry, 2 entries that are too long to read.]"]


def test_the_only_window_is_open_at_once_several_are_not(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 2)
    hand.open("one")
    hand.until(lambda: hand.listed() == ["message 0", "message 1"])
    played.add_window("rollover", [("user", "later")])
    hand.open("two")
    assert played.calls.count("items") == 1
    assert hand.status() == "2 windows, the newest first"


def test_the_floor_lies_between_what_the_agent_may_read_and_the_rest(hand: Hand, played: PlayedHistory) -> None:
    played.add_window("first", [("user", "one")], is_above_floor=True)
    played.add_window("rollover", [("user", "two")], is_above_floor=True)
    played.add_window("reset", [("user", "three")])
    played.add_window("rollover", [("user", "four")])
    hand.open()
    model = hand.panel._windows_model
    said = [str(model.data(model.index(row, 0))) for row in range(model.rowCount())]
    assert said[2] == "The agent can't look beyond this line. You can."
    assert [words.split(",")[0] for words in said[:2] + said[3:]] == ["Window 4", "Window 3", "Window 2", "Window 1"]
    assert hand.panel.timeline.isVisible()
    hand.panel.grab()


# Paging


def test_a_long_window_is_listed_page_by_page_and_memory_stays_bounded(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3 * MOST_ITEMS)
    hand.open()
    bar = hand.panel.windows.verticalScrollBar()
    asked = len(played.calls)
    hand.until(lambda: len(hand.listed()) == 101)
    assert len(played.calls) <= asked + 1, "what is not in view is not fetched"
    while not hand.listed()[-1].startswith(f"message {3 * MOST_ITEMS - 1}"):
        before = hand.listed()[-2]
        hand.scroll_to_end()
        hand.until(lambda before=before: hand.listed()[-2] != before)  # type: ignore[misc]
        assert len(hand.listed()) <= MOST_ITEMS + 2
    assert hand.listed()[0] == "[Loading earlier ones…]"
    top = hand.listed()[1]
    bar.setValue(0)
    hand.until(lambda: hand.listed()[1] != top)
    index = hand.panel.windows.indexAt(QPoint(4, 80))
    assert "message" in str(hand.panel._windows_model.data(index))
    assert bar.value() > 0, "what was in view stays there"


def test_new_messages_come_to_the_end_of_the_active_window(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 60)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 60)
    bar = hand.panel.windows.verticalScrollBar()
    hand.until(lambda: bar.maximum() > 400)
    bar.setValue(400)
    top = hand.panel.windows.indexAt(QPoint(4, 1))
    words = hand.panel._windows_model.data(top)
    played.add_item(played.windows[0].id, "user", "one more")
    played.windows[0] = replace(played.windows[0], rows=61)
    hand.panel.note_change("another chat")
    hand.panel.note_change("s")
    hand.until(lambda: hand.listed()[-1] == "one more")
    assert len(hand.listed()) == 61
    assert hand.panel._windows_model.data(hand.panel.windows.indexAt(QPoint(4, 1))) == words


def test_a_window_that_begins_stands_above_the_others(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 4)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 4)
    played.add_window("rollover", [("user", "fresh")])
    hand.panel.note_change("s")
    hand.until(lambda: len(hand.panel._windows_model.groups) == 2)
    assert len(hand.listed(1)) == 4, "what was open stays open"
    hand.unfold(0)
    assert hand.listed(0) == ["fresh"]


def test_a_history_that_was_rewritten_is_read_anew(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 250)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 101)
    played.errors["items"] = [HistoryChanged("It was rewritten.")]
    hand.scroll_to_end()
    hand.until(lambda: played.calls.count("windows") == 2 and len(hand.listed()) >= 101)
    assert hand.listed()[0] == "message 0"
    assert hand.panel.listing.state.status == "ready"


def test_a_history_that_never_holds_still_is_told(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    played.errors["items"] = [HistoryChanged("It was rewritten.") for _ in range(20)]
    hand.open()
    hand.until(lambda: hand.panel.listing.state.status == "failed")
    assert hand.status() == "It was rewritten."
    assert len(played.calls) < 20


# Search


def test_hits_stand_under_their_windows_newest_first(hand: Hand, played: PlayedHistory) -> None:
    played.add_window("first", [("user", "the golden temple"), ("assistant", "no"), ("user", "a temple again")])
    played.add_window("rollover", [("user", "Temple?")])
    hand.open()
    hand.qtbot.mouseClick(hand.panel.timeline, Qt.MouseButton.LeftButton, pos=QPoint(10, 12))
    hand.search("temple")
    assert hand.panel.timeline._current == "", "no window is looked at any more"
    model = hand.panel._hits_model
    assert [str(model.data(model.index(row, 0))) for row in range(2)] == [
        "Window 2, now, 1 hit",
        "Window 1, start, 2 hits",
    ]
    assert hand.panel.hits.isExpanded(model.index(1, 0))
    assert hand.status() == "3 hits · all 400 bytes searched"
    assert hand.panel.timeline._ticks
    hand.panel.grab()
    hand.panel.search.field.clear()
    assert hand.panel._stack.currentWidget() is hand.panel.windows
    assert hand.panel.timeline._ticks == set()


def test_nothing_found_says_what_was_searched(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 4)
    played.skipped = Skipped(blobs=1, damaged=2)
    hand.open()
    hand.search("unheard of")
    assert "Nobody said “unheard of”" in hand.message()
    assert "Nothing found · all 400 bytes searched" in hand.status()
    assert "Not searched: 2 damaged entries, 1 large text that is kept apart." in hand.status()


def test_a_search_is_stopped_and_goes_on_where_it_was(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 40)
    played.page_size = 10
    hand.open()
    played.hold = asyncio.Event()
    hand.panel.search.field.setText("message")
    hand.until(lambda: "search" in played.calls)
    assert hand.panel.status.button.text() == "Stop"
    assert "Nothing found yet · searched 0 of 0\u00a0B" in hand.status()
    hand.qtbot.mouseClick(hand.panel.status.button, Qt.MouseButton.LeftButton)
    assert hand.panel.status.button.text() == "Continue"
    played.hold.set()
    hand.qtbot.mouseClick(hand.panel.status.button, Qt.MouseButton.LeftButton)
    hand.until(lambda: hand.panel.searching.search.status == "done")
    assert hand.status().startswith("40 hits")
    assert hand.panel.status.button.isHidden()


def test_many_hits_come_in_portions(hand: Hand, played: PlayedHistory) -> None:
    _say(played, PAUSE_AFTER + 60)
    hand.open()
    hand.search("message")
    assert hand.panel.searching.search.status == "paused"
    assert hand.status().startswith(f"{number_text(PAUSE_AFTER)} hits, the newest first · searched")
    hand.qtbot.mouseClick(hand.panel.status.button, Qt.MouseButton.LeftButton)
    hand.until(lambda: hand.panel.searching.search.status == "done")
    first, last = number_text(PAUSE_AFTER + 1), number_text(PAUSE_AFTER + 60)
    assert hand.status().startswith(f"Hits {first} to {last} · all")
    assert len(hand.panel._hits_model.groups[0].children) == 60


def test_a_search_begins_again_when_the_chat_was_rewritten(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 30)
    played.page_size = 10
    hand.open()
    played.errors["search"] = [HistoryChanged("rewritten")]
    hand.search("message")
    assert "30 hits" in hand.status()
    assert "The chat has changed, so the search began again." in hand.status()


def test_a_search_that_fails_says_why_and_can_be_tried_again(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    played.errors["search"] = [StorageError("The disk says no.")]
    hand.search("message")
    assert hand.status() == "The disk says no."
    hand.qtbot.mouseClick(hand.panel.status.button, Qt.MouseButton.LeftButton)
    hand.until(lambda: hand.panel.searching.search.status == "done")
    assert "3 hits" in hand.status()


def test_filters_narrow_the_search_and_offer_what_was_seen(hand: Hand, played: PlayedHistory) -> None:
    played.add_window("first", [("user", "temple"), ("assistant", "temple")], tools=(ToolUse("read_file", "done"),))
    played.add_window("rollover", [("user", "temple")])
    hand.open()
    bar = hand.panel.search
    hand.search("temple")
    assert [bar.tool.itemText(at) for at in range(bar.tool.count())] == ["All tools", "read_file"]
    assert [bar.window_.itemText(at) for at in range(3)] == ["All windows", "Window 2 · now", "Window 1 · start"]
    for combo, entry, hits in ((bar.role, 1, 2), (bar.role, 2, 1), (bar.tool, 1, 1), (bar.window_, 1, 0)):
        combo.setCurrentIndex(entry)
        combo.activated.emit(entry)
        hand.until(lambda: hand.panel.searching.search.status == "done")
        assert hand.panel.searching.search.hits == hits
    hand.panel.search.field.clear()
    assert not bar.role.isVisible()


# The reader


def test_a_chosen_message_is_read_below_the_list(hand: Hand, played: PlayedHistory) -> None:
    played.add_window("first", [("user", "short"), ("assistant", "line one\r\nline two")])
    hand.open()
    hand.until(lambda: len(hand.listed()) == 2)
    hand.choose(1)
    hand.reading("line one\nline two")
    assert hand.panel.reader._title.text() == "Practice model"
    hand.qtbot.mouseClick(hand.panel.reader.previous, Qt.MouseButton.LeftButton)
    hand.reading("short")
    assert hand.panel.reader._title.text() == "You"
    hand.qtbot.keyClick(hand.panel.reader.text, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    hand.reading("line two")
    hand.qtbot.keyClick(hand.panel.reader.text, Qt.Key.Key_Escape)
    assert hand.panel.reader.isHidden()
    assert hand.panel.windows.hasFocus()


def test_a_hit_is_marked_in_the_text_and_in_view(hand: Hand, played: PlayedHistory) -> None:
    text = "🏯 line\n" * 9_000 + "the needle is here\n" + "after\n" * 9_000
    played.add_window("first", [("assistant", text)])
    hand.open()
    hand.search("needle")
    hand.qtbot.keyClick(hand.panel.search.field, Qt.Key.Key_Down)
    hand.reading("needle")
    marked = hand.panel.reader.text.extraSelections()
    assert [mark.cursor.selectedText() for mark in marked] == ["needle"]
    place = hand.panel.reader.text.cursorRect(marked[0].cursor)
    assert hand.panel.reader.text.viewport().rect().contains(place.center())
    assert len(hand.read()) <= 2 * (MOST_CHARS + PIECE_CHARS)


def test_a_giant_text_is_read_piece_by_piece_from_both_ends(hand: Hand, played: PlayedHistory) -> None:
    lines = [f"line {number:07}" for number in range(1_600_000)]
    text = "\n".join(lines)
    assert len(text) > 20_000_000
    played.add_window("first", [("assistant", text)])
    hand.open()
    hand.until(lambda: hand.listed()[0].startswith("line"))
    hand.choose(0)
    hand.reading("line 0000000")
    bar = hand.panel.reader.text.verticalScrollBar()
    for _ in range(12):
        last = hand.read()[-12:]
        bar.setValue(bar.maximum())
        hand.until(lambda last=last: hand.read()[-12:] != last and not hand.panel.reading.is_busy)  # type: ignore[misc]
        _is_stretch_of(hand, text)
    assert hand.panel.reading.pieces[0].offset > 0, "the begin was put away"
    hand.qtbot.keyClick(hand.panel.reader.text, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    hand.reading(lines[-1])
    assert hand.panel.reader._place.text().endswith(f"{number_text(len(text))} of {number_text(len(text))}")
    _is_stretch_of(hand, text)
    first = hand.panel.reading.pieces[0].offset
    bar.setValue(0)
    hand.until(lambda: hand.panel.reading.pieces[0].offset < first and not hand.panel.reading.is_busy)
    _is_stretch_of(hand, text)
    hand.qtbot.keyClick(hand.panel.reader.text, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    hand.reading("line 0000000")


def _is_stretch_of(hand: Hand, text: str) -> None:
    """Assert that exactly the part is shown that is said to be shown."""
    pieces = hand.panel.reading.pieces
    end = pieces[-1].offset + len(pieces[-1].text)
    assert hand.read() == text[pieces[0].offset : end]
    assert end - pieces[0].offset <= MOST_CHARS + PIECE_CHARS


def test_a_message_whose_place_moved_is_found_by_its_number(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 3)
    played.errors["read"] = [StaleItem("moved")]
    hand.choose(1)
    hand.reading("message 1")


def test_a_message_that_is_gone_is_told_and_can_be_tried_again(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 3)
    gone = played.items.pop(1)
    hand.choose(1)
    reader = hand.panel.reader
    hand.until(reader.retry.isVisible)
    assert reader._place.text() == "This message is not in the history any more."
    played.items.insert(1, gone)
    hand.qtbot.mouseClick(reader.retry, Qt.MouseButton.LeftButton)
    hand.reading("message 1")
    assert reader.retry.isHidden()


def test_a_whole_window_is_read_as_one_text(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 300)
    hand.open()
    hand.panel.read_window(hand.panel.listing.windows[0])
    hand.reading("message 0")
    bar = hand.panel.reader.text.verticalScrollBar()

    def reaches_end() -> bool:
        bar.setValue(bar.maximum())
        return "message 299" in hand.read()

    hand.until(reaches_end)
    assert hand.read().count("message 299\n\n") == 1
    assert hand.panel.reader.go.isHidden()


def test_a_low_panel_shows_the_reader_in_place_of_the_list(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 3)
    hand.panel.resize(300, 420)
    hand.panel.windows.setFocus()
    hand.choose(1)
    hand.reading("message 1")
    assert hand.panel.windows.isHidden() or not hand.panel.windows.isVisible()
    assert hand.panel.reader.text.hasFocus()
    hand.qtbot.mouseClick(hand.panel.reader.back, Qt.MouseButton.LeftButton)
    assert hand.panel.windows.isVisible()
    assert hand.panel.reader.isHidden()


# Being there


def test_another_chat_is_shown_at_once_and_the_old_one_asked_no_more(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 300)
    hand.open("one")
    played.hold = asyncio.Event()
    hand.panel.search.field.setText("message")
    hand.until(lambda: "search" in played.calls)
    played.hold.set()
    hand.open("two")
    assert hand.panel.search.field.text() == ""
    assert hand.panel.searching.search.query == ""
    assert played.calls.count("search") == 1
    hand.panel.show_chat("")
    assert "No chat is open" in hand.message()


def test_nothing_runs_while_the_panel_is_hidden(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 30)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 30)
    hand.panel.hide()
    before = len(played.calls)
    hand.panel.note_change("s")
    played.add_window("rollover", [("user", "later")])
    hand.panel.show_chat("s")
    QApplication.sendPostedEvents()
    assert len(played.calls) == before
    hand.panel.show()
    hand.until(lambda: len(hand.panel._windows_model.groups) == 2)


def test_a_text_that_was_on_its_way_comes_when_the_panel_is_back(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 3)
    played.hold = asyncio.Event()
    hand.choose(1)
    hand.until(lambda: "read" in played.calls)
    hand.panel.hide()
    played.hold.set()
    hand.panel.show()
    hand.reading("message 1")


def test_a_search_that_was_hidden_can_go_on(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 30)
    hand.open()
    played.hold = asyncio.Event()
    hand.panel.search.field.setText("message")
    hand.until(lambda: "search" in played.calls)
    hand.panel.hide()
    played.hold.set()
    hand.panel.show()
    assert hand.panel.status.button.text() == "Continue"
    hand.qtbot.mouseClick(hand.panel.status.button, Qt.MouseButton.LeftButton)
    hand.until(lambda: hand.panel.searching.search.status == "done")


def test_a_window_can_be_read_exported_and_branched(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    menu = hand.menu(hand.panel.listing.windows[0])
    assert list(menu) == _WINDOW_MENU
    menu[_WINDOW_MENU[0]].trigger()
    hand.reading("message 2")
    assert list(hand.menu(Floor("w:1"))) == []


def test_the_timeline_leads_to_a_window(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 50)
    played.add_window("rollover", [("user", "later")] * 50)
    hand.open()
    hand.qtbot.mouseClick(hand.panel.timeline, Qt.MouseButton.LeftButton, pos=QPoint(10, 12))
    hand.until(lambda: len(hand.listed(1)) == 50)
    assert hand.panel.timeline._current == "w:0"
    assert hand.panel.windows.hasFocus()


# By keyboard, and for those who don't see it


def test_everything_can_be_reached_by_keyboard(hand: Hand, played: PlayedHistory) -> None:
    played.add_window("first", [("user", "which temple"), ("assistant", "the quiet temple")])
    played.add_window("rollover", [("user", "later")])
    hand.open()
    qtbot, panel = hand.qtbot, hand.panel
    panel.take_focus()
    assert panel.search.field.hasFocus()
    qtbot.keyClick(panel.search.field, Qt.Key.Key_Down)
    assert panel.windows.hasFocus()
    qtbot.keyClick(panel.windows, Qt.Key.Key_Down)
    qtbot.keyClick(panel.windows, Qt.Key.Key_Return)
    hand.until(lambda: len(hand.listed(1)) == 2)
    qtbot.keyClick(panel.windows, Qt.Key.Key_Down)
    qtbot.keyClick(panel.windows, Qt.Key.Key_Down)
    hand.reading("the quiet temple")
    with qtbot.waitSignal(panel.message_wanted) as wanted:
        qtbot.keyClick(panel.windows, Qt.Key.Key_Return)
    assert wanted.args == ["s", "row2", 100]
    panel.windows.menu_wanted.disconnect()
    with qtbot.waitSignal(panel.windows.menu_wanted) as wanted:
        qtbot.keyClick(panel.windows, Qt.Key.Key_Menu)
    assert list(hand.menu(wanted.args[0])) == _ITEM_MENU
    panel.windows.copy()
    hand.until(lambda: QGuiApplication.clipboard().text() == "the quiet temple")
    qtbot.keyClick(panel.windows, Qt.Key.Key_Escape)
    assert panel.reader.isHidden()


def test_every_control_has_a_name(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 3)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 3)
    hand.choose(1)
    hand.search("message")
    hand.qtbot.keyClick(hand.panel.search.field, Qt.Key.Key_Down)
    hand.until(hand.panel.reader.isVisible)
    nameless = []
    for kind in (QAbstractButton, QAbstractItemView, QPlainTextEdit, QLineEdit, QComboBox):
        for widget in hand.panel.findChildren(kind):
            interface = QAccessible.queryAccessibleInterface(widget)
            is_own = not isinstance(widget.parent(), QLineEdit)
            if widget.isVisible() and is_own and interface and not interface.text(QAccessible.Text.Name):
                nameless.append(widget)
    assert nameless == []


def test_a_double_click_goes_to_the_chat_before_the_list_moves(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 10)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 10)
    tree = hand.panel.windows
    place = tree.visualRect(tree.model().index(8, 0, tree.model().index(0, 0))).center()
    hand.qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert hand.panel.reader.isHidden(), "not before a second click could have come"
    with hand.qtbot.waitSignal(hand.panel.message_wanted) as wanted:
        hand.qtbot.mouseDClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert wanted.args == ["s", "row9", 800]
    hand.qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    hand.until(hand.panel.reader.isVisible)
    hand.reading("message 8")


def test_what_is_listed_already_is_beyond_reach_once_the_model_starts_afresh(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 6)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 6)
    hand.search("message 3")
    played.windows = [replace(played.windows[0], is_above_floor=True)]
    played.add_window("reset", [("user", "anew")])
    hand.panel.note_change("s")
    hand.until(lambda: len(hand.panel.listing.windows) == 2)
    for model, number in ((hand.panel._windows_model, 2), (hand.panel._hits_model, 0)):
        window = model.index(number, 0)
        assert str(window.data()).startswith("Window 1, start")
    hand.panel.search.field.clear()
    tree = hand.panel.windows
    at = tree.visualRect(tree.model().index(1, 0, tree.model().index(2, 0)))
    stripe = hand.panel._theme.px(3)
    shown = tree.viewport().grab().toImage()
    colours = {shown.pixelColor(stripe, y).name() for y in range(at.top() + 5, at.bottom() - 5)}
    assert len(colours) > 1, "no broken line at its side"


def test_escape_goes_back_to_the_list_from_every_control_of_the_reader(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 4)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 4)
    reader = hand.panel.reader
    for control in (reader.go, reader.copy, reader.menu, reader.next, reader.back, reader.text):
        hand.choose(1)
        hand.until(reader.isVisible)
        control.setFocus()
        taken = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
        taken.ignore()
        QApplication.sendEvent(control, taken)
        assert taken.isAccepted(), "it would stop the reply that is being written"
        hand.qtbot.keyClick(control, Qt.Key.Key_Escape)
        assert reader.isHidden(), control.accessibleName()
        assert hand.panel.windows.hasFocus()
        hand.choose(0)


def test_reading_goes_on_in_the_text_when_there_is_no_room_for_the_list_any_more(
    hand: Hand, played: PlayedHistory
) -> None:
    _say(played, 4)
    hand.open()
    hand.until(lambda: len(hand.listed()) == 4)
    hand.panel.windows.setFocus()
    hand.choose(1)
    hand.until(hand.panel.reader.isVisible)
    hand.panel.resize(340, 420)
    hand.until(lambda: not hand.panel.windows.isVisible())
    assert hand.panel.reader.text.hasFocus()


def test_a_search_that_has_ended_says_when_more_was_said_and_can_be_repeated(hand: Hand, played: PlayedHistory) -> None:
    _say(played, 4)
    hand.open()
    hand.search("heron")
    assert "Nobody said" in hand.message()
    played.add_item("w:0", "user", "a heron, after all")
    hand.panel.note_change("s")
    assert hand.status() == "Nothing found · more was said since"
    assert hand.message() == "", "it would not be true any more"
    assert hand.panel.status.button.text() == "Search again"
    hand.panel.status.button.click()
    hand.until(lambda: hand.status().startswith("1 hit · all "))
    assert not hand.panel.status.button.isVisible()
