"""Pages that are kept of one window, and what that does to its list."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.windows import HistoryItem, ItemsPage, Mark, Skipped
from app.ui.history.entries import Child, Note, NoteKind
from app.ui.history.shelf import NoteWords, Shelf, splices
from tests.fakes.history import PlayedHistory

WORDS = NoteWords("more", "earlier", "nothing")


def _items(count: int) -> list[HistoryItem]:
    played = PlayedHistory()
    return [played.add_item("w:0", "user", f"text {number}") for number in range(count)]


def _page(items: list[HistoryItem], start: int, end: int, *, damaged: int = 0) -> ItemsPage:
    following = Mark("e", end) if end < len(items) else None
    return ItemsPage(tuple(items[start:end]), following, 1, end - start, Skipped(damaged=damaged))


def _shown(shelf: Shelf) -> list[str]:
    return [_label(child) for child in shelf.children()]


def _label(child: Child) -> str:
    assert isinstance(child, Note | HistoryItem)
    return child.text if isinstance(child, Note) else child.ref


def test_pages_follow_each_other_to_the_end() -> None:
    items = _items(5)
    shelf = Shelf(WORDS)
    shelf.append(None, _page(items, 0, 3))
    assert _shown(shelf) == ["ref1", "ref2", "ref3", "more"]
    shelf.append(Mark("e", 3), _page(items, 3, 5))
    assert _shown(shelf) == ["ref1", "ref2", "ref3", "ref4", "ref5"]
    assert shelf.ends


def test_a_page_that_was_put_away_comes_back_by_its_mark() -> None:
    items = _items(6)
    shelf = Shelf(WORDS)
    for start in (0, 2, 4):
        shelf.append(Mark("e", start) if start else None, _page(items, start, start + 2, damaged=1))
    shelf.drop_first()
    assert _shown(shelf) == ["earlier", "ref3", "ref4", "ref5", "ref6"]
    assert shelf.before == [None]
    shelf.prepend(_page(items, 0, 2))
    shelf.drop_last()
    assert _shown(shelf) == ["ref1", "ref2", "ref3", "ref4", "more"]
    shelf.append(shelf.next, _page(items, 4, 6, damaged=1))
    assert shelf.skipped.damaged == 3, "nothing is counted twice"


def test_an_empty_window_says_so_and_skipped_rows_are_named() -> None:
    shelf = Shelf(WORDS)
    shelf.append(None, ItemsPage((), None, 0, 0))
    assert _shown(shelf) == ["nothing"]
    shelf.skipped_note = "one is damaged"
    assert _shown(shelf) == ["one is damaged"]


@given(
    st.lists(st.integers(0, 11), unique=True, max_size=12).map(sorted),
    st.lists(st.integers(0, 11), unique=True, max_size=12).map(sorted),
    st.booleans(),
)
def test_any_change_of_a_list_comes_out_right(had: list[int], has: list[int], ends: bool) -> None:
    items = _ITEMS
    old: list[Child] = [items[number] for number in had]
    new: list[Child] = [items[number] for number in has]
    if ends:
        old.append(Note(NoteKind.LOADING, "more"))
        new.insert(0, Note(NoteKind.EARLIER, "earlier"))
    made = list(old)
    for row, removed, inserted in splices(old, new):
        made[row : row + removed] = inserted
    assert made == new


_ITEMS = _items(12)


def test_what_stays_in_the_list_is_not_touched() -> None:
    items: list[Child] = list(_items(40))
    more, earlier = Note(NoteKind.LOADING, "more"), Note(NoteKind.EARLIER, "earlier")
    changes = splices([*items[:20], more], [earlier, *items[10:30], more])
    assert [(change.row, change.removed, len(change.inserted)) for change in changes] == [(20, 0, 10), (0, 10, 1)]
