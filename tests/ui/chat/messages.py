"""What tests do with the messages of a chat, and what they see of it."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.domain.rows import Row
from app.ui.chat.deeds import Deed, VersionMark
from app.ui.chat.message_bar import number_of
from app.ui.chat.message_controller import MessageController
from app.ui.chat.targets import Target, TargetKind
from app.ui.chat.transcript_view import TranscriptView
from tests.ui.conftest import Desk


def messages(desk: Desk) -> MessageController:
    return desk.window.controller.messages


def view(desk: Desk) -> TranscriptView:
    return desk.window.page.transcript


def is_editing(desk: Desk) -> bool:
    """Whether a message stands in the composer to be changed."""
    return desk.window.page.composer.is_editing


def reaches_end(desk: Desk) -> bool:
    """Whether the newest message is in the transcript."""
    return desk.window.controller.pager.reaches_end


def texts(desk: Desk, session: str = "") -> list[str]:
    """Return what the chat says on disk."""
    return [row.text for row in desk.rows(session)]


def shown_ids(desk: Desk) -> list[str]:
    """Return the messages in the transcript, without what the program says there."""
    known = {row.id for row in desk.rows()}
    return [node.item.id for node in view(desk).nodes if node.item.id in known]


def settled(desk: Desk, *said: str) -> None:
    """Wait until the chat says this, on disk and in the transcript, and nothing runs."""
    desk.until(lambda: texts(desk) == list(said))
    desk.idle()
    desk.until(lambda: shown_ids(desk) == [row.id for row in desk.rows()])


def marks(desk: Desk) -> dict[str, VersionMark]:
    """Return the versions that are told of, by the text or the id of the item they stand below."""
    by_id = {row.id: row.text for row in desk.rows()}
    return {by_id.get(item, item): mark for item, mark in view(desk).rows.bars.look.marks.items()}


def marked(desk: Desk, **expected: tuple[int, int]) -> None:
    """Wait until just these messages are said to be one of several versions."""
    wanted = {text: VersionMark(*mark) for text, mark in expected.items()}
    desk.until(lambda: marks(desk) == wanted)


def button(desk: Desk, row: Row | str, deed: Deed) -> Target:
    """Return a button below a message, which is brought on screen for it."""
    item_id = row if isinstance(row, str) else row.id
    node = view(desk).model.node(item_id)
    assert node is not None
    last = view(desk).model.last_step(node)
    view(desk).flow.reveal(last, len(last.rows) - 1, below_top=view(desk).flow.height // 2)
    view(desk).sync()
    return next(
        target
        for which, target in view(desk).on_screen.targets()
        if target.kind is TargetKind.MESSAGE and which.item == last.order and which.number == number_of(deed)
    )


def click(desk: Desk, row: Row | str, deed: Deed) -> None:
    """Click a button below a message."""
    point = button(desk, row, deed).rect.center().toPoint()
    desk.qtbot.mouseClick(view(desk).viewport(), Qt.MouseButton.LeftButton, pos=point)


def deeds(desk: Desk, row: Row) -> list[Deed]:
    return [offer.deed for offer in messages(desk).offers(row.id)]


def menu_of(desk: Desk, row: Row) -> QMenu:
    """Return the context menu of a message."""
    view(desk).show_item(row.id)
    node = view(desk).model.node(row.id)
    assert node is not None
    rect = view(desk).rect_of(node)
    return view(desk).make_menu(QPoint(rect.center().x(), rect.top() + 30))


def choose(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text() == text).trigger()
    menu.deleteLater()


def labels(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def press(desk: Desk, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key in the transcript."""
    QTest.keyClick(view(desk), key, modifiers)


def popup() -> QMenu | None:
    found = QApplication.activePopupWidget()
    return found if isinstance(found, QMenu) else None
