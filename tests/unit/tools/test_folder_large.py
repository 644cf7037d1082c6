"""A folder of 10,000 files is listed and searched, page by page."""

import os
from collections.abc import Iterator

import pytest

from app.tools.cap import Cap
from app.tools.folder_access import Folder
from app.tools.folder_arguments import ListFiles, SearchFiles
from app.tools.folder_list import ListFilesTool
from app.tools.folder_search import SearchFilesTool
from app.tools.folder_seen import Seen
from app.tools.folder_stop import Stop
from app.tools.folder_tool import ANSWER_SECONDS, Job, Shared
from tests.fakes.clock import FakeClock
from tests.unit.tools.folder_desk import FolderDesk, UneasyPlace
from tests.unit.tools.history_chat import COUNTER
from tests.unit.tools.test_folder_list import entries, pages


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> FolderDesk:
    desk = FolderDesk(tmp_path_factory.mktemp("large"))
    one = desk.put("f0/one.txt", "nothing here\n")
    for folder in range(10):
        (desk.root / f"f{folder}").mkdir(exist_ok=True)
        for number in range(1_000):
            # Second names are made faster than files.
            os.link(one, desk.root / f"f{folder}" / f"{number:04}.txt")
    desk.put("f7/fox.txt", "a fox\n")
    return desk


async def test_it_is_listed_without_gap_or_double(large: FolderDesk) -> None:
    answers = await pages(large, "list_files", recursive=True)

    found = [line.split(" ")[0] for answer in answers for line in entries(answer)]
    assert len(found) == 10_012 == len(set(found))
    assert found == sorted(found)
    assert all(len(answer.encode()) <= 16_384 for answer in answers)
    assert answers[-1].endswith("That is all.")


async def test_it_is_searched(large: FolderDesk) -> None:
    answers = await pages(large, "search_files", query="fox")

    assert [line for answer in answers for line in entries(answer)] == ["f7/fox.txt:1: a fox"]


def test_a_folder_that_takes_long_to_look_into_is_got_through_all_the_same(desk: FolderDesk) -> None:
    for number in range(9):
        desk.put(f"{number}.txt", "a fox\n")
    clock = FakeClock()

    class Slow(UneasyPlace):
        """Takes longer to tell its entries than a model waits."""

        def entries(self) -> Iterator[tuple[str, os.stat_result]]:
            clock.advance(2 * ANSWER_SECONDS)
            return super().entries()

    place, stop = Slow.at(desk.root), Stop()
    folder, shared = Folder(place, stop), Shared(COUNTER, clock, Seen(), desk.own)
    cap = Cap.of(desk.context, COUNTER)

    listed = ListFilesTool(shared).answer(
        folder, Job(ListFiles(), desk.context, desk.root, cap, clock, shared.seen, stop)
    )
    searched = SearchFilesTool(shared).answer(
        folder, Job(SearchFiles(query="fox"), desk.context, desk.root, cap, clock, shared.seen, stop)
    )

    place.close()
    assert len(entries(str(listed.output))) == 9
    assert len(entries(str(searched.output))) == 9
