"""The lists as Qt models."""

from collections.abc import Callable
from dataclasses import replace

from pytestqt.modeltest import ModelTester

from app.domain.windows import SearchHit, WindowInfo
from app.ui.history.entries import Floor, HitGroup, Note, NoteKind
from app.ui.history.model import Group, HistoryModel
from app.ui.history.shelf import Splice
from tests.fakes.history import PlayedHistory


def _name(_ref: str) -> str:
    return "Practice model"


def _filled(played: PlayedHistory) -> HistoryModel:
    old = played.add_window("first", [("user", "old")], is_above_floor=True)
    new = played.add_window("reset", [("user", "new"), ("assistant", "reply")])
    model = HistoryModel(_name)
    groups = [Group(new.id, new, may_have_more=True), Group("floor", Floor(new.id)), Group(old.id, old)]
    model.show_groups(groups)
    model.splice(new.id, Splice(0, 0, (*played.items[1:], Note(NoteKind.LOADING, "Loading more…"))))
    return model


def test_qt_finds_nothing_wrong_with_windows_and_items(qtmodeltester: ModelTester, played: PlayedHistory) -> None:
    model = _filled(played)
    qtmodeltester.check(model)
    first, second = model.groups[0].key, model.groups[2].key
    model.splice(first, Splice(1, 2, (played.items[0],)))
    model.show_groups([Group("w:9", WindowInfo("w:9", 9, "rollover", 0, 9, 1)), *model.groups])
    model.empty(second)
    model.show_groups(model.groups[1:])
    qtmodeltester.check(model)
    model.clear()
    qtmodeltester.check(model)


def test_qt_finds_nothing_wrong_with_hits(qtmodeltester: ModelTester, played: PlayedHistory) -> None:
    window = played.add_window("first", [("user", "one"), ("assistant", "two")])
    model = HistoryModel(_name)
    model.add_group(Group(window.id, HitGroup(window, 0)))
    hits = tuple(SearchHit(item, item.preview, 0, 1, 0, 1) for item in played.items)
    model.splice(window.id, Splice(0, 0, hits))
    model.set_value(0, HitGroup(window, 2))
    qtmodeltester.check(model)


def test_a_window_that_stays_keeps_its_items_and_shows_what_changed(played: PlayedHistory) -> None:
    model = _filled(played)
    newest = model.groups[0]
    assert isinstance(newest.value, WindowInfo)
    changed: list[tuple[bool, int, int]] = []
    model.dataChanged.connect(
        lambda first, last: changed.append((first.parent().isValid(), first.row(), last.row())),
    )
    grown = replace(newest.value, rows=40)
    following = WindowInfo("w:99", 3, "rollover", 0, 1, 0, is_active=True)
    model.show_groups([Group("w:99", following), Group(newest.key, grown), *model.groups[1:]])
    assert [group.key for group in model.groups][:2] == ["w:99", newest.key]
    assert len(model.groups[1].children) == 3
    assert model.groups[1].value == grown
    # Its items too: they are drawn as their window says.
    assert changed == [(False, 1, 1), (True, 0, 2)]


def test_children_are_asked_for_once(played: PlayedHistory) -> None:
    window = played.add_window("first", [("user", "one")])
    model = HistoryModel(_name)
    model.show_groups([Group(window.id, window, may_have_more=True)])
    asked: list[str] = []
    model.wanted.connect(asked.append)
    index = model.group_index(window.id)
    assert model.hasChildren(index)
    while model.canFetchMore(index):
        model.fetchMore(index)
    assert asked == [window.id]


def test_a_screen_reader_is_told_who_when_and_what(played: PlayedHistory) -> None:
    model = _filled(played)
    said: Callable[[int], object] = lambda row: model.data(model.index(row, 0))  # noqa: E731
    assert "Window 2, now" in str(said(0))
    assert "can't look beyond this line" in str(said(1))
    assert "beyond the reach of the agent" in str(said(2))
    item = model.index(1, 0, model.index(0, 0))
    assert str(model.data(item)).startswith("Practice model, ")
    assert str(model.data(item)).endswith(": reply")
