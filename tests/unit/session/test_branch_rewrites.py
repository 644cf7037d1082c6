"""A chat that is rewritten while it is copied: no branch is half the old and half the new."""

from pathlib import Path

import pytest

from app.domain.errors import HistoryChanged
from app.domain.rows import Row, TextPart
from app.domain.windows import View
from app.history.scanner import MAX_PAGE_ROWS
from app.history.store import Store
from app.history.view import HistoryView
from app.session.branching import copy_history
from tests.unit.session.test_branching import Original


def test_a_rewrite_in_mid_copy_is_noticed_though_the_row_is_where_it_was(tmp_path: Path) -> None:
    original = Original(tmp_path)
    session = original.session
    store = Store(original.files, session=session)
    rows = [
        Row(id=f"r{number:04}", session=session, role="user", parts=(TextPart(text="old"),))
        for number in range(MAX_PAGE_ROWS * 2)
    ]
    for at in range(0, len(rows), 250):
        store.append(rows[at : at + 250], expected_last_seq=at)
    item = HistoryView(original.files, session=session, view=View.PERSON).items(limit=1).items[0]
    edits: list[int] = []

    def rewrite(_copied_bytes: int) -> None:
        if not edits:
            edits.append(store.rewrite(lambda row: row.model_copy(update={"parts": (TextPart(text="new"),)})))

    with original.library.unfinished() as (name, files), pytest.raises(HistoryChanged):
        copy_history(original.files, files, session=name, until=item, told=rewrite, floor=None)
    assert edits == [len(rows)]
