"""The strip of windows."""

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.domain.windows import WindowInfo
from app.ui.history.timeline import Timeline, spans
from app.ui.theme import load_theme


def _window(number: int, start: int, end: int, tokens: int | None = None) -> WindowInfo:
    return WindowInfo(f"w:{number}", number, "rollover", start, end, 1, tokens=tokens)


def test_windows_lie_from_old_to_new_by_their_tokens() -> None:
    newest_first = [_window(3, 200, 300, 100), _window(2, 100, 200, 300), _window(1, 0, 100, 100)]
    found = spans(newest_first, 512.0)
    assert [span.window.number for span in found] == [1, 2, 3]
    widths = [round(span.right - span.left) for span in found]
    assert widths == [104, 304, 104]
    assert found[0].left == 0
    assert round(found[-1].right) == 512


def test_without_tokens_of_all_closed_windows_bytes_decide() -> None:
    found = spans([_window(2, 100, 400), _window(1, 0, 100, 9)], 408.0)
    assert [round(span.right - span.left) for span in found] == [104, 304]


def test_the_active_window_is_estimated_by_its_length() -> None:
    active = replace(_window(2, 100, 200), is_active=True)
    found = spans([active, _window(1, 0, 100, 5000)], 200.0)
    assert [round(span.right - span.left) for span in found] == [100, 100]


def test_thousands_of_windows_still_fit() -> None:
    found = spans([_window(number, number, number + 1) for number in range(5_000)], 300.0)
    assert round(found[-1].right) == 300


def test_a_click_chooses_a_window_and_ticks_lie_in_theirs(qtbot: QtBot) -> None:
    strip = Timeline(load_theme(dark=True))
    qtbot.addWidget(strip)
    strip.resize(400, 22)
    strip.show_windows((_window(2, 100, 200), _window(1, 0, 100)))
    strip.show_hits([150, 10])
    strip.show()
    with qtbot.waitSignal(strip.chosen) as chosen:
        qtbot.mouseClick(strip, Qt.MouseButton.LeftButton, pos=QPoint(300, 10))
    assert chosen.args == ["w:2"]
    assert sorted(strip._ticks) == [20, 300]
    assert strip.accessibleDescription()
    strip.grab()
