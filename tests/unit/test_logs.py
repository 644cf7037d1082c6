"""The log and the reports of crashes: what they hold, and above all what they don't."""

import asyncio
import gc
import io
import logging
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.bootstrap import Options, make_manager
from app.crash import MOST_REPORTS, CrashReporter
from app.logs import Log, hide_keys, log_file, log_folder, places_of, set_detailed

KEY = "opensesame-0123456789"
"""Nothing in it looks like a key: only whoever knows it finds it."""


@pytest.fixture
def log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Log]:
    made = Log(tmp_path, stream=io.StringIO())
    made.hide(lambda: [KEY])
    yield made
    made.close()
    logging.getLogger("app").setLevel(logging.NOTSET)
    # Warnings are what these tests are about.
    caplog.get_records("call").clear()


def written(root: Path) -> str:
    return log_file(root).read_text("utf-8")


def secret_failure() -> BaseException:
    try:
        try:
            int(f"the person wrote {KEY}")
        except ValueError as error:
            raise OSError(28, "dear diary") from error
    except OSError as error:
        return error
    raise AssertionError("nothing failed")


def test_messages_of_exceptions_are_left_out_and_their_places_kept(log: Log, tmp_path: Path) -> None:
    logging.getLogger("app.session").error("a turn broke", exc_info=secret_failure())
    text = written(tmp_path)
    assert "a turn broke" in text
    assert "builtins.ValueError" in text
    assert "builtins.OSError [ENOSPC]" in text
    assert "in secret_failure" in text
    assert [word for word in (KEY, "dear diary", "the person wrote") if word in text] == []


@pytest.mark.parametrize("said", [KEY, "sk-ant-REDACTED", "Bearer abc.def", "sk-proj-REDACTED_ij"])
def test_keys_are_blackened(log: Log, tmp_path: Path, said: str) -> None:
    logging.getLogger("app").warning("sent with %s to somebody", said)
    assert said not in written(tmp_path)
    assert "[key]" in written(tmp_path)


def test_the_program_tells_its_log_which_keys_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    log = Log(tmp_path, stream=io.StringIO())
    options = Options(data_dir=tmp_path, words_per_second=40, is_new_instance=False)
    make_manager(options, lambda _event: None, lambda _name, _error: None, log)
    logging.getLogger("app").warning("sent with %s", KEY)
    log.close()
    caplog.clear()
    assert "sent with [key]" in written(tmp_path)


def test_a_text_without_keys_stays_as_it_is() -> None:
    text = "GET http://127.0.0.1:11434/api/tags 200, key: no, task-list"
    assert hide_keys(text, ["", KEY]) == text


@pytest.mark.parametrize(
    ("name", "level", "detailed", "is_kept"),
    [
        ("app.x", logging.DEBUG, False, False),
        ("app.x", logging.DEBUG, True, True),
        ("app.x", logging.INFO, False, True),
        ("openai", logging.DEBUG, True, False),
        ("httpx2", logging.INFO, True, False),
        ("application", logging.INFO, True, False),
        ("asyncio", logging.WARNING, False, True),
    ],
)
def test_other_libraries_are_heard_from_warning_on(
    log: Log, tmp_path: Path, name: str, level: int, detailed: bool, is_kept: bool
) -> None:
    set_detailed(on=detailed)
    logger = logging.getLogger(name)
    before = logger.level
    if not name.startswith("app."):
        # As an SDK does that was told to by a variable of the environment.
        logger.setLevel(logging.DEBUG)
    logger.log(level, "whole request")
    logger.setLevel(before)
    said = written(tmp_path) if log_file(tmp_path).exists() else ""
    assert is_kept == (name in said)
    # Its words may quote anything; where they were said is enough.
    assert ("whole request" in said) == (is_kept and name == "app.x")


