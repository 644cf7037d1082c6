import base64
import hashlib
import hmac
import os
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import InvalidCursor
from app.domain.windows import Filters, Mark, Skipped
from app.history.cursor import MAC_BYTES, VERSION, Cursors, Progress, Scope
from app.history.cursor_key import KEY_BYTES, CursorKey

MARK = Mark(epoch="0a1b2c3d4e5f", offset=123_456, anchor="00ff" * 4, anchor_offset=123_000)
SCOPE = Scope("s1", "search", "needle", Filters(window_id="w:7", role="user", tool_name="read_file"))

_POSITIONS = st.integers(0, 2**50)
_HEX = st.binary(max_size=16).map(bytes.hex)
_MARKS = st.builds(
    Mark,
    epoch=st.binary(max_size=6).map(bytes.hex),
    offset=_POSITIONS,
    hits=st.integers(0, 2**20),
    inside_edge=st.none() | _POSITIONS,
    inside_is_boundary=st.booleans(),
    anchor=_HEX,
    anchor_offset=_POSITIONS,
)
_COUNTS = st.integers(0, 2**20)
_PROGRESS = st.builds(Progress, _POSITIONS, st.integers(0, 2**32), st.builds(Skipped, _COUNTS, _COUNTS, _COUNTS))
_SCOPES = st.builds(
    Scope,
    st.text(),
    st.sampled_from(["search", "list_items", "list_windows"]),
    st.text(),
    st.builds(Filters, st.text(), st.sampled_from([None, "user", "assistant"]), st.text()),
    st.booleans(),
)


@pytest.fixture
def cursors(tmp_path: Path) -> Cursors:
    return Cursors(CursorKey(tmp_path / "cursor.key"))


@given(mark=_MARKS, progress=_PROGRESS, scope=_SCOPES)
def test_a_cursor_leads_back_to_its_mark_and_is_short(
    cursors: Cursors, mark: Mark, progress: Progress, scope: Scope
) -> None:
    text = cursors.encode(mark, scope, progress)

    assert cursors.decode(text, scope) == (mark, progress)
    assert len(text) <= 160
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text)


@pytest.mark.parametrize("name", ["w", "ünïcode", "0A", "abc", "00 11"])
def test_names_that_are_no_hexadecimal_digits_come_back_as_they_were(cursors: Cursors, name: str) -> None:
    mark = replace(MARK, epoch=name, anchor=name)

    assert cursors.decode(cursors.encode(mark, SCOPE), SCOPE)[0] == mark


def test_any_flipped_bit_makes_a_cursor_invalid(cursors: Cursors) -> None:
    text = cursors.encode(MARK, SCOPE)

    for at, char in enumerate(text):
        for bit in range(7):
            altered = text[:at] + chr(ord(char) ^ 1 << bit) + text[at + 1 :]
            with pytest.raises(InvalidCursor):
                cursors.decode(altered, SCOPE)


@given(cut=st.integers(1, 160), more=st.text(min_size=1, max_size=5))
def test_a_cursor_that_is_cut_or_longer_is_invalid(cursors: Cursors, cut: int, more: str) -> None:
    text = cursors.encode(MARK, SCOPE)

    for altered in (text[:-cut], text[cut:], text + more, more + text, text + "="):
        with pytest.raises(InvalidCursor):
            cursors.decode(altered, SCOPE)


@given(text=st.text() | st.text("abcXYZ019-_", max_size=170))
def test_any_text_is_an_invalid_cursor_and_nothing_worse(cursors: Cursors, text: str) -> None:
    with pytest.raises(InvalidCursor):
        cursors.decode(text, SCOPE)


@given(ours=_SCOPES, theirs=_SCOPES)
def test_a_cursor_is_good_for_no_other_question(cursors: Cursors, ours: Scope, theirs: Scope) -> None:
    text = cursors.encode(MARK, ours)

    if ours == theirs:
        assert cursors.decode(text, theirs)[0] == MARK
        return
    with pytest.raises(InvalidCursor):
        cursors.decode(text, theirs)


