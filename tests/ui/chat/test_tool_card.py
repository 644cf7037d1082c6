"""Calls of tools in the transcript: what a card says, how it opens, what is copied of it."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.domain.approvals import Question
from app.domain.rows import Blob, RequestInfo, Row, TextPart, ToolPart, ToolState
from app.ui.chat.accessible import accessible_name
from app.ui.chat.items import CallState, Item, Section, Speaker, ToolCall
from app.ui.chat.row_items import item_of
from app.ui.chat.style import make_style
from app.ui.chat.targets import TargetKind
from app.ui.chat.tool_card import ToolCards
from app.ui.chat.tool_text import MOST_CHARS, card_blocks, headline, markdown, remainder, sentence, summary, trouble
from app.ui.chat.transcript_model import RowKind
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme
from tests.ui.chat.conftest import Driver

SEARCH = {"action": "search", "query": "temple", "limit": 10}
DONE = ToolCall("c1", "session_history", "done", SEARCH, {"hits": [{"item": "#5"}]})


def _item(*sections: Section | ToolCall, streaming: bool = False) -> Item:
    made = [Section("tool", "", each) if isinstance(each, ToolCall) else each for each in sections]
    return Item("a", Speaker.ASSISTANT, "Model", sections=made, streaming=streaming)


def _text(words: str) -> Section:
    return Section("text", words)


def _kinds(view: TranscriptView, at: int = 0) -> list[RowKind]:
    """Return what an item is shown as, but for the line of what can be done with it."""
    return [row.kind for row in view.nodes[at].rows if row.kind is not RowKind.BAR]


# What it says


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("asking", "waits for you"),
        ("waiting", "waiting"),
        ("running", "running…"),
        ("done", "done"),
        ("failed", "failed"),
        ("interrupted", "interrupted"),
        ("denied", "not allowed"),
    ],
)
def test_a_call_says_what_it_does_and_its_state_in_words(state: CallState, words: str) -> None:
    assert headline(replace(DONE, state=state)) == f"Search the chat for “temple” · {words}"
    unknown = replace(DONE, name="weather", state=state)
    assert headline(unknown) == f"weather · search “temple” · limit: 10 · {words}", "of others, name and arguments"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("session_history", {"action": "list_windows"}, "List the context windows of the chat"),
        ("session_history", {"action": "list_items", "window_id": "w:3"}, "List the messages of window 3"),
        ("session_history", {"action": "list_items"}, "List the messages of the chat"),
        ("session_history", {"action": "read_item", "item_id": "#12"}, "Read message #12"),
        ("session_history", {"action": "read_item", "item_id": "i:0123:abc"}, "Read a message of the chat"),
        ("session_history", {"action": "search"}, ""),
        ("session_history", None, ""),
        ("list_files", {}, "List the folder"),
        ("list_files", {"path": "drafts"}, "List drafts"),
        ("list_files", {"pattern": "*.md"}, "List *.md in the folder"),
        ("list_files", {"path": "drafts", "pattern": "*.md"}, "List *.md in drafts"),
        ("read_file", {"path": "notes.txt"}, "Read notes.txt"),
        ("read_file", {"path": "notes.txt", "start_line": 201}, "Read notes.txt from line 201"),
        ("read_file", {"path": "notes.pdf", "page": 3}, "Read notes.pdf from page 3"),
        ("read_file", {}, ""),
        ("write_file", {"path": "notes.txt", "text": "x"}, "Write notes.txt"),
        ("edit_file", {"path": "a\nb.txt"}, "Change a b.txt"),
        ("edit_file", {"path": 7}, ""),
        ("search_files", {"query": "temple"}, "Search the files for “temple”"),
        ("search_files", {"query": "temple", "glob": "*.md"}, "Search *.md for “temple”"),
        ("search_files", {"query": "temple", "path": "drafts"}, "Search drafts for “temple”"),
        ("search_files", {}, ""),
        ("memory", {"command": "view", "path": "/memories/"}, "List the memories"),
        ("memory", {"command": "view", "path": "/memories/workspace"}, "List the memories of this chat"),
        ("memory", {"command": "view", "path": "/memories/global/"}, "List the memories for all chats"),
        ("memory", {"command": "view", "path": "/memories/workspace/a/b.md"}, "Read the memory a/b.md"),
        ("memory", {"command": "create", "path": "/memories/global/b.md"}, "Write the memory b.md for all chats"),
        ("memory", {"command": "view", "path": "/memories/elsewhere/b.md"}, "Read /memories/elsewhere/b.md"),
        ("memory", {"command": "create", "path": "/memories/a"}, "Write /memories/a"),
        ("memory", {"command": "insert", "path": "/memories/a"}, "Change /memories/a"),
        ("memory", {"command": "delete", "path": "/memories/a"}, "Delete /memories/a"),
        ("memory", {"command": "rename", "old_path": "/m/a", "new_path": "/m/b"}, "Rename /m/a to /m/b"),
        ("memory", {"command": "dance"}, ""),
        ("weather", {"city": "Kyoto"}, ""),
    ],
)
def test_a_call_is_told_in_a_sentence_with_its_main_argument(name: str, arguments: object, words: str) -> None:
    assert sentence(ToolCall("c", name, arguments=arguments)) == words


def test_a_call_that_asks_says_it_in_its_own_words() -> None:
    asking = ToolCall("c", "edit_file", "asking", {"path": "a.txt"}, question=Question("Change 3 lines\nof a.txt"))
    assert headline(asking) == "Change 3 lines of a.txt · waits for you"
    assert sentence(replace(asking, question=Question(""))) == "Change a.txt"


def test_how_long_a_call_took_is_told_if_it_was_seen() -> None:
    seconds = QLocale().toString(1.5, "f", 1)
    assert headline(replace(DONE, seconds=1.46)).endswith(f"done · {seconds} s")
    assert headline(replace(DONE, seconds=0.01)).endswith("done")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (None, ""),
        ({}, ""),
        ("loose text\nof a model", "loose text of a model"),
        ({"path": "/notes.md", "text": ""}, "“/notes.md”"),
        ({"query": "temple", "action": "search"}, "“temple” · search"),
        ({"action": "not a word"}, "“not a word”"),
        ({"deep": {"a": 1}, "is_new": False}, "is_new: false"),
        (["a", "b"], ""),
    ],
)
def test_the_arguments_make_one_short_line(arguments: object, line: str) -> None:
    assert summary(replace(DONE, arguments=arguments)) == line


def test_a_hostile_name_stays_in_its_line() -> None:
    assert "\n" not in headline(ToolCall("c", "a\nb\u202e" + "x" * 500, "done", {"q": "y\n" * 9_000}))
    assert len(headline(ToolCall("c", "x" * 500, "done", {"q": "y" * 9_000}))) < 200


def test_a_failure_says_why_in_its_first_words() -> None:
    assert trouble(replace(DONE, state="failed", output="no such\nwindow")) == "no such window"
    assert (
        trouble(replace(DONE, state="denied", output={"error": "stale", "message": "Start again."})) == "Start again."
    )
    assert trouble(replace(DONE, state="failed", output={"error": {"kind": "stale"}})).startswith("error:")
    assert trouble(DONE) == ""


def test_only_the_begin_of_a_huge_result_is_shown_and_the_rest_is_counted() -> None:
    huge = replace(DONE, output="x" * 20_000_000)
    assert len(card_blocks(huge, is_whole=True)[1].code) == MOST_CHARS
    assert len(card_blocks(huge, is_whole=False)[1].code) < 2_000
    assert QLocale().toString(20_000_000 - MOST_CHARS) in remainder(huge)
    assert len(markdown(huge)) < MOST_CHARS + 1_000
    assert remainder(DONE) == ""


def test_a_result_with_fences_is_fenced_by_more() -> None:
    assert markdown(replace(DONE, output="```\nrm\n````\n")).count("`````") == 2


# Rows of history


def _row(*parts: TextPart | ToolPart) -> Row:
    return Row(id="a", session="s", seq=1, role="assistant", parts=parts, request=RequestInfo(provider="p", model="m"))


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("done", "done"),
        ("failed", "failed"),
        ("denied", "denied"),
        ("interrupted", "interrupted"),
        ("pending", "interrupted"),
    ],
)
def test_a_row_shows_its_calls_between_its_texts(state: ToolState, shown: CallState) -> None:
    call = ToolPart(call_id="c1", name="memory", input={"command": "view"}, state=state, output="notes")
    item = item_of(_row(TextPart(text="before"), call, TextPart(text="after")), str)
    assert item is not None
    assert [section.kind for section in item.sections] == ["text", "tool", "text"]
    tool = item.sections[1].tool
    assert tool is not None
    assert (tool.name, tool.state, tool.output) == ("memory", shown, "notes")


def test_a_result_that_is_kept_apart_says_how_long_it_is() -> None:
    call = ToolPart(call_id="c1", name="t", state="done", output="a…b", output_blob=Blob(sha256="0", bytes=20_000_000))
    item = item_of(_row(call), str)
    assert item is not None
    assert item.sections[0].tool is not None
    assert QLocale().formattedDataSize(20_000_000) in remainder(item.sections[0].tool)


# On screen


def test_a_card_is_closed_until_it_is_clicked(view: TranscriptView, driver: Driver) -> None:
    view.set_items([_item(_text("before"), DONE, _text("after"))], more_above=False)
    closed = [RowKind.HEADER, RowKind.BLOCK, RowKind.TOOL, RowKind.BLOCK]
    assert _kinds(view) == closed
    driver.click(TargetKind.FOLD)
    assert _kinds(view) == [*closed[:3], RowKind.BLOCK, RowKind.BLOCK, RowKind.BLOCK]
    codes = [row.block.code for row in view.nodes[0].rows if row.block is not None and row.block.code]
    assert codes == ["action: search\nquery: temple\nlimit: 10", "hits:\n  - item: #5"]
    driver.click(TargetKind.FOLD)
    assert _kinds(view) == closed


def test_the_keys_open_a_card_and_show_more_of_it(view: TranscriptView, driver: Driver) -> None:
    long = replace(DONE, output="\n".join(f"line {number}" for number in range(1_000)))
    view.set_items([_item(long)], more_above=False)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert RowKind.MORE in _kinds(view)
    view.scroll_to_end()
    for _ in range(4):
        found = view._focus.current()
        if found is not None and found[1].kind is TargetKind.MORE:
            break
        QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClick(view, Qt.Key.Key_Space)
    shown = [row.block.code for row in view.nodes[0].rows if row.block is not None]
    assert shown[1].endswith("line 399")
    assert not [target for _, target in view.on_screen.targets() if target.kind is TargetKind.MORE]
    assert "more characters are not shown here" in view.nodes[0].text_of(0)


def test_what_is_said_aloud_holds_the_call_and_its_result_only_while_it_is_open(
    view: TranscriptView, driver: Driver
) -> None:
    view.set_items([_item(_text("before"), DONE)], more_above=False)
    assert "[Search the chat for “temple” · done]" in accessible_name(view.nodes[0])
    assert "hits" not in accessible_name(view.nodes[0])
    name = driver.target(TargetKind.FOLD)[1].name
    assert name == "Search the chat for “temple” · done, arguments and result are hidden"
    driver.click(TargetKind.FOLD)
    assert "item: #5" in accessible_name(view.nodes[0])


def test_an_open_card_is_copied_as_markdown_with_arguments_and_result(view: TranscriptView, driver: Driver) -> None:
    view.set_items([_item(_text("before"), DONE, _text("after"))], more_above=False)
    view.copy_item("a")
    board = QGuiApplication.clipboard()
    assert board.text() == "before\n\n[Search the chat for “temple” · done]\n\nafter"
    driver.click(TargetKind.FOLD)
    view.select_all()
    view.copy()
    assert board.text() == (
        "before\n\n**Tool: Look back in this chat** (done)\n\nSearch the chat for “temple”\n\n"
        "Arguments:\n\n```\naction: search\nquery: temple\nlimit: 10\n```\n\n"
        "Result:\n\n```\nhits:\n  - item: #5\n```\n\nafter"
    )
    view.copy_item("a")
    html = board.mimeData().html()
    assert "Search the chat for “temple”" in html
    assert "item: #5" in html


def test_a_running_call_is_settled_in_place_and_stays_open(view: TranscriptView, driver: Driver) -> None:
    running = replace(DONE, state="running", output=None)
    view.set_items([_item(_text("before"), running, streaming=True)], more_above=False)
    driver.click(TargetKind.FOLD)
    view.update_item(_item(_text("before"), replace(DONE, seconds=2.0), streaming=True))
    view.append_delta("a", "text", "after")
    driver.wait_for(lambda: not driver.is_behind() and "after" in driver.sections("a"))
    view.update_item(_item(_text("before"), DONE, _text("after")))
    assert not view.nodes[0].is_folded(1)
    assert "item: #5" in view.nodes[0].text_of(1)
    seconds = QLocale().toString(2.0, "f", 1)
    assert f"done · {seconds} s" in view.nodes[0].text_of(1), "its row does not say how long it took"
    assert view.nodes[0].text_of(0) == "before"


def test_the_arguments_go_below_the_name_where_a_card_is_narrow(qapp: QApplication) -> None:
    style, cards = make_style(load_theme(dark=False), QApplication.font()), ToolCards()
    unknown = replace(DONE, name="weather")
    assert cards.height(style, unknown, 700) < cards.height(style, unknown, 220)
    assert cards.height(style, DONE, 700) == cards.height(style, DONE, 220), "its sentence stays in its line"
    failed = replace(DONE, state="failed", output="no such window")
    assert cards.height(style, failed, 700) > cards.height(style, DONE, 700)
    assert cards.height(style, replace(unknown, arguments=None), 220) == cards.height(style, DONE, 700)


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [320, 900])
def test_every_state_can_be_painted(view: TranscriptView, *, is_dark: bool, width: int) -> None:
    states: list[CallState] = ["asking", "waiting", "running", "done", "failed", "interrupted", "denied"]
    calls = [replace(DONE, call_id=state, state=state, output="why\n" * 2_000) for state in states]
    view.resize(width, 900)
    view.set_theme(load_theme(dark=is_dark))
    view.set_items([_item(*calls, streaming=True)], more_above=False)
    for at in range(len(calls)):
        view.model.toggle_fold(view.nodes[0], at)
    view.sync()
    image = view.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, width, 3) for y in range(0, 900, 3)}
    assert len(colours) > 5


def test_the_next_step_of_a_reply_stands_below_its_calls_without_a_header(view: TranscriptView) -> None:
    first = _item(_text("I look."), DONE)
    second = Item("b", Speaker.ASSISTANT, "Model", sections=[_text("Found it.")])
    view.set_items([second], more_above=True)
    assert _kinds(view, 0) == [RowKind.HEADER, RowKind.BLOCK]
    view.prepend_items([first], more_above=False)
    assert _kinds(view, 1) == [RowKind.BLOCK]
    view.update_item(replace(first, note="Interrupted here."))
    assert _kinds(view, 1) == [RowKind.HEADER, RowKind.BLOCK]
    view.update_item(first)
    view.append_item(replace(second, id="c"))
    assert _kinds(view, 2) == [RowKind.HEADER, RowKind.BLOCK], "no call stands above it"
    view.remove_item("b")
    assert _kinds(view, 1) == [RowKind.BLOCK]
    assert view.model.heights.total == sum(node.heights.total for node in view.nodes)
    view.append_item(Item("d", Speaker.ASSISTANT, "Model", sections=[Section("tool", "", DONE)], streaming=True))
    view.append_item(Item("e", Speaker.ASSISTANT, "Model", streaming=True))
    assert _kinds(view, 3) == [RowKind.WAIT]


def test_a_step_that_ends_with_a_call_is_not_announced_as_a_finished_reply(view: TranscriptView) -> None:
    said: list[str] = []
    view.reply_announced.connect(said.append)
    view.set_items([_item(_text("I look."), DONE, streaming=True)], more_above=False)
    view.update_item(_item(_text("I look."), DONE))
    assert said == []
    view.append_item(Item("b", Speaker.ASSISTANT, "Model", sections=[_text("Found")], streaming=True))
    view.update_item(Item("b", Speaker.ASSISTANT, "Model", sections=[_text("Found it.")]))
    assert said == ["Reply finished, 2 words; Search the chat for “temple”: done"], (
        "the calls of all its steps are told with it"
    )


def test_only_the_first_of_many_calls_are_told_with_a_reply(view: TranscriptView) -> None:
    said: list[str] = []
    view.reply_announced.connect(said.append)
    calls = [replace(DONE, call_id=f"c{number}", state="failed" if number else "done") for number in range(5)]
    view.set_items([_item(_text("I look."), *calls)], more_above=False)
    view.append_item(Item("b", Speaker.ASSISTANT, "Model", sections=[_text("Found")], streaming=True))
    view.update_item(Item("b", Speaker.ASSISTANT, "Model", sections=[_text("Found it.")]))
    assert len(said) == 1
    search = "Search the chat for “temple”"
    assert said[0].startswith(f"Reply finished, 2 words; {search}: done; {search}: failed")
    assert said[0].endswith("; more calls: 2")
