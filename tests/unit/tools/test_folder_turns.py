import threading

import pytest

from app.tools.folder_stop import Stop, Stopped, Turns


class Caller:
    """A call on a thread of its own, which works until it is let go."""

    def __init__(self, turns: Turns) -> None:
        self.stop = Stop()
        self.has_begun = threading.Event()
        self.goes_on = threading.Event()
        self.was_stopped = False
        self._turns = turns
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self) -> None:
        try:
            with self._turns.turn(self.stop):
                self.has_begun.set()
                assert self.goes_on.wait(20)
        except Stopped:
            self.was_stopped = True

    def end(self) -> None:
        self.goes_on.set()
        self.thread.join(20)


def test_one_call_works_at_a_time() -> None:
    turns = Turns(silent_seconds=60)
    first = Caller(turns)
    assert first.has_begun.wait(20)
    second = Caller(turns)
    assert not second.has_begun.wait(0.2)
    first.end()
    assert second.has_begun.wait(20)
    second.end()


def test_others_go_past_a_call_that_does_not_get_on() -> None:
    turns = Turns(silent_seconds=0.1)
    stuck = Caller(turns)
    assert stuck.has_begun.wait(20)
    other = Caller(turns)
    assert other.has_begun.wait(20)
    other.end()
    stuck.end()


def test_a_call_that_gets_on_is_waited_for() -> None:
    turns = Turns(silent_seconds=0.3)
    busy = Caller(turns)
    assert busy.has_begun.wait(20)
    other = Caller(turns)
    for _ in range(10):
        busy.stop.check()
        assert not other.has_begun.wait(0.1)
    busy.end()
    assert other.has_begun.wait(20)
    other.end()


def test_stop_ends_the_waiting() -> None:
    turns = Turns(silent_seconds=60)
    first = Caller(turns)
    assert first.has_begun.wait(20)
    second = Caller(turns)
    second.stop.set()
    second.thread.join(20)
    assert second.was_stopped
    first.end()


def test_a_call_that_was_stopped_raises_at_its_next_look() -> None:
    stop = Stop()
    stop.check()
    stop.set()
    with pytest.raises(Stopped):
        stop.check()
