"""The model of what waits: follows any change of the queue, and asks where a message is dropped."""

import random

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.domain.queue import QueuedMessage, When
from app.domain.rows import Blob, MediaPart
from app.ui.chat.queue_tray_model import MIME_TYPE, QueueModel

NO_PARENT = QModelIndex()


def message(name: str, *, when: When = When.AFTER_TURN, files: int = 0, text: str | None = None) -> QueuedMessage:
    parts = tuple(
        MediaPart(media_type="text/plain", name=f"{number}.txt", bytes=1, blob=Blob(sha256=f"{number:064}", bytes=1))
        for number in range(files)
    )
    return QueuedMessage(name, f"text of {name}" if text is None else text, parts, when)


def ids(model: QueueModel) -> list[str]:
    found = [model.message_at(model.index(row)) for row in range(model.rowCount())]
    return [each.id for each in found if each is not None]


def test_it_follows_every_change(qtmodeltester: ModelTester) -> None:
    model = QueueModel()
    qtmodeltester.check(model)
    dice = random.Random(7)
    names = [f"m{number}" for number in range(6)]
    for _ in range(80):
        chosen = dice.sample(names, dice.randint(0, len(names)))
        before = {name: QPersistentModelIndex(model.index(row)) for row, name in enumerate(ids(model))}
        model.set_messages([message(name) for name in chosen])
        assert ids(model) == chosen
        for name, index in before.items():
            kept = model.message_at(index)
            assert (kept.id if kept is not None else "") == (name if name in chosen else "")


def test_what_is_chosen_stays_chosen_when_a_message_moves(qtbot: QtBot) -> None:
    model = QueueModel()
    model.set_messages([message("a"), message("b"), message("c")])
    index = QPersistentModelIndex(model.index(2))
    with qtbot.waitSignal(model.rowsMoved):
        model.set_messages([message("c"), message("a"), message("b")])
    assert index.row() == 0


def test_only_what_changed_is_told(qtbot: QtBot) -> None:
    model = QueueModel()
    model.set_messages([message("a"), message("b")])
    told: list[int] = []
    model.dataChanged.connect(lambda first, _last: told.append(first.row()))
    model.set_messages([message("a"), message("b", text="other")])
    assert told == [1]
    with qtbot.assertNotEmitted(model.dataChanged):
        model.set_messages([message("a"), message("b", text="other")])


def test_a_line_is_said_with_its_moment_its_files_and_its_model() -> None:
    model = QueueModel()
    model.set_messages([message("a", when=When.AFTER_STEP, files=2, text=" two\nlines ")])
    model.set_describe(lambda _message: "with Opus")
    index = model.index(0)
    assert index.data() == "two lines"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "two lines, after this step, 2 files, with Opus"


def test_files_stand_for_a_message_without_text() -> None:
    model = QueueModel()
    model.set_messages([message("a", files=2, text="")])
    assert model.index(0).data() == "0.txt, 1.txt"


def test_a_tooltip_is_text_only() -> None:
    model = QueueModel()
    model.set_messages([message("a", text="<img src=x>")])
    assert "&lt;img" in model.index(0).data(Qt.ItemDataRole.ToolTipRole)


def test_a_drop_asks_and_moves_nothing(qtbot: QtBot) -> None:
    model = QueueModel()
    model.set_messages([message("a"), message("b"), message("c")])
    for source, row, place in ((0, 3, 2), (0, 2, 1), (2, 0, 0), (1, -1, 2)):
        data = model.mimeData([model.index(source)])
        assert data.hasFormat(MIME_TYPE)
        with qtbot.waitSignal(model.move_wanted) as told:
            assert not model.dropMimeData(data, Qt.DropAction.MoveAction, row, 0, NO_PARENT)
        assert told.args == [ids(model)[source], place]
    data = model.mimeData([model.index(1)])
    with qtbot.assertNotEmitted(model.move_wanted):
        for row in (1, 2):
            model.dropMimeData(data, Qt.DropAction.MoveAction, row, 0, NO_PARENT)
    assert ids(model) == ["a", "b", "c"]


def test_nothing_is_dragged_where_nothing_may_be_changed(qtbot: QtBot) -> None:
    model = QueueModel()
    model.set_messages([message("a"), message("b")])
    assert model.flags(model.index(0)) & Qt.ItemFlag.ItemIsDragEnabled
    model.set_changeable(on=False)
    assert not model.flags(model.index(0)) & Qt.ItemFlag.ItemIsDragEnabled
    with qtbot.assertNotEmitted(model.move_wanted):
        model.dropMimeData(model.mimeData([model.index(0)]), Qt.DropAction.MoveAction, 2, 0, NO_PARENT)