@pytest.mark.parametrize(
    "other",
    [
        replace(SCOPE, session="s2"),
        replace(SCOPE, action="list_items"),
        replace(SCOPE, query="Needle"),
        replace(SCOPE, recent_first=False),
        replace(SCOPE, filters=Filters(window_id="w:8", role="user", tool_name="read_file")),
        replace(SCOPE, filters=Filters(window_id="w:7", role="assistant", tool_name="read_file")),
        replace(SCOPE, filters=Filters(window_id="w:7", role="user", tool_name="")),
        replace(SCOPE, query="needlew:7", filters=Filters(role="user", tool_name="read_file")),
    ],
    ids=["session", "action", "query", "order", "window", "role", "tool", "run together"],
)
def test_each_part_of_the_question_counts(cursors: Cursors, other: Scope) -> None:
    with pytest.raises(InvalidCursor, match="another call"):
        cursors.decode(cursors.encode(MARK, SCOPE), other)


def test_a_cursor_of_another_version_is_invalid_however_well_signed(tmp_path: Path, cursors: Cursors) -> None:
    raw = base64.urlsafe_b64decode(cursors.encode(MARK, SCOPE) + "==")
    body = bytes([VERSION + 1]) + raw[1:-MAC_BYTES]
    key = (tmp_path / "cursor.key").read_bytes()
    signed = body + hmac.new(key, body, hashlib.sha256).digest()[:MAC_BYTES]

    with pytest.raises(InvalidCursor):
        cursors.decode(base64.urlsafe_b64encode(signed).rstrip(b"=").decode(), SCOPE)


def test_the_key_is_made_once_and_for_this_account_only(tmp_path: Path, cursors: Cursors) -> None:
    path = tmp_path / "cursor.key"
    assert not path.exists()

    text = cursors.encode(MARK, SCOPE)

    assert path.stat().st_size == KEY_BYTES
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [path] == list(tmp_path.iterdir())
    assert Cursors(CursorKey(path)).decode(text, SCOPE)[0] == MARK


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 31, b"x" * 33])
def test_a_damaged_key_is_replaced_and_old_cursors_are_void(tmp_path: Path, cursors: Cursors, content: bytes) -> None:
    old = cursors.encode(MARK, SCOPE)
    (tmp_path / "cursor.key").write_bytes(content)

    with pytest.raises(InvalidCursor):
        cursors.decode(old, SCOPE)
    new = cursors.encode(MARK, SCOPE)

    assert Cursors(CursorKey(tmp_path / "cursor.key")).decode(new, SCOPE)[0] == MARK


def test_without_a_place_for_the_key_cursors_live_as_long_as_the_program(tmp_path: Path) -> None:
    nowhere = tmp_path / "no folder" / "cursor.key"
    cursors = Cursors(CursorKey(nowhere))

    text = cursors.encode(MARK, SCOPE)

    assert cursors.decode(text, SCOPE)[0] == MARK
    with pytest.raises(InvalidCursor):
        Cursors(CursorKey(nowhere)).decode(text, SCOPE)


def test_a_key_that_is_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "cursor.key").mkdir()
    cursors = Cursors(CursorKey(tmp_path / "cursor.key"))

    assert cursors.decode(cursors.encode(MARK, SCOPE), SCOPE)[0] == MARK
    assert [tmp_path / "cursor.key"] == list(tmp_path.iterdir())


_RACER = """
import sys
from pathlib import Path
from app.history.cursor_key import CursorKey
key = CursorKey(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(key.get().hex(), flush=True)
"""


def test_processes_that_race_for_the_first_key_agree(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, str(tmp_path / "cursor.key")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    keys = {racer.communicate()[0].strip() for racer in racers}

    assert {(tmp_path / "cursor.key").read_bytes().hex()} == keys
    assert [tmp_path / "cursor.key"] == list(tmp_path.iterdir())
