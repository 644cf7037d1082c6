"""Pictures of the history of a chat, of what is found in it and in all chats, and of a fresh start."""

from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from app.domain.windows import HistoryItem
from app.ui.chat.find_controller import FindController
from app.ui.chat_search import ChatSearch
from app.ui.history.panel import HistoryPanel
from tests.benchmarks.driver import until
from tests.screenshots.camera import NARROW, SIZE, Camera
from tests.screenshots.kyoto import OTHERS, TRIP
from tests.screenshots.stories import write_story

NOW: Final = 0
FIRST: Final = 4
"""Among the groups of the list, the line of the fresh start counted."""
HIGH: Final = (1040, 1000)
"""Where a whole answer is to be seen."""
SOUGHT: Final = "temple"
PRACTICE: Final = "practice/practice"
CALL: Final = 'call session_history {"action": "list_windows"}'


def write_stories(root: Path) -> str:
    """Write the chats of the pictures; return the id of the one that is looked at."""
    for story in OTHERS:
        write_story(root, story)
    return write_story(root, TRIP)


async def take_history(camera: Camera, trip: str) -> None:
    """Take them with the chat `trip` open, in an order in which each needs what the one before left."""
    window = camera.window
    window.chats.open(trip)
    await until(lambda: window.controller.session == trip and window.page.transcript.nodes)
    panel = window.sides.show_history()
    await until(lambda: panel.listing.state.status == "ready")
    await _unfold(panel, NOW)
    await _unfold(panel, FIRST)
    await camera.take("history")
    camera.use(Qt.ColorScheme.Dark)
    await camera.take("history-dark")
    camera.use(Qt.ColorScheme.Light)
    await _take_reader(camera, panel)
    await _search(panel)
    await camera.take("history-search")
    window.resize(*NARROW)
    window.sides.show_history()
    await camera.take("history-narrow")
    window.resize(*SIZE)
    window.actions_.show_history.trigger()
    await _take_find(camera)
    await _take_all_chats(camera)
    await _take_fresh_start(camera)


async def _unfold(panel: HistoryPanel, group: int) -> None:
    tree = panel.windows
    parent = tree.model().index(group, 0)
    tree.expand(parent)
    await until(lambda: tree.model().rowCount(parent) > 1)


async def _take_reader(camera: Camera, panel: HistoryPanel) -> None:
    tree = panel.windows
    tree.setCurrentIndex(tree.model().index(3, 0, tree.model().index(FIRST, 0)))
    assert isinstance(tree.current_value(), HistoryItem)
    tree.setFocus()
    await until(lambda: panel.reader.isVisible() and panel.reader.text.toPlainText())
    await camera.take("history-reader")
    panel.reader.closed.emit()


async def _search(panel: HistoryPanel) -> None:
    _type(panel.search.field, SOUGHT)
    await until(lambda: panel.searching.search.status == "done")


async def _take_find(camera: Camera) -> None:
    window = camera.window
    window.find_in_chat(SOUGHT)
    finder = window.findChild(FindController)
    assert finder is not None
    await until(lambda: finder.search.text == SOUGHT and not finder.search.is_running)
    finder.go_previous()
    await camera.take("find")
    finder.close_bar()


async def _take_all_chats(camera: Camera) -> None:
    window = camera.window
    window.actions_.find_chats.trigger()
    field = QApplication.focusWidget()
    assert isinstance(field, QLineEdit)
    _type(field, SOUGHT)
    search = window.findChild(ChatSearch)
    assert search is not None
    await until(lambda: search.text == SOUGHT and not search.is_running)
    await camera.take("chat-search")
    window.panel.end_search()


async def _take_fresh_start(camera: Camera) -> None:
    """Start afresh in a chat with the Practice model, and let it look at what is left."""
    window = camera.window
    await camera.new_chat()
    await camera.choose_model(PRACTICE)
    await camera.say("Why is it called Muntin?")
    camera.type("/clear --soft")
    await until(lambda: any(node.item.is_divider for node in window.page.transcript.nodes))
    await camera.say(CALL)
    transcript = window.page.transcript
    node, at = next(
        (node, at) for node in transcript.nodes for at, section in enumerate(node.sections) if section.tool is not None
    )
    transcript.model.toggle_fold(node, at)
    transcript.sync()
    window.resize(*HIGH)
    transcript.scroll_to_item(transcript.nodes[0].item.id)
    await camera.take("fresh-start")


def _type(field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    field.insert(text)
