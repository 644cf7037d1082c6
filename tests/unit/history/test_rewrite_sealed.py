"""Rows of sealed windows are left alone by a rewrite, however many pages they fill."""

import pytest

from app.history.files import ChatFiles
from app.history.scanner import MAX_PAGE_ROWS
from tests.unit.history.rows import all_labels, boundary_row, open_store, text_row


@pytest.mark.parametrize("sealed", [1, MAX_PAGE_ROWS - 1, MAX_PAGE_ROWS, MAX_PAGE_ROWS + 1, 2 * MAX_PAGE_ROWS])
def test_only_the_active_window_is_rewritten(files: ChatFiles, sealed: int) -> None:
    store = open_store(files)
    for at in range(0, sealed, 200):
        rows = [text_row(f"s{number}") for number in range(at, min(at + 200, sealed))]
        store.append(rows, expected_last_seq=at)
    store.append([boundary_row("r"), text_row("a"), text_row("b")], expected_last_seq=sealed)
    before = all_labels(files)
    assert store.rewrite(lambda row: None if row.id == "a" or row.id.startswith("s") else row)
    assert all_labels(files) == [label for label in before if label != "a"]
