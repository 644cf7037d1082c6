"""The search over all chats, as a person uses it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import qasync
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLineEdit
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.domain.chat_search import ChatHits
from app.domain.chats import ChatSummary
from app.domain.rows import Row, TextPart
from app.domain.windows import HistoryItem, SearchHit
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar
from app.ui.chat_search import ChatSearch
from app.ui.chat_search_model import ChatSearchModel, EntryKind
from tests.fakes.scripted import ScriptedProvider
from tests.ui.conftest import Desk

NOW = datetime.now(UTC)
CHATS = (
    ("Trip to Kyoto", ["Which temples did we rule out?", "Three of them.", "temple", "temples again", "more temple"]),
    ("Thesis", ["The temple of Artemis is described by Pliny."]),
    ("Größe", ["ein Tempel"]),
    ("Temple run", ["a game"]),
)


def write_chat(root: Path, title: str, texts: list[str], *, days: int = 0) -> str:
    library = Library(root)
    session = library.create(model="scripted/model", now=NOW).id
    moment = NOW - timedelta(days=days)
    meta = SessionMeta(title=title, created=moment, updated=moment, model="scripted/model")
    files = library.files(session)
    write_sidecar(files.meta, meta)
    with files.chat.open("wb") as file:
        for number, text in enumerate(texts, start=1):
            role = "user" if number % 2 else "assistant"
            row = {"id": f"r{number}", "session": session, "seq": number, "role": role, "created": moment}
            file.write(encode_row(Row.model_validate({**row, "parts": (TextPart(text=text),)})) + b"\n")
    return session


class SearchDesk(Desk):
    """A window over some chats."""

    def find(self, text: str) -> None:
        """Type into the field, from Ctrl+K on, and wait for the end of the search."""
        self.window.actions_.find_chats.trigger()
        self.qtbot.keyClicks(self.field, text)
        self.until(lambda: not self.search.is_running)

    def key(self, key: Qt.Key) -> None:
        """Press a key wherever the focus is."""
        focused = self.window.focusWidget()
        assert focused is not None
        self.qtbot.keyClick(focused, key)

    @property
    def field(self) -> QLineEdit:
        return self.window.panel.search

    @property
    def search(self) -> ChatSearch:
        assert self.window._chat_search is not None
        return self.window._chat_search

    @property
    def status(self) -> str:
        return self.search.results.status.text()

    @property
    def button(self) -> str:
        button = self.search.results.button
        return button.text() if button.isVisible() else ""

    def listed(self) -> list[str]:
        """What stands in the list of chats."""
        model = self.window.chats_model
        return [str(model.index(row).data()) for row in range(model.rowCount()) if model.chat_at(model.index(row))]

    def hits(self) -> list[str]:
        model = self.search._model
        return [str(model.index(row).data()) for row in range(model.rowCount())]

    def open_title(self) -> str:
        return self.window.chats.open_title()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def searching(
    qtbot: QtBot, gui_loop: qasync.QEventLoop, root: Path, provider: ScriptedProvider
) -> Iterator[SearchDesk]:
    for days, (title, texts) in enumerate(CHATS):
        write_chat(root, title, texts, days=days)
    made = SearchDesk(qtbot, root, provider)
    yield made
    if made.program.engine.is_running:
        made.close()
    assert made.failures == []


def test_titles_are_filtered_at_once(searching: SearchDesk) -> None:
    searching.window.actions_.find_chats.trigger()
    assert searching.field.hasFocus()
    searching.qtbot.keyClicks(searching.field, "te")
    assert searching.listed() == ["Temple run"]
    searching.qtbot.keyClick(searching.field, Qt.Key.Key_Backspace)
    assert searching.listed() == ["Trip to Kyoto", "Thesis", "Temple run"]


def test_case_and_accents_of_titles_do_not_matter(searching: SearchDesk) -> None:
    searching.field.setText("GROSSE")
    assert searching.listed() == ["Größe"]
    searching.field.setText("kyoto TRIP")
    assert searching.listed() == ["Trip to Kyoto"]


def test_messages_are_found_below_their_chats(searching: SearchDesk) -> None:
    searching.find("temple")
    assert searching.hits() == [
        "Trip to Kyoto", "more temple", "temples again", "temple", "More in this chat…",
        "Thesis", "The temple of Artemis is described by Pliny.",
    ]  # fmt: skip
    assert searching.status == "Found in the messages of 2 chats."
    assert searching.button == ""


def test_one_letter_filters_titles_only_and_says_so(searching: SearchDesk) -> None:
    searching.find("t")
    assert searching.hits() == []
    assert searching.status == "Type two letters or more to search in messages."
    assert searching.listed() == ["Trip to Kyoto", "Thesis", "Temple run"]


def test_nothing_found_is_said_for_titles_and_messages(searching: SearchDesk) -> None:
    searching.find("zzz")
    assert searching.window.panel._no_title.isVisible()
    assert not searching.window.panel.list.isVisible()
    assert searching.status == "Not found in the messages of any chat."


def test_a_hit_is_reached_and_opened_by_keys_alone(searching: SearchDesk) -> None:
    searching.find("artemis")
    searching.key(Qt.Key.Key_Down)
    assert searching.search.results.list.hasFocus()
    searching.key(Qt.Key.Key_Return)
    searching.until(lambda: searching.open_title() == "Thesis" and "Artemis" in searching.shown())
    assert searching.field.text() == "artemis"


def test_keys_lead_from_titles_to_hits_and_back(searching: SearchDesk) -> None:
    searching.find("temple")
    searching.key(Qt.Key.Key_Down)
    assert searching.window.panel.list.hasFocus()
    assert searching.open_title() == "Temple run"
    searching.key(Qt.Key.Key_Down)
    assert searching.search.results.list.hasFocus()
    searching.key(Qt.Key.Key_Up)
    assert searching.window.panel.list.hasFocus()
    searching.key(Qt.Key.Key_Up)
    assert searching.field.hasFocus()


def test_enter_in_the_field_opens_the_first_title_or_else_the_first_hit(searching: SearchDesk) -> None:
    searching.find("temple")
    searching.key(Qt.Key.Key_Return)
    searching.until(lambda: searching.session == searching.window.chats.open_session)
    assert searching.open_title() == "Temple run"
    searching.field.clear()
    searching.find("pliny")
    searching.key(Qt.Key.Key_Return)
    searching.until(lambda: "Pliny" in searching.shown())
    assert searching.open_title() == "Thesis"


def test_escape_ends_the_search_and_goes_to_the_list(searching: SearchDesk) -> None:
    searching.find("temple")
    searching.key(Qt.Key.Key_Escape)
    assert searching.field.text() == ""
    assert searching.window.panel.list.hasFocus()
    assert len(searching.listed()) == 4
    assert not searching.search.results.isVisible()


def test_escape_ends_the_search_from_its_hits_too(searching: SearchDesk) -> None:
    searching.find("artemis")
    searching.key(Qt.Key.Key_Down)
    searching.key(Qt.Key.Key_Escape)
    assert searching.field.text() == ""
    assert searching.window.panel.list.hasFocus()


def test_a_new_text_begins_anew(searching: SearchDesk) -> None:
    searching.find("temple")
    searching.field.setText("artemis")
    assert searching.hits() == []
    searching.until(lambda: not searching.search.is_running)
    assert searching.hits() == ["Thesis", "The temple of Artemis is described by Pliny."]


def test_a_search_is_stopped_and_goes_on_where_it_was(searching: SearchDesk) -> None:
    searching.find("zz")
    button, model = searching.search.results.button, searching.search._model

    def press_stop() -> None:
        model.rowsInserted.disconnect(stop_soon)
        searching.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def stop_soon() -> None:
        # As soon as the first chat is found; the others are not searched yet.
        QTimer.singleShot(0, press_stop)

    model.rowsInserted.connect(stop_soon)
    searching.field.setText("temple")
    searching.until(lambda: searching.button == "Continue")
    assert searching.status == "Stopped after 1 of 4 chats."
    assert searching.hits()[0] == "Trip to Kyoto"
    assert "Thesis" not in searching.hits()
    searching.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    searching.until(lambda: not searching.search.is_running)
    assert searching.status == "Found in the messages of 2 chats."
    assert searching.hits().count("Trip to Kyoto") == 1


def test_chats_that_can_not_be_read_are_named_in_the_outcome(searching: SearchDesk) -> None:
    session = write_chat(searching.root, "Broken", ["temple"])
    chat = ChatFiles(searching.root / "sessions" / session).chat
    chat.unlink()
    chat.mkdir()
    searching.find("temple")
    assert searching.status == "Found in the messages of 2 chats. Chats that could not be read: 1."


def test_an_error_is_told_and_tried_again(searching: SearchDesk) -> None:
    sessions = searching.root / "sessions"
    aside = searching.root / "aside"
    searching.window.actions_.find_chats.trigger()
    sessions.rename(aside)
    sessions.write_text("no folder")
    searching.qtbot.keyClicks(searching.field, "temple")
    searching.until(lambda: searching.button == "Try again")
    assert "can't be read" in searching.status
    sessions.unlink()
    aside.rename(sessions)
    searching.qtbot.mouseClick(searching.search.results.button, Qt.MouseButton.LeftButton)
    searching.until(lambda: not searching.search.is_running)
    assert searching.status == "Found in the messages of 2 chats."


def test_the_list_works_while_it_is_filtered(searching: SearchDesk) -> None:
    searching.find("temple")
    panel, model = searching.window.panel, searching.window.chats_model
    searching.key(Qt.Key.Key_Down)
    chat = model.chat_at(panel.list.currentIndex())
    assert chat is not None
    assert chat.title == "Temple run"
    searching.window.chats.rename(chat.id, "Temple walk")
    searching.until(lambda: searching.listed() == ["Temple walk"])
    searching.window.chats.rename(chat.id, "Walk")
    searching.until(lambda: searching.listed() == [])
    searching.window.chats.delete(chat.id)
    searching.until(lambda: len(model.chats()) == 3)
    assert searching.open_title() != "Walk"


def test_hits_of_a_chat_go_with_it_and_follow_its_title(searching: SearchDesk) -> None:
    searching.find("temple")
    model = searching.window.chats_model
    thesis = next(chat for chat in model.chats() if chat.title == "Thesis")
    searching.window.chats.rename(thesis.id, "Doctorate")
    searching.until(lambda: "Doctorate" in searching.hits())
    searching.window.chats.delete(thesis.id)
    searching.until(lambda: "Doctorate" not in searching.hits())
    assert searching.hits()[0] == "Trip to Kyoto"


@pytest.mark.parametrize("by_key", [False, True])
def test_a_new_chat_ends_the_search(searching: SearchDesk, by_key: bool) -> None:
    searching.find("temple")
    if by_key:
        searching.qtbot.keyClick(searching.field, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    else:
        searching.qtbot.mouseClick(searching.window.panel._new, Qt.MouseButton.LeftButton)
    searching.until(lambda: searching.open_title() == "New chat")
    assert searching.field.text() == ""
    assert "New chat" in searching.listed()


def test_renaming_the_open_chat_shows_it_again(searching: SearchDesk) -> None:
    searching.find("zzz")
    searching.window.actions_.rename.trigger()
    assert searching.field.text() == ""
    assert searching.window.panel.list.state() == searching.window.panel.list.State.EditingState
    searching.key(Qt.Key.Key_Escape)


def test_a_narrow_window_shows_the_list_for_it_and_the_chat_for_a_hit(searching: SearchDesk) -> None:
    searching.window.resize(360, 640)
    assert not searching.window.panel.isVisible()
    searching.find("artemis")
    assert searching.window.panel.isVisible()
    searching.key(Qt.Key.Key_Down)
    searching.key(Qt.Key.Key_Return)
    searching.until(lambda: searching.open_title() == "Thesis" and searching.window.page.isVisible())


def test_more_hits_are_found_in_the_chat(searching: SearchDesk) -> None:
    searching.find("temple")
    results = searching.search.results
    model = searching.search._model
    more = next(row for row in range(model.rowCount()) if model.index(row).data() == "More in this chat…")
    results.list.clicked.emit(model.index(more))
    searching.until(lambda: searching.open_title() == "Trip to Kyoto")
    searching.until(lambda: searching.window._find is not None and searching.window._find.search.text == "temple")


def test_closing_the_window_in_mid_search_leaves_nothing(searching: SearchDesk) -> None:
    write_chat(searching.root, "Long", ["x" * 900_000] * 40)
    searching.window.actions_.find_chats.trigger()
    searching.qtbot.keyClicks(searching.field, "temple")
    searching.until(lambda: searching.button == "Stop")
    searching.close()


def test_everything_has_a_name(searching: SearchDesk) -> None:
    searching.find("temple")
    results = searching.search.results
    for widget in (searching.field, results.list):
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface.text(QAccessible.Text.Name)
    index = searching.search._model.index(1)
    said = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
    assert said.startswith("You · ")
    assert said.endswith("more temple In “Trip to Kyoto”.")


# The model


def found(session: str, *snippets: str, has_more: bool = False) -> ChatHits:
    chat = ChatSummary(id=session, title=session, created=NOW, updated=NOW, model="p/m")
    return ChatHits(chat, tuple(hit(text) for text in snippets), has_more=has_more)


def hit(text: str) -> SearchHit:
    item = HistoryItem(
        ref="",
        row_id="r",
        seq=1,
        role="user",
        kind="message",
        created=NOW,
        model="",
        tools=(),
        preview="",
        chars=0,
        window_id="w:0",
        offset=7,
    )
    start = text.index("hit")
    return SearchHit(item=item, snippet=text, start=start, length=3, offset_chars=start, length_chars=3)


def test_the_model_keeps_qts_promises(qtmodeltester: ModelTester) -> None:
    model = ChatSearchModel()
    qtmodeltester.check(model)
    model.put(found("a", "a hit"))
    model.put(found("b", "one hit", "another hit", has_more=True))
    qtmodeltester.check(model)
    model.put(found("a", "a hit", "a second hit"))
    model.rename_chat("b", "new")
    qtmodeltester.check(model)
    model.put(found("a"))
    model.remove_chat("b")
    assert model.rowCount() == 0
    model.clear()


def test_where_a_hit_stands_is_told_in_qts_units(qtmodeltester: ModelTester) -> None:
    model = ChatSearchModel()
    model.put(found("a", "x" * 30 + "😀😀 hit and more"))
    entry = model.entry_at(model.index(1))
    assert entry is not None
    assert entry.kind is EntryKind.HIT
    assert entry.text == "…" + "x" * 21 + "😀😀 hit and more"
    units = entry.text.encode("utf-16-le")
    assert units[2 * entry.start : 2 * (entry.start + entry.length)].decode("utf-16-le") == "hit"
