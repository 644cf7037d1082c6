import threading

from pytestqt.qtbot import QtBot

from app.domain.chats import TurnState
from app.domain.events import ReplyDelta, ReplyStarted, SessionEvent, StateChanged
from app.ui.bridge import EventBuffer


def test_events_of_any_thread_arrive_in_order_with_deltas_joined(qtbot: QtBot) -> None:
    buffer = EventBuffer()
    heard: list[SessionEvent] = []
    batches: list[int] = []

    def take(events: tuple[SessionEvent, ...]) -> None:
        batches.append(len(events))
        heard.extend(events)

    buffer.arrived.connect(take)
    words = [f"{number} " for number in range(5000)]

    def speak() -> None:
        buffer.put(ReplyStarted("s", "r", "m"))
        for word in words:
            buffer.put(ReplyDelta("s", "r", "text", word))
        buffer.put(StateChanged("s", TurnState.IDLE))

    thread = threading.Thread(target=speak)
    thread.start()
    qtbot.waitUntil(lambda: bool(heard) and isinstance(heard[-1], StateChanged))
    thread.join()
    assert isinstance(heard[0], ReplyStarted)
    deltas = [event for event in heard if isinstance(event, ReplyDelta)]
    assert "".join(event.text for event in deltas) == "".join(words)
    assert len(deltas) == len(heard) - 2
    assert len(batches) < 200, "deltas come a batch a frame, not one by one"


def test_deltas_of_two_replies_and_kinds_are_not_joined(qtbot: QtBot) -> None:
    buffer = EventBuffer()
    heard: list[SessionEvent] = []
    buffer.arrived.connect(heard.extend)
    told = [
        ReplyDelta("s", "r", "reasoning", "a"),
        ReplyDelta("s", "r", "reasoning", "b"),
        ReplyDelta("s", "r", "text", "c"),
        ReplyDelta("t", "q", "text", "d"),
        ReplyDelta("s", "r", "text", "e"),
    ]
    for event in told:
        buffer.put(event)
    qtbot.waitUntil(lambda: len(heard) == 4)
    assert [event.text for event in heard if isinstance(event, ReplyDelta)] == ["ab", "c", "d", "e"]
