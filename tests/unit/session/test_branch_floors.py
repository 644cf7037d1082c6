"""No branch shows a model more than its original does. See context-windows.md, 3 and 7."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.rows import Row
from app.domain.windows import HistoryItem, View
from app.history.files import ChatFiles
from app.history.sidecars import SessionMeta, write_sidecar
from app.history.view import HistoryView
from app.session.branching import copy_history
from tests.unit.session.test_branching import DAMAGED_RESET, Original


def items(files: ChatFiles, session: str, view: View) -> list[HistoryItem]:
    looker = HistoryView(ChatFiles(files.folder), session=session, view=view)
    while not looker.windows().is_complete:
        pass
    found: list[HistoryItem] = []
    mark = None
    while True:
        page = looker.items(mark, recent_first=False)
        found += page.items
        mark = page.next
        if mark is None:
            return found


def branch(original: Original, item: HistoryItem, floor: int | None) -> tuple[list[str], int | None]:
    """Return what a model sees of a branch at `item`, and the floor that its small file knows."""
    with original.library.unfinished() as (name, files):
        floor_seq, _ = copy_history(
            original.files, files, session=name, until=item, told=lambda _bytes: None, floor=floor
        )
        write_sidecar(files.meta, SessionMeta(floor_seq=floor_seq))
    copied = original.library.files(name)
    return [seen.preview for seen in items(copied, name, View.AGENT)], floor_seq


def test_a_floor_without_a_row_comes_along(tmp_path_factory: pytest.TempPathFactory) -> None:
    original = Original(tmp_path_factory.mktemp("data"))
    original.add(*(original.row(f"r{number}") for number in range(1, 5)))
    write_sidecar(original.files.meta, SessionMeta(floor_seq=2))
    last = items(original.files, original.session, View.PERSON)[-1]
    assert branch(original, last, 2) == (["text of r3", "text of r4"], 2)


def test_a_branch_from_above_a_reset_that_only_a_row_knows_is_fresh_for_a_model(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    original = Original(tmp_path_factory.mktemp("data"))
    original.add(original.row("r1"), original.row("r2"), original.boundary("b1", "reset"), original.row("r3"))
    for item in items(original.files, original.session, View.PERSON)[:2]:
        assert item.is_above_floor
        assert branch(original, item, None)[0] == []


_LINES = st.lists(
    st.sampled_from(["row", "row", "row", "no number", "rollover", "compaction", "reset", "strange", "damaged reset"]),
    min_size=1,
    max_size=9,
)


def _line(original: Original, number: int, kind: str) -> Row | bytes:
    match kind:
        case "row":
            return original.row(f"r{number}")
        case "no number":
            return original.row(f"r{number}").model_copy(update={"seq": None})
        case "damaged reset":
            original.seq += 1
            return DAMAGED_RESET
        case _:
            return original.boundary(f"b{number}", kind)


@settings(max_examples=20)
@given(kinds=_LINES, floor=st.none() | st.integers(1, 10), moved=st.integers(0, 9))
def test_a_model_sees_of_any_branch_no_more_than_of_the_original_up_to_there(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], floor: int | None, moved: int
) -> None:
    original = Original(tmp_path_factory.mktemp("data"))
    for number, kind in enumerate(kinds):
        original.add(_line(original, number, kind), to="archive" if number < moved else "chat")
    write_sidecar(original.files.meta, SessionMeta(floor_seq=floor))
    allowed = [item.preview for item in items(original.files, original.session, View.AGENT)]
    for item in items(original.files, original.session, View.PERSON):
        seen, _ = branch(original, item, floor)
        wanted = allowed[: allowed.index(item.preview) + 1] if item.preview in allowed else []
        assert set(seen) <= set(wanted)
        if floor is None:
            assert seen == wanted
