"""Stop, while a disk answers slowly or not at all."""

import asyncio
import threading
from pathlib import Path

import pytest

from app.aio import run_blocking
from app.tools.folder_access import Folder
from app.tools.folder_arguments import WriteFile
from app.tools.folder_change import Change, FolderChanger, NoChange
from app.tools.folder_schema import WRITE_SPEC
from app.tools.folder_seen import Seen
from app.tools.folder_stop import Stop, Stopped
from app.tools.folder_tool import Job, Shared
from tests.fakes.clock import FakeClock
from tests.unit.tools.folder_desk import FolderDesk, UneasyPlace
from tests.unit.tools.history_chat import COUNTER

CALLS = 40
"""More than the loop's pool has threads."""


class StalledClock(FakeClock):
    """Holds whoever looks at it, as a network disk does that is gone."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Semaphore(0)
        self.goes_on = threading.Event()

    def monotonic(self) -> float:
        self.begun.release()
        self.goes_on.wait()
        return super().monotonic()


async def test_a_disk_that_does_not_answer_keeps_nothing_else_waiting_and_stop_works(tmp_path: Path) -> None:
    clock = StalledClock()
    desk = FolderDesk(tmp_path, clock=clock)
    desk.put("a.txt")
    loop = asyncio.get_running_loop()
    running = [loop.create_task(desk.call("list_files")) for _ in range(CALLS)]
    try:
        await run_blocking(lambda: [clock.begun.acquire() for _ in range(CALLS)])
        for each in running:
            each.cancel()
        ended = await asyncio.gather(*running, return_exceptions=True)
    finally:
        clock.goes_on.set()

    assert all(isinstance(each, asyncio.CancelledError) for each in ended)


async def test_a_change_that_is_cancelled_waits_for_its_thread_and_leaves_nothing(desk: FolderDesk) -> None:
    begun, ended = threading.Event(), threading.Event()

    class Waiting(FolderChanger[WriteFile]):
        """Works until it is stopped."""

        def plan(self, folder: Folder, job: Job[WriteFile]) -> Change | NoChange:
            begun.set()
            job.stop.wait()
            ended.set()
            raise Stopped

    tool = Waiting(WRITE_SPEC, WriteFile, Shared(COUNTER, FakeClock(), Seen(), desk.own))
    loop = asyncio.get_running_loop()
    running = loop.create_task(tool.run({"path": "a", "content": "x"}, desk.context))
    await loop.run_in_executor(None, begun.wait)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()


def test_a_folder_of_any_size_is_left_in_the_middle(desk: FolderDesk) -> None:
    desk.put("a")
    place, stop = UneasyPlace.at(desk.root), Stop()
    stop.set()

    with pytest.raises(Stopped):
        Folder(place, stop).entries(())
    place.close()
