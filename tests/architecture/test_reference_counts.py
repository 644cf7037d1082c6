"""PySide6 takes no reference to None or True with each call from Qt into Python. See ADR-0005."""

import sys
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QIdentityProxyModel, QModelIndex, QObject, QStringListModel, Signal

CALLS = 200
"""Few enough that a version which takes references fails this test instead of ending the process."""
FEW = 40
"""What other threads and the test itself may add or take meanwhile."""


class Sender(QObject):
    plain = Signal()
    with_value = Signal(object)


class Eventful(QObject):
    def event(self, event: QEvent) -> bool:
        return True


class Watcher(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        return False


class Answering(QStringListModel):
    answer: object = None

    def data(self, index: object, role: int = 0) -> object:
        return self.answer


def emit_signals() -> None:
    sender = Sender()
    sender.plain.connect(lambda: None)
    sender.with_value.connect(lambda _value: None)
    for _ in range(CALLS):
        sender.plain.emit()
        sender.with_value.emit(None)


def override_event() -> None:
    receiver = Eventful()
    for _ in range(CALLS):
        QCoreApplication.sendEvent(receiver, QEvent(QEvent.Type.User))


def filter_events() -> None:
    receiver, watcher = QObject(), Watcher()
    receiver.installEventFilter(watcher)
    for _ in range(CALLS):
        QCoreApplication.sendEvent(receiver, QEvent(QEvent.Type.User))


def ask_model(answer: object) -> None:
    model, proxy = Answering(["a"]), QIdentityProxyModel()
    model.answer = answer
    proxy.setSourceModel(model)
    for _ in range(CALLS):
        proxy.data(proxy.index(0, 0, QModelIndex()))


@pytest.mark.parametrize(
    "call",
    [emit_signals, override_event, filter_events, lambda: ask_model(None), lambda: ask_model(True)],
    ids=["signals", "event", "event filter", "None from a model", "True from a model"],
)
def test_calls_from_qt_leave_the_reference_counts_alone(call: Callable[[], None], qapp: object) -> None:
    watched = (None, True, False)
    call()
    before = [sys.getrefcount(value) for value in watched]
    call()
    after = [sys.getrefcount(value) for value in watched]
    changes = {repr(value): new - old for value, old, new in zip(watched, before, after, strict=True)}
    assert {name: change for name, change in changes.items() if abs(change) > FEW} == {}
