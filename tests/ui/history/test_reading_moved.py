"""The reader goes on when the place of an item has moved: by its number, or by its id if it has none."""

import asyncio
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from app.aio import TaskSet
from app.domain.errors import StaleItem
from app.domain.windows import ItemText
from app.ui.history.reading import Reading
from tests.fakes.history import PlayedHistory


class Moved(PlayedHistory):
    """No exact reference holds any more."""

    async def read_history_item(
        self, session: str, ref: str, *, offset_chars: int = 0, limit_chars: int = 16_000
    ) -> ItemText | None:
        if not ref.startswith(("#", "m:")):
            await asyncio.sleep(0)
            raise StaleItem("moved")
        return await super().read_history_item(session, ref, offset_chars=offset_chars, limit_chars=limit_chars)


@pytest.mark.parametrize("has_number", [True, False])
async def test_what_has_moved_is_read_all_the_same(qapp: QApplication, *, has_number: bool) -> None:
    history = Moved()
    window = history.add_window("first", [("user", "what was said")])
    if not has_number:
        history.items[0] = replace(history.items[0], seq=None)
    failed: list[str] = []
    tasks = TaskSet(lambda _name, error: failed.append(str(error)))
    reading = Reading(history, tasks, qapp)  # type: ignore[arg-type]
    reading.failed.connect(failed.append)
    reading.open_item("s", history.items[0])
    await tasks.drain(timeout_seconds=5)
    assert [piece.text for piece in reading.pieces] == ["what was said"]
    reading.open_window("s", window)
    await tasks.drain(timeout_seconds=5)
    assert [piece.text for piece in reading.pieces] == ["what was said"]
    assert failed == []
    reading.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
