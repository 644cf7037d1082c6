"""What a person is told when the program itself has failed."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.ui.crash_notice import CrashNotice


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[QWidget]:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    yield made
    for box in boxes(made):
        box.close()


def boxes(window: QWidget) -> list[QMessageBox]:
    return [box for box in window.findChildren(QMessageBox) if box.isVisible()]


def test_a_failure_on_a_thread_is_shown_with_its_report_and_what_is_typed_is_saved(
    qtbot: QtBot, window: QWidget, tmp_path: Path
) -> None:
    saved: list[bool] = []
    notice = CrashNotice(window, save=lambda: saved.append(True))
    for _ in range(2):
        thread = threading.Thread(target=notice.tell, args=(tmp_path / "crash-1.txt",))
        thread.start()
        thread.join()
    qtbot.waitUntil(lambda: len(saved) == 2)
    (box,) = boxes(window)
    assert str(tmp_path / "crash-1.txt") in box.informativeText()


def test_it_is_shown_even_if_saving_is_what_fails(qtbot: QtBot, window: QWidget) -> None:
    def fail() -> None:
        raise ValueError("broken")

    notice = CrashNotice(window, save=fail)
    with qtbot.captureExceptions() as caught:
        notice.tell(None)
        qtbot.waitUntil(lambda: len(boxes(window)) == 1)
    assert [kind for kind, _error, _trace in caught] == [ValueError]


def test_a_failure_after_the_window_is_gone_is_no_failure(qtbot: QtBot) -> None:
    window = QWidget()
    notice = CrashNotice(window, save=lambda: None)
    tell: Callable[[Path | None], None] = notice.tell
    shiboken6.delete(window)
    tell(None)