def test_what_a_loop_says_of_a_failed_task_or_call_is_not_kept(log: Log, tmp_path: Path) -> None:
    async def fail() -> None:
        raise ValueError("dear diary")

    def call(_text: str) -> None:
        raise ValueError("dear diary")

    async def leave_alone() -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(fail())
        await asyncio.wait([task])
        del task
        gc.collect()
        loop.call_soon(call, "what the person wrote")
        await asyncio.sleep(0)

    asyncio.run(leave_alone())

    text = written(tmp_path)
    assert text.count("builtins.ValueError") == 2
    assert "in fail" in text
    assert [word for word in ("dear diary", "what the person wrote") if word in text] == []


def test_the_log_is_private_and_rotates(log: Log, tmp_path: Path) -> None:
    for _ in range(3):
        logging.getLogger("app").warning("x" * 600_000)
    files = sorted(path.name for path in log_folder(tmp_path).iterdir())
    assert files == ["muntin.log", "muntin.log.1", "muntin.log.2"]
    assert stat.S_IMODE(log_file(tmp_path).stat().st_mode) == 0o600
    assert stat.S_IMODE(log_folder(tmp_path).stat().st_mode) == 0o700


def test_a_log_that_cannot_be_written_costs_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "logs").write_text("in the way")
    stream = io.StringIO()
    made = Log(tmp_path, stream=stream)
    logging.getLogger("app").warning("heard")
    made.close()
    caplog.clear()
    assert "heard" in stream.getvalue()


def test_a_report_tells_what_failed_where_and_nothing_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Path | None] = []
    crashes = CrashReporter(tmp_path)
    crashes.told = told.append
    report = crashes.note(secret_failure(), where="a turn")
    caplog.clear()
    assert report is not None
    assert told == [report]
    text = report.read_text("utf-8")
    assert "a turn failed" in text
    assert "builtins.ValueError" in text
    assert [word for word in (KEY, "dear diary", "the person wrote") if word in text] == []
    assert stat.S_IMODE(report.stat().st_mode) == 0o600


def test_the_same_fault_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    crashes = CrashReporter(tmp_path)
    assert crashes.note(secret_failure(), where="a turn") is not None
    assert crashes.note(secret_failure(), where="a turn") is None
    caplog.clear()


def test_reports_do_not_pile_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(MOST_REPORTS + 5):
        CrashReporter(tmp_path).note(secret_failure(), where="a turn")
    caplog.clear()
    assert len(list(log_folder(tmp_path).glob("crash-*.txt"))) == MOST_REPORTS


def test_a_full_disk_is_told_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    told: list[Path | None] = []
    (tmp_path / "logs").write_text("in the way")
    crashes = CrashReporter(tmp_path)
    crashes.told = told.append
    crashes.note(secret_failure(), where="a turn")
    caplog.clear()
    assert told == [None]


def test_errors_of_any_thread_are_caught(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = (sys.excepthook, threading.excepthook)
    told: list[Path | None] = []
    crashes = CrashReporter(tmp_path)
    crashes.told = told.append
    crashes.install()
    try:
        failing = threading.Thread(target=lambda: 1 / 0, name="worker")
        failing.start()
        failing.join()
        error = secret_failure()
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        crashes.uninstall()
    caplog.clear()
    assert (sys.excepthook, threading.excepthook) == before
    texts = [report.read_text("utf-8") for report in told if report is not None]
    assert ["thread worker failed" in texts[0], "builtins.ZeroDivisionError" in texts[0]] == [True, True]
    assert "builtins.OSError" in texts[1]


def test_a_fault_of_the_last_start_is_told_once(tmp_path: Path) -> None:
    log_folder(tmp_path).mkdir()
    (log_folder(tmp_path) / "faults.txt").write_text("Fatal Python error: Segmentation fault\n")
    crashes = CrashReporter(tmp_path)
    report = crashes.last_fault()
    assert report is not None
    assert "Segmentation" in report.read_text("utf-8")
    assert crashes.last_fault() is None


def test_a_chain_that_bites_its_tail_ends() -> None:
    error = ValueError("x")
    error.__cause__ = OSError(2, "y")
    error.__cause__.__cause__ = error
    assert places_of(error) == ["builtins.FileNotFoundError [ENOENT]", "builtins.ValueError"]
