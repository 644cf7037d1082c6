from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester

from app.domain.chats import ChatSummary
from app.ui.chats_model import IS_GROUP_ROLE, ChatsModel, Mark

NOW = datetime.now(UTC).replace(hour=12)


def chat(name: str, *, days: int = 0, title: str | None = None) -> ChatSummary:
    moment = NOW - timedelta(days=days)
    return ChatSummary(id=name, title=name if title is None else title, created=moment, updated=moment, model="p/m")


def rows(model: ChatsModel) -> list[str]:
    return [str(model.index(row).data()) for row in range(model.rowCount())]


def test_the_model_keeps_qts_promises(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    qtmodeltester.check(model)
    model.set_chats([chat("a"), chat("b", days=1), chat("c", days=400)])
    qtmodeltester.check(model)
    model.put_chat(chat("d", days=3))
    model.remove_chat("a")
    qtmodeltester.check(model)


def test_chats_stand_under_their_day(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats(
        [chat("old", days=90), chat("now"), chat("week", days=5), chat("month", days=20), chat("yd", days=1)]
    )
    assert rows(model) == [
        "Today", "now", "Yesterday", "yd", "Last 7 days", "week", "Last 30 days", "month", "Older", "old",
    ]  # fmt: skip


def test_a_chat_without_a_title_is_a_new_chat(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats([chat("a", title="")])
    assert rows(model) == ["Today", "New chat"]


def test_headings_can_be_neither_chosen_nor_renamed(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats([chat("a")])
    heading = model.index(0)
    assert heading.data(IS_GROUP_ROLE)
    assert model.flags(heading) == Qt.ItemFlag.NoItemFlags
    assert model.chat_at(heading) is None
    assert not model.setData(heading, "x")


def test_a_place_in_the_list_follows_its_chat(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats([chat("a"), chat("b", days=2)])
    row = model.row_of("b")
    assert row is not None
    place = QPersistentModelIndex(model.index(row))
    model.put_chat(chat("b"))
    found = model.chat_at(place)
    assert found is not None
    assert found.id == "b"
    model.remove_chat("b")
    assert not place.isValid()


def test_an_edit_asks_for_the_new_title(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats([chat("a")])
    asked: list[tuple[str, str]] = []
    model.rename_requested.connect(lambda session, title: asked.append((session, title)))
    index = model.index(1)
    assert model.setData(index, "  new \n name ")
    assert not model.setData(index, "   ")
    assert model.setData(index, "a")
    assert asked == [("a", "new name")]


def test_marks_are_said_in_words_too(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats([chat("a")])
    changed: list[QModelIndex] = []
    model.dataChanged.connect(lambda index, *_rest: changed.append(index))
    model.set_mark("a", Mark.STREAMING)
    model.set_mark("a", Mark.STREAMING)
    assert len(changed) == 1
    assert "being written" in model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    model.set_mark("a", Mark.ASKING)
    assert "asks you" in model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)


def test_a_title_is_never_read_as_rich_text(qtmodeltester: ModelTester) -> None:
    model = ChatsModel()
    model.set_chats([chat("a", title='<img src="file:///dev/zero">')])
    tooltip = model.index(1).data(Qt.ItemDataRole.ToolTipRole)
    assert tooltip == "<qt>&lt;img src=&quot;file:///dev/zero&quot;&gt;</qt>"
