"""The engine's thread and loop, tasks that can't fail in silence, and time.

See ADR-0002: every session lives on the engine's loop, the interface on its own.
"""

import asyncio
import concurrent.futures
import contextlib
import functools
import threading
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, ParamSpec, Protocol, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

OnFailure = Callable[[str, BaseException], None]
"""Told the name of a task and what it died of."""


class Clock(Protocol):
    """Time, so that tests need not wait for it."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait on the current loop."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def run_blocking(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` on a thread of the loop's pool: disk, counting, the key store.

    If the caller is cancelled, work that has begun runs to its end and its result is dropped; see `run_to_end`.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, functools.partial(work, *args, **kwargs))


def run_apart(work: Callable[[], T], *, name: str) -> "asyncio.Future[T]":
    """Run `work` on a thread of its own: for what may never end, such as reading from a network disk that is gone.

    It takes no place in the loop's pool, which everything else needs, and the program quits without it.
    """
    loop = asyncio.get_running_loop()
    ending: asyncio.Future[T] = loop.create_future()
    # What comes of work that nobody waits for any more is nobody's loss, and no crash.
    ending.add_done_callback(lambda ended: ended.cancelled() or ended.exception())

    def settle(settled: Callable[[], None]) -> None:
        if not ending.done():
            settled()

    def run() -> None:
        try:
            settled = functools.partial(ending.set_result, work())
        except BaseException as error:  # noqa: BLE001 - whoever awaits it gets it
            settled = functools.partial(ending.set_exception, error)
        with contextlib.suppress(RuntimeError):
            # The loop may have been closed since.
            loop.call_soon_threadsafe(settle, settled)

    threading.Thread(target=run, name=name, daemon=True).start()
    return ending


async def run_to_end(work: Coroutine[Any, Any, T], tasks: "TaskSet", *, name: str) -> T:
    """Await `work` so that a cancellation of the caller waits for its end before it goes on.

    For writes that must not be left half known: the caller is cancelled after them, not inside. If the
    work fails, its error is raised rather than the cancellation.
    """
    task = tasks.spawn(work, name=name, watched=False)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise
            cancelled = error
        except BaseException:  # noqa: BLE001, S110 - the task holds it; result() below raises it
            pass
    result = task.result()
    if cancelled is not None:
        raise cancelled
    return result


class TaskSet:
    """Named tasks of one loop; a failure is reported, none is collected while it runs."""

    def __init__(self, on_failure: OnFailure, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._on_failure = on_failure
        self._loop = loop
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, T], *, name: str, watched: bool = True) -> asyncio.Task[T]:
        """Start `work`; with `watched` off its failure is the caller's to await."""
        loop = self._loop or asyncio.get_running_loop()
        task = loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if watched:
            task.add_done_callback(self._report)
        return task

    def __len__(self) -> int:
        return len(self._tasks)

    async def drain(self, *, timeout_seconds: float) -> None:
        """Wait for the end of what runs, and of what that starts, but not for ever."""
        deadline = time.monotonic() + timeout_seconds
        while self._tasks and (left := deadline - time.monotonic()) > 0:
            await asyncio.wait(list(self._tasks), timeout=left)

    async def close(self) -> None:
        """Cancel what runs and wait for its end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def cancel_all(self) -> None:
        """Cancel what runs, without waiting."""
        for task in list(self._tasks):
            task.cancel()

    def _report(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._on_failure(task.get_name(), error)


class Engine:
    """One thread with one asyncio loop, for everything that streams or waits."""

    def __init__(self, on_failure: OnFailure) -> None:
        self._on_failure = on_failure
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._loop_failed)
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._stopping = False

    def start(self) -> None:
        """Start the thread; work may be submitted from then on."""
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive() and not self._stopping

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Run `work` on the engine's loop, from any thread."""
        if not self.is_running:
            work.close()
            cancelled: concurrent.futures.Future[T] = concurrent.futures.Future()
            cancelled.cancel()
            cancelled.set_running_or_notify_cancel()
            return cancelled
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self, *, timeout_seconds: float) -> bool:
        """Cancel what runs and end the thread; return whether it ended in time.

        Threads blocked in `run_blocking` are not waited for.
        """
        if self._thread.ident is None:
            # It never ran.
            self._stopping = True
            self._loop.close()
            return True
        if not self._stopping:
            self._stopping = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=8, thread_name_prefix="blocking")
        self._loop.set_default_executor(pool)
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._wind_down())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            with contextlib.suppress(RuntimeError):
                self._loop.close()

    async def _wind_down(self) -> None:
        current = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not current]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        await self._loop.shutdown_asyncgens()

    def _loop_failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception") or RuntimeError(context["message"])
        self._on_failure("engine loop", error)


class Throttle:
    """Runs an action soon after `poke`, at most once an interval, never twice at the same time."""

    def __init__(self, action: Callable[[], Coroutine[Any, Any, None]], *, seconds: float, tasks: TaskSet) -> None:
        self._action = action
        self._seconds = seconds
        self._tasks = tasks
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None
        self._is_due = False
        self._is_closed = False

    def poke(self) -> None:
        """Ask for a run within the interval."""
        if self._timer is not None or self._is_closed:
            return
        if self._running is not None:
            self._is_due = True
            return
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._start)

    async def close(self) -> None:
        """Cancel what is due and wait for what runs."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    def _start(self) -> None:
        self._timer = None
        self._running = self._tasks.spawn(self._action(), name="throttled action")
        self._running.add_done_callback(self._ended)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self._running = None
        if self._is_due:
            self._is_due = False
            self.poke()
