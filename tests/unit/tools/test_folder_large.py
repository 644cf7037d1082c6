"""A folder of 10,000 files is listed and searched, page by page."""

import os

import pytest

from tests.unit.tools.folder_desk import FolderDesk
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
