"""When a receipt is believed: never younger than the tick of the clock, unless the end of the file is the same."""

import itertools
import os
from dataclasses import replace

import pytest

from app.disk import Stamp
from app.history.files import ChatFiles
from app.history.receipt import COARSE_TICK_NS, TAIL_BYTES, TICK_NS, Receipt, is_current, take_receipt
from tests.unit.history.rows import open_store, text_row

SECOND_NS = 1_000_000_000


def edited_within_a_tick(files: ChatFiles, *, whole_seconds: bool) -> Receipt:
    """A receipt whose stamps are those of a file that was edited right after it was taken."""
    open_store(files).append([text_row("a")], expected_last_seq=0)
    files.chat.write_bytes(b"x" * TAIL_BYTES)
    receipt = take_receipt(files, epoch="e", state="stable", now_ns=lambda: 5 * SECOND_NS)
    files.chat.write_bytes(b"y" * TAIL_BYTES)
    os.utime(files.chat, ns=(0, 4 * SECOND_NS if whole_seconds else 4 * SECOND_NS + 1))
    return replace(receipt, chat=Stamp.of(files.chat))


@pytest.mark.parametrize(("whole_seconds", "tick_ns"), [(False, 10_000_000), (True, 2 * SECOND_NS)])
def test_within_a_tick_only_the_same_end_counts(files: ChatFiles, *, whole_seconds: bool, tick_ns: int) -> None:
    edited = edited_within_a_tick(files, whole_seconds=whole_seconds)
    same = take_receipt(files, epoch="e", state="stable", now_ns=lambda: 5 * SECOND_NS)
    for age, is_believed in ((0, False), (tick_ns - 1, False), (tick_ns, True)):
        clock = itertools.repeat(5 * SECOND_NS + age).__next__
        assert is_current(edited, files, now_ns=clock) is is_believed
        assert is_current(same, files, now_ns=clock)
    assert (TICK_NS, COARSE_TICK_NS) == (10_000_000, 2 * SECOND_NS)


def test_a_receipt_from_the_future_is_not_believed_without_a_look(files: ChatFiles) -> None:
    edited = edited_within_a_tick(files, whole_seconds=False)
    assert not is_current(edited, files, now_ns=lambda: 0)


def test_a_pending_receipt_is_of_no_files(files: ChatFiles) -> None:
    open_store(files).append([text_row("a")], expected_last_seq=0)
    receipt = take_receipt(files, epoch="e", state="pending", now_ns=lambda: 0)
    assert not is_current(receipt, files)
    assert is_current(replace(receipt, state="stable"), files)


def test_the_archive_is_looked_at_too(files: ChatFiles) -> None:
    open_store(files).append([text_row("a")], expected_last_seq=0)
    receipt = take_receipt(files, epoch="e", state="stable", now_ns=lambda: 0)
    assert is_current(receipt, files)
    files.archive.write_bytes(b"")
    assert not is_current(receipt, files)
