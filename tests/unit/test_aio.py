import asyncio
import gc
import threading

import pytest

from app.aio import Engine, TaskSet, Throttle, run_apart, run_to_end


def quiet(_name: str, _error: BaseException) -> None:
    raise AssertionError("no task may fail here")


async def test_a_failed_task_is_reported_with_its_name() -> None:
    failures: list[tuple[str, str]] = []
    tasks = TaskSet(lambda name, error: failures.append((name, str(error))))

    async def fail() -> None:
        raise ValueError("why")

    task = tasks.spawn(fail(), name="the task")
    await asyncio.gather(task, return_exceptions=True)
    await asyncio.sleep(0)
    assert failures == [("the task", "why")]
    assert len(tasks) == 0


async def test_work_run_to_its_end_survives_every_cancellation() -> None:
    tasks = TaskSet(quiet)
    release, done = asyncio.Event(), []

    async def write() -> str:
        await release.wait()
        done.append("written")
        return "result"

    caller = tasks.spawn(run_to_end(write(), tasks, name="write"), name="caller")
    for _ in range(3):
        await asyncio.sleep(0)
        caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done == ["written"]


async def test_a_failure_of_work_run_to_its_end_is_not_hidden_by_a_cancellation() -> None:
    tasks = TaskSet(quiet)
    release = asyncio.Event()

    async def write() -> None:
        await release.wait()
        raise OSError("disk full")

    caller = tasks.spawn(run_to_end(write(), tasks, name="write"), name="caller", watched=False)
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(OSError, match="disk full"):
        await caller


async def test_work_that_is_run_apart_gives_its_result_or_its_error_from_its_own_thread() -> None:
    def fail() -> None:
        raise ValueError("why")

    assert await run_apart(lambda: threading.current_thread().name, name="apart") == "apart"
    with pytest.raises(ValueError, match="why"):
        await run_apart(fail, name="apart")


async def test_an_error_of_work_that_nobody_waits_for_any_more_is_told_to_nobody() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))
    goes_on = threading.Event()

    def fail() -> None:
        goes_on.wait()
        raise ValueError("why")

    running = run_apart(fail, name="apart")
    waiting = asyncio.shield(running)
    waiting.cancel()
    await asyncio.wait([waiting])
    goes_on.set()
    await asyncio.wait([running])
    del running
    gc.collect()

    assert told == []


def test_work_that_is_run_apart_may_outlive_its_loop() -> None:
    begun, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        goes_on.wait()
        ended.set()

    async def start() -> threading.Thread:
        run_apart(work, name="apart")
        return next(thread for thread in threading.enumerate() if thread.name == "apart")

    thread = asyncio.run(start())
    assert begun.wait(10)
    goes_on.set()
    thread.join()

    assert ended.is_set()
    assert thread.daemon


async def test_a_throttled_action_runs_once_an_interval_and_after_the_last_poke() -> None:
    runs: list[int] = []
    pokes = 0
    ran = asyncio.Event()

    async def action() -> None:
        runs.append(pokes)
        ran.set()

    throttle = Throttle(action, seconds=0.01, tasks=TaskSet(quiet))
    for _ in range(100):
        pokes += 1
        throttle.poke()
    await asyncio.wait_for(ran.wait(), 5)
    assert runs == [100]
    await throttle.close()
    throttle.poke()
    assert runs == [100]


async def test_a_throttled_action_never_runs_twice_at_once() -> None:
    running = 0
    most = 0
    count = 0
    enough = asyncio.Event()

    async def action() -> None:
        nonlocal running, most, count
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        throttle.poke()
        await asyncio.sleep(0)
        running -= 1
        count += 1
        if count == 5:
            enough.set()

    throttle = Throttle(action, seconds=0, tasks=TaskSet(quiet))
    throttle.poke()
    await asyncio.wait_for(enough.wait(), 5)
    await throttle.close()
    assert most == 1


def test_the_engine_runs_work_on_its_own_thread_and_ends() -> None:
    engine = Engine(quiet)
    engine.start()

    async def where() -> str:
        return threading.current_thread().name

    assert engine.submit(where()).result(5) == "engine"
    assert engine.stop(timeout_seconds=5)
    assert not engine.is_running


def test_stopping_the_engine_cancels_what_runs() -> None:
    engine = Engine(quiet)
    engine.start()
    begun, ended = threading.Event(), threading.Event()

    async def forever() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    engine.submit(forever())
    assert begun.wait(5)
    assert engine.stop(timeout_seconds=5)
    assert ended.is_set()


def test_a_blocked_thread_does_not_hold_the_engine() -> None:
    from app.aio import run_blocking

    engine = Engine(quiet)
    engine.start()
    begun, release = threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        release.wait(10)

    engine.submit(run_blocking(block))
    assert begun.wait(5)
    assert engine.stop(timeout_seconds=5)
    release.set()


def test_an_engine_that_never_ran_can_be_stopped_and_takes_no_work() -> None:
    engine = Engine(quiet)
    assert engine.stop(timeout_seconds=1)

    async def work() -> None:
        raise AssertionError

    assert engine.submit(work()).cancelled()


async def test_draining_waits_for_what_the_tasks_start_as_well() -> None:
    tasks = TaskSet(quiet)
    ended: list[str] = []

    async def second() -> None:
        await asyncio.sleep(0)
        ended.append("second")

    async def first() -> None:
        await asyncio.sleep(0)
        tasks.spawn(second(), name="second")

    tasks.spawn(first(), name="first")
    await tasks.drain(timeout_seconds=5)
    assert ended == ["second"]
