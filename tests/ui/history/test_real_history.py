"""The history beside a chat, on real files."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from app.domain.windows import HistoryItem, WindowInfo
from app.history.blobs import Blobs
from app.providers.base import TextPiece
from app.ui.history.entries import Child, Note
from app.ui.history.panel import HistoryPanel
from tests.fakes.disk import refusing
from tests.fakes.scripted import Hold, ScriptedProvider, reply
from tests.ui.history.conftest import ChatWriter, HistoryDesk, Written, talk


def _listed(panel: HistoryPanel, number: int = 0) -> list[str]:
    children = panel._windows_model.groups[number].children
    return [_words(child) for child in children]


def _words(child: Child) -> str:
    assert isinstance(child, Note | HistoryItem)
    return child.text if isinstance(child, Note) else child.preview


def _titles(panel: HistoryPanel) -> list[str]:
    model = panel._windows_model
    return [str(model.data(model.index(row, 0))).split(", 3")[0] for row in range(model.rowCount())]


def _choose(history: HistoryDesk, row: int, group: int) -> HistoryItem:
    """Unfold a window and choose one of its items."""
    tree = history.panel.windows
    tree.expand(tree.model().index(group, 0))
    history.until(lambda: tree.model().rowCount(tree.model().index(group, 0)) > row)
    history.until(lambda: "Loading…" not in _listed(history.panel, group)[:1])
    tree.setCurrentIndex(tree.model().index(row, 0, tree.model().index(group, 0)))
    item = tree.current_value()
    assert isinstance(item, HistoryItem)
    return item


def _search(history: HistoryDesk, words: str) -> None:
    field = history.panel.search.field
    field.setText(words)
    history.qtbot.keyClick(field, Qt.Key.Key_Return)
    history.until(lambda: history.panel.searching.search.status == "done")


def test_the_history_is_made_when_it_is_first_opened(four_windows: ChatWriter, history: HistoryDesk) -> None:
    window = history.window
    assert window.sides.history is None
    assert not window.actions_.show_history.isChecked()
    panel = history.open_history()
    assert window.actions_.show_history.isChecked()
    assert panel.isVisible()
    assert panel.search.field.hasFocus()
    assert _titles(panel) == [
        "Window 4, now",
        "Window 3, started afresh",
        "The agent can't look beyond this line. You can.",
        "Window 2, rollover",
        "Window 1, start",
    ]
    window.actions_.show_history.trigger()
    assert panel.isHidden()
    assert window.page.composer.field.hasFocus()


def test_the_button_in_the_header_opens_and_closes_it(four_windows: ChatWriter, history: HistoryDesk) -> None:
    button = history.window.page._header.history_button
    history.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    history.until(lambda: history.window.panes.shows_history)
    history.qtbot.mouseClick(history.panel._close, Qt.MouseButton.LeftButton)
    assert history.panel.isHidden()


def test_it_is_open_and_as_wide_as_before_after_a_restart(four_windows: ChatWriter, history: HistoryDesk) -> None:
    history.window.resize(1300, 800)
    history.open_history()
    panes = history.window.panes
    sizes = panes.sizes()
    panes.setSizes([sizes[0], sizes[1] - 60, sizes[2] + 60])
    panes._note_widths()
    width = history.panel.width()
    history.restart()
    history.until(lambda: history.window.sides.history is not None)
    assert history.panel.isVisible()
    assert abs(history.panel.width() - width) <= 2
    history.window.actions_.show_history.trigger()
    history.restart()
    assert history.window.sides.history is None


def test_where_there_is_little_room_the_panes_take_turns(four_windows: ChatWriter, history: HistoryDesk) -> None:
    window = history.window
    window.resize(1200, 700)
    panel = history.open_history()
    assert window.panel.isVisible()
    window.resize(800, 700)
    assert not window.panel.isVisible()
    assert window.page.isVisible()
    window.actions_.show_chats.trigger()
    assert window.panel.isVisible()
    assert panel.isHidden()
    window.resize(360, 640)
    assert window.page.isVisible()
    assert panel.isHidden()
    window.actions_.show_history.trigger()
    assert panel.isVisible()
    assert not window.page.isVisible()
    history.qtbot.keyClick(window, Qt.Key.Key_F6)
    assert window.page.isVisible()
    window.actions_.show_history.trigger()
    item = _choose(history, 1, 1)
    panel.windows.activated_item.emit(item)
    assert window.page.isVisible(), "going to a message shows the chat"


def test_a_hit_leads_to_its_place_in_the_chat(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    _search(history, "quiet ones")
    history.qtbot.keyClick(panel.search.field, Qt.Key.Key_Down)
    history.until(lambda: "Only the quiet ones." in panel.reader.text.toPlainText())
    history.qtbot.keyClick(panel.hits, Qt.Key.Key_Return)
    row_id = panel.reading.item.row_id if panel.reading.item is not None else ""
    transcript = history.window.page.transcript
    history.until(lambda: any(node.item.id == row_id for node in transcript.nodes))
    node = next(node for node in transcript.nodes if node.item.id == row_id)
    history.until(lambda: transcript.viewport().rect().intersects(transcript.rect_of(node)))


def test_a_message_is_quoted_at_the_caret(four_windows: ChatWriter, history: HistoryDesk) -> None:
    history.open_history()
    item = _choose(history, 1, 3)
    assert item.is_above_floor
    history.window.page.composer.set_text("So: ")
    history.qtbot.mouseClick(history.panel.reader.quote, Qt.MouseButton.LeftButton)
    history.until(lambda: history.window.page.composer.text() == "So: > Only the quiet ones.\n\n")
    assert history.window.page.composer.field.hasFocus()


def test_what_is_selected_is_quoted_alone(four_windows: ChatWriter, history: HistoryDesk) -> None:
    history.open_history()
    _choose(history, 1, 3)
    text = history.panel.reader.text
    history.until(lambda: text.toPlainText() != "")
    assert text.find("quiet")
    history.qtbot.mouseClick(history.panel.reader.quote, Qt.MouseButton.LeftButton)
    assert history.window.page.composer.text() == "> quiet\n\n"


def test_a_message_is_copied_whole(four_windows: ChatWriter, history: HistoryDesk) -> None:
    history.open_history()
    _choose(history, 1, 3)
    history.qtbot.mouseClick(history.panel.reader.copy, Qt.MouseButton.LeftButton)
    history.until(lambda: QGuiApplication.clipboard().text() == "Only the quiet ones.")


def test_a_chat_is_branched_from_a_message_and_from_a_window(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    first = history.session
    item = _choose(history, 1, 3)
    _trigger(panel, item, "Branch a new chat from here")
    history.until(lambda: history.session != first)
    assert "Only the quiet ones." in history.shown()
    history.until(lambda: panel.session == history.session and panel.listing.state.status == "ready")
    assert panel.reader.isHidden(), "it would show a message of another chat"
    second = history.session
    history.window.chats.open(first)
    history.until(lambda: len(_titles(panel)) == 5)
    _trigger(panel, panel.listing.windows[-1], "Branch a new chat from its end")
    history.until(lambda: history.session not in (first, second))
    assert "Answer 19" in history.shown()


def _trigger(panel: HistoryPanel, value: HistoryItem | WindowInfo, words: str) -> None:
    next(action for action in panel.menu_of(value).actions() if action.text() == words).trigger()


@pytest.mark.parametrize(("words", "suffix"), [("Export as Markdown…", "md"), ("Export as JSON…", "json")])
def test_a_window_is_exported_to_where_the_person_says(
    four_windows: ChatWriter, history: HistoryDesk, tmp_path: Path, words: str, suffix: str
) -> None:
    panel = history.open_history()
    _trigger(panel, panel.listing.windows[1], words)
    dialog = history.window.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.defaultSuffix() == suffix
    path = tmp_path / f"out.{suffix}"
    dialog.fileSelected.emit(str(path))
    dialog.close()
    history.until(history.window.toast.isVisible)
    assert history.window.toast._text.text() == f"20 entries are saved in out.{suffix}."
    text = path.read_text("utf-8")
    assert "Question 9 about food" in text
    assert suffix == "md" or json.loads(text)


def test_an_export_that_fails_is_told(four_windows: ChatWriter, history: HistoryDesk, tmp_path: Path) -> None:
    panel = history.open_history()
    panel.commands._start_export(history.session, panel.listing.windows[1], tmp_path / "no" / "out.md", "markdown")
    history.until(history.window.toast.isVisible)
    assert "are saved in" not in history.window.toast._text.text()


def test_what_is_said_meanwhile_is_listed(
    four_windows: ChatWriter, history: HistoryDesk, provider: ScriptedProvider
) -> None:
    panel = history.open_history()
    _choose(history, 0, 0)
    history.until(lambda: len(_listed(panel)) == 6)
    provider.play(reply("Good ", "bye"))
    history.say("Thanks")
    history.until(lambda: _listed(panel)[-2:] == ["Thanks", "Good bye"])
    assert len(_listed(panel)) == 8
    history.window.controller.reset_context()
    history.until(lambda: "Window 5, now" in _titles(panel)[0])
    assert _titles(panel)[1] == "The agent can't look beyond this line. You can."
    assert _titles(panel).count("The agent can't look beyond this line. You can.") == 1


def test_reading_and_searching_go_on_while_a_reply_is_written(
    four_windows: ChatWriter, history: HistoryDesk, provider: ScriptedProvider
) -> None:
    hold = Hold()
    provider.play([TextPiece("slow"), hold, *reply(" end")])
    panel = history.open_history()
    history.type("Write")
    history.press(Qt.Key.Key_Return)
    history.reached(hold)
    history.until(lambda: not history.window.page.composer.text())
    _search(history, "hotels")
    assert panel.searching.search.hits == 40
    history.qtbot.keyClick(panel.search.field, Qt.Key.Key_Escape)
    assert history.window.controller.is_streaming, "Esc ended the search, not the reply"
    hold.release()
    history.idle()


def test_the_history_follows_the_open_chat(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    _search(history, "temples")
    history.window.chats.new()
    history.until(lambda: panel.session == history.session != four_windows.session)
    history.until(lambda: "Nothing was said in this chat yet" in panel._message.text())
    assert panel.search.field.text() == ""
    history.window.chats.open(four_windows.session)
    history.until(lambda: len(_titles(panel)) == 5)


def test_thousands_of_rows_are_listed_searched_and_read(writer: ChatWriter, history: HistoryDesk) -> None:
    # Written after the chat was opened: another process was busy.
    writer.write(
        Written("", [*talk(2_000, "hotels"), ("user", "a phrase said once")]),
        Written("rollover", talk(1_500, "temples")),
    )
    panel = history.open_history()
    _choose(history, 9, 0)
    tree = panel.windows
    bar = tree.verticalScrollBar()
    group = panel._windows_model.groups[0]
    while len(group.children) < 1_000:
        before = len(group.children)
        bar.setValue(tree.visualRect(tree.model().index(before - 1, 0, tree.model().index(0, 0))).top() + bar.value())
        history.until(lambda before=before: len(group.children) > before)  # type: ignore[misc]
    numbers = [child.seq for child in group.children if isinstance(child, HistoryItem)]
    assert numbers == list(range(4_003, 4_003 + len(numbers)))
    _search(history, "PHRASE said")
    assert panel.searching.search.hits == 1
    history.qtbot.keyClick(panel.search.field, Qt.Key.Key_Down)
    history.until(lambda: panel.reader.text.toPlainText() == "a phrase said once")


def test_a_result_of_twenty_megabytes_is_read_in_pieces(writer: ChatWriter, history: HistoryDesk) -> None:
    text = "\n".join(f"row {number:08} 🏯" for number in range(1_400_000))
    sha256 = Blobs(writer.files.blobs).put(text.encode())
    writer.write_bytes(
        json.dumps(
            {
                "v": 1,
                "id": "0" * 23 + "9",
                "session": writer.session,
                "seq": 9,
                "role": "assistant",
                "created": "2026-05-03T10:00:00Z",
                "parts": [
                    {
                        "type": "tool",
                        "call_id": "c1",
                        "name": "read_file",
                        "input": {"path": "rows.txt"},
                        "state": "done",
                        "output": text[:200],
                        "output_blob": {"sha256": sha256, "bytes": len(text.encode()), "chars": len(text)},
                    }
                ],
            },
            ensure_ascii=False,
        ).encode()
        + b"\n"
    )
    panel = history.open_history()
    item = _choose(history, 0, 0)
    assert item.chars > 20_000_000
    reader = panel.reader.text
    history.until(lambda: "row 00000000" in reader.toPlainText() and not panel.reading.is_busy)
    history.qtbot.keyClick(reader, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    history.until(lambda: "row 01399999 🏯" in reader.toPlainText() and not panel.reading.is_busy)
    assert len(reader.toPlainText()) < 200_000
    bar = reader.verticalScrollBar()
    offset = panel.reading.pieces[0].offset
    bar.setValue(0)
    history.until(lambda: panel.reading.pieces[0].offset < offset and not panel.reading.is_busy)
    lines = [line for line in reader.toPlainText().split("\n") if line][1:-1]
    numbers = [int(line.split()[1]) for line in lines]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "pieces join without a gap"


def test_damage_is_named_and_the_rest_is_there(writer: ChatWriter, history: HistoryDesk) -> None:
    writer.write(Written("", talk(1, "hotels")))
    writer.write_bytes(b'{"v":1,"id":"broken\n')
    writer.write_bytes(b'{"v":1,"id":"long","parts":[{"type":"text","text":"' + b"x" * 1_100_000 + b'"}]}\n')
    writer.write(Written("", [("user", "after it")]))
    panel = history.open_history()
    history.until(lambda: "after it" in _listed(panel))
    history.until(
        lambda: _listed(panel)[-1].startswith("Not listed: 1 damaged entry, 1 entry that is too long to read.")
    )
    _search(history, "hotels")
    assert "Not searched: 1 entry that is too long to read." in panel.status.text.text()


def test_a_disk_that_refuses_is_told_and_tried_again(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    with refusing(four_windows.files.chat):
        panel.search.field.setText("temples")
        history.qtbot.keyClick(panel.search.field, Qt.Key.Key_Return)
        history.until(lambda: panel.searching.search.status == "failed")
    assert panel.status.button.text() == "Try again"
    history.qtbot.mouseClick(panel.status.button, Qt.MouseButton.LeftButton)
    history.until(lambda: panel.searching.search.status == "done")


def test_a_history_that_another_program_rewrites_is_read_anew(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    _choose(history, 0, 0)
    lines = four_windows.files.chat.read_bytes().splitlines(keepends=True)
    four_windows.files.chat.write_bytes(b"".join(lines[:-2]))
    panel.note_change(history.session)
    history.until(lambda: len(_listed(panel)) == 4)
    assert panel.listing.state.status == "ready"


def test_it_is_drawn_in_every_theme_and_size(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    _choose(history, 1, 1)
    history.window.appearance.zoom_by(3)
    history.until(lambda: panel._theme.zoom > 1.2)
    history.window.grab()
    history.window.appearance.reset_zoom()
    history.window.appearance.save_pending()
    history.until(lambda: panel._theme.zoom == 1.0)


def test_the_timeline_frames_what_is_on_screen(four_windows: ChatWriter, history: HistoryDesk) -> None:
    panel = history.open_history()
    windows = {window.number: window for window in panel.listing.windows}
    timeline = panel.timeline
    history.until(lambda: timeline._on_screen is not None)
    first, last = timeline._on_screen or (0, 0)
    assert first >= windows[3].start, "the chat is open at its end"
    assert last > windows[4].end

    item = _choose(history, 0, 4)
    assert item.preview == "Question 0 about hotels"
    panel._go(item)
    history.until(lambda: (timeline._on_screen or (1, 0))[0] == item.offset)
    assert (timeline._on_screen or (0, 0))[1] < windows[2].start


def test_the_frame_lies_where_the_rows_lie_also_in_the_archive(writer: ChatWriter, history: HistoryDesk) -> None:
    writer.write(Written("", talk(30, "hotels")))
    writer.files.chat.rename(writer.files.archive)
    writer.write(Written("rollover", talk(30, "temples"), 96_000))
    panel = history.open_history()
    second = panel.listing.windows[0]
    item = _choose(history, 4, 0)
    assert item.offset > second.start > 0
    panel._go(item)
    history.until(lambda: second.start < (panel.timeline._on_screen or (0, 0))[0] <= item.offset)
