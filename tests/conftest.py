"""Settings every test shares: no display, a derandomised profile in CI, fakes for time and ids."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import gc
import inspect
import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=60,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("dev", parent=settings.get_profile("ci"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse coroutine tests that wait through qtbot: the nested Qt loop would never end them."""
    mixed = [
        item.nodeid
        for item in items
        if isinstance(item, pytest.Function)
        and inspect.iscoroutinefunction(item.function)
        and "qtbot" in item.fixturenames
    ]
    if mixed:
        raise pytest.UsageError(f"a coroutine test must not use qtbot: {', '.join(mixed)}")


@pytest.fixture(autouse=True)
def _garbage_on_the_main_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """As in the program (app/ui/garbage.py): no other thread may tear down a Qt object."""
    gc.disable()
    yield
    if "qtbot" not in request.fixturenames:
        gc.collect(0)
        return
    from PySide6.QtGui import QGuiApplication
    from PySide6.QtWidgets import QApplication

    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert left == [], "a window was left open"
    # What a test has copied is Python's; Qt would delete it after Python has ended.
    QGuiApplication.clipboard().clear()
    gc.collect()


@pytest.fixture(autouse=True)
def _no_unexpected_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test that logs a warning it did not look at (`caplog.clear()`)."""
    yield
    unexpected = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert unexpected == []
