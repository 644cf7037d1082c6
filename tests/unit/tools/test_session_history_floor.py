"""Somebody tries to see what was said before a manual reset, by every way there is."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.rows import Flag
from app.domain.windows import Mark, View
from app.history.codec import encode_row
from app.history.cursor import Scope
from app.history.files import ChatFiles
from app.history.receipt import read_receipt
from app.history.view import HistoryView
from app.history.windows_file import load_index
from app.tools.arguments import BadArguments
from app.tools.base import ToolContext
from app.tools.history_arguments import ReadItem, parse
from tests.unit.tools.history_chat import HastyClock, HistoryChat, tool_part

SECRET: Final = "zanzibarquokkafjord"
PIECES: Final = tuple(SECRET[at : at + 5] for at in range(len(SECRET) - 4))
FOREIGN: Final = b'{"id":"f%d","session":"s1","role":"user","parts":[{"type":"text","text":"%s"}]}\n'

Make = Callable[[HistoryChat], None]


def _raw(chat: HistoryChat, data: bytes) -> None:
    with chat.files.chat.open("ab") as file:
        file.write(data)
    chat.last_seq = chat.store.repair()


def _reset_and_floor(chat: HistoryChat) -> None:
    chat.reset()


def _row_alone(chat: HistoryChat) -> None:
    chat.roll("reset")


def _floor_alone(chat: HistoryChat) -> None:
    chat.set_floor(chat.last_seq + 1)
    # The next number is that of the row that was never written.
    chat.say("", flags=(Flag.HIDDEN,))


def _unknown_kind(chat: HistoryChat) -> None:
    chat.roll("somersault")


def _damaged(chat: HistoryChat) -> None:
    _raw(chat, b'{"v":1,"boundary":{"kind":"reset"},"id":"x\x00","session\n')


def _no_object(chat: HistoryChat) -> None:
    _raw(chat, b'{"v":1,"boundary":5,"id":"x","session":"s1","role":"user"}\n')


def _oversized(chat: HistoryChat) -> None:
    row = chat.row("x" * 2**21, id="big")
    _raw(chat, b'{"boundary": {"kind": "reset"}, ' + encode_row(row)[1:] + b"\n")


def _foreign_style(chat: HistoryChat) -> None:
    _raw(chat, b'{ "role": "user", "session": "s1", "id": "x", "\\u0062oundary": {"kind": "reset"}, "boundary" : 1}\n')


TORN: Final = (
    b'{"v":1,"boundary":{"kind":"reset"},"id":"t1","session":"s1","role":"user",'
    b'"batch":{"id":"b","index":0,"count":2}}\n'
)


def _in_torn_batch(chat: HistoryChat) -> None:
    _raw(chat, TORN + FOREIGN % (1, b"a row behind it"))


def _in_torn_batch_at_the_end(chat: HistoryChat) -> None:
    _raw(chat, TORN)


def _in_archive(chat: HistoryChat) -> None:
    chat.roll("reset")
    chat.files.archive.write_bytes(chat.files.archive.read_bytes() + chat.files.chat.read_bytes())
    chat.files.chat.write_bytes(b"")
    chat.files.receipt.unlink()
    last = chat.last_seq
    _raw(chat, encode_row(chat.row("the first of a fresh file", seq=last + 1)) + b"\n")


SCENARIOS: Final[dict[str, Make]] = {
    "reset": _reset_and_floor,
    "row alone": _row_alone,
    "floor alone": _floor_alone,
    "unknown kind": _unknown_kind,
    "damaged": _damaged,
    "no object": _no_object,
    "oversized": _oversized,
    "foreign": _foreign_style,
    "torn batch": _in_torn_batch,
    "torn end": _in_torn_batch_at_the_end,
    "archive": _in_archive,
}


@dataclass(repr=False)
class Siege:
    """A chat with a secret above its floor, and what one may know who has seen it before."""

    chat: HistoryChat
    refs: list[str] = field(default_factory=list)
    windows: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    replays: list[dict[str, Any]] = field(default_factory=list)
    indexes: list[bytes] = field(default_factory=list)


def _say_the_secret(chat: HistoryChat) -> None:
    chat.files.archive.write_bytes(b"")
    chat.say(f"My word is {SECRET}", id=f"id{SECRET}")
    chat.say(role="assistant", parts=(tool_part(SECRET, given={SECRET: SECRET}, gave=[SECRET]),), model=SECRET)
    chat.roll()
    chat.say((SECRET + " ") * 60_000)
    chat.roll("compaction")
    chat.say(f"{SECRET} {SECRET} {SECRET}")
    _raw(chat, FOREIGN % (0, SECRET.encode()))


async def _spy(siege: Siege) -> None:
    """Take what the tool gives before the reset."""
    chat = siege.chat
    asked: tuple[dict[str, Any], ...] = (
        {"action": "search", "query": SECRET[:5]},
        {"action": "search", "query": SECRET, "recent_first": False},
        {"action": "list_items"},
        {"action": "list_items", "recent_first": False},
        {"action": "list_windows"},
    )
    for arguments in asked:
        more: dict[str, Any] = {"limit": 1}
        for _ in range(4):
            answer = await chat.call(**arguments, **more)
            if "cursor" not in answer:
                break
            more["cursor"] = answer["cursor"]
            siege.replays.append({**arguments, **more})
    siege.indexes.append((chat.files.folder / "windows.json").read_bytes())


def _look_down(siege: Siege) -> None:
    """Take what the panel knows after it."""
    view = HistoryView(ChatFiles(siege.chat.files.folder), session="s1", view=View.PERSON)
    while not (page := view.windows()).is_complete:
        pass
    siege.windows += [window.id for window in page.windows]
    for recent_first in (True, False):
        mark: Mark | None = None
        while True:
            items = view.items(mark, limit=1, recent_first=recent_first)
            siege.refs += [item.ref for item in items.items]
            mark = items.next
            if mark is None:
                break
            siege.marks.append(mark)
    assert any(SECRET in item.preview for item in view.items(None, recent_first=False).items)


@pytest.fixture(params=SCENARIOS)
async def siege(request: pytest.FixtureRequest, chat: HistoryChat) -> Siege:
    siege = Siege(chat)
    _say_the_secret(chat)
    await _spy(siege)
    SCENARIOS[request.param](chat)
    chat.say("in the harbour")
    chat.roll()
    chat.say("another harbour", role="assistant", parts=(tool_part("look", gave="a harbour"),))
    chat.forget()
    _look_down(siege)
    siege.indexes += [b"", b"{}", b"[" * 9_000, b"\xff"]
    return siege


_ARGUMENTS: Final = st.fixed_dictionaries(
    {"action": st.sampled_from(["search", "list_windows", "list_items", "read_item"])},
    optional={
        "query": st.sampled_from([*PIECES, SECRET, "a", " ", "harbour", "z"]),
        "role": st.sampled_from(["user", "assistant"]),
        "tool_name": st.sampled_from([SECRET, "look", "session_history"]),
        "recent_first": st.booleans(),
        "limit": st.integers(1, 60),
        "offset_chars": st.integers(0, 2**21),
        "limit_chars": st.integers(1, 20_000),
    },
)


def _names(siege: Siege) -> st.SearchStrategy[str]:
    numbers = st.integers(-1, siege.chat.last_seq + 2).map(lambda seq: f"#{seq}")
    ids = st.sampled_from([f"m:id{SECRET}", "m:f0", "m:s1r3", "m:s1r5", "m:big", "m:x", "m:t1"])
    return st.sampled_from(siege.refs) | numbers | ids | st.text(max_size=45)


def _marks(siege: Siege) -> st.SearchStrategy[Mark]:
    receipt = read_receipt(siege.chat.files)
    size = siege.chat.files.archive.stat().st_size + siege.chat.files.chat.stat().st_size
    known = st.sampled_from(siege.marks)
    places = st.integers(0, size + 1) | known.map(lambda mark: mark.offset)
    return known | st.builds(
        Mark,
        epoch=st.sampled_from([receipt.epoch if receipt else "", "", siege.marks[0].epoch]),
        offset=places,
        hits=st.integers(0, 5),
        inside_edge=st.none() | places,
        inside_is_boundary=st.booleans(),
        anchor=st.just("") | known.map(lambda mark: mark.anchor),
        anchor_offset=st.just(0) | known.map(lambda mark: mark.anchor_offset),
    )


def _forged(siege: Siege, arguments: dict[str, Any], mark: Mark) -> dict[str, Any]:
    """Sign a mark for a question, as if the key were known."""
    try:
        asked = parse(arguments)
    except BadArguments:
        return arguments
    call = asked.call
    if isinstance(call, ReadItem):
        return arguments
    scope = Scope("s1", asked.action)
    if asked.action != "list_windows":
        scope = Scope("s1", asked.action, getattr(call, "query", ""), call.filters, call.recent_first)  # type: ignore[union-attr]
    return {**arguments, "cursor": siege.chat.cursors.encode(mark, scope)}


def _assert_silent(answer: object) -> None:
    text = json.dumps(answer, ensure_ascii=False).lower()
    assert not [piece for piece in PIECES if piece in text], text


@given(data=st.data())
async def test_nothing_from_above_the_floor_is_ever_said(siege: Siege, data: st.DataObject) -> None:
    chat = siege.chat
    windows = st.sampled_from([*siege.windows, "w:0", f"w:m:id{SECRET}", "w:m:x"])
    if data.draw(st.booleans(), label="tampered"):
        (chat.files.folder / "windows.json").write_bytes(data.draw(st.sampled_from(siege.indexes)))
        chat.forget()
    for _ in range(data.draw(st.integers(1, 4))):
        arguments: dict[str, Any] = dict(data.draw(_ARGUMENTS))
        if data.draw(st.booleans()):
            arguments["window_id"] = data.draw(windows)
        if arguments["action"] == "read_item":
            arguments["item_id"] = data.draw(_names(siege))
        way = data.draw(st.sampled_from(["plain", "forged", "replayed"]))
        if way == "forged":
            arguments = _forged(siege, arguments, data.draw(_marks(siege)))
        elif way == "replayed":
            arguments = {**data.draw(st.sampled_from(siege.replays)), "limit": 50}
        for _ in range(5):
            answer = await chat.call(**arguments)
            _assert_silent(answer)
            if "cursor" not in answer:
                break
            arguments["cursor"] = answer["cursor"]


async def test_what_lies_above_answers_exactly_like_what_does_not_exist(siege: Siege) -> None:
    chat = siege.chat

    for name in ("#1", "#2", "#4", f"m:id{SECRET}"):
        above = await chat.call(action="read_item", item_id=name)
        assert above == await chat.call(action="read_item", item_id="#99999")
        assert above["error"] == "not_found"
    for window in ("w:0", "w:3"):
        above = await chat.call(action="list_items", window_id=window)
        assert above == await chat.call(action="list_items", window_id="w:99999")
    listed = await chat.call(action="list_windows")
    assert [window["kind"] for window in listed["windows"]] == ["rollover", "first"]


async def test_what_lies_below_is_there(siege: Siege) -> None:
    hits = await siege.chat.all("hits", action="search", query="harbour", limit=1)

    assert len(hits) == 3
    assert await siege.chat.all("hits", action="search", query=SECRET) == []
    searched = (await siege.chat.call(action="search", query="walrus"))["searched"]
    assert int(searched.split(", ")[1].split()[0]) <= 5
    again = siege.replays[-1]
    assert (await siege.chat.call(**again)).get("error") in ("stale_cursor", None)


async def test_a_row_with_a_number_from_above_is_above_wherever_it_lies(chat: HistoryChat) -> None:
    chat.say("first")
    chat.reset()
    chat.say("in the harbour")
    with chat.files.chat.open("ab") as file:
        file.write(encode_row(chat.row(SECRET, seq=1)) + b"\n" + encode_row(chat.row("a harbour", seq=9)) + b"\n")

    _assert_silent(await chat.call(action="search", query=SECRET))
    assert [item["item"] for item in await chat.all("items", action="list_items")] == ["#9", "#3"]
    assert (await chat.call(action="read_item", item_id="#1"))["error"] == "not_found"


async def test_how_much_lies_above_the_floor_is_not_said_while_it_is_looked_for(chat: HistoryChat) -> None:
    for _ in range(9):
        chat.say("hay " * 200_000)
    chat.reset()
    for number in range(3):
        chat.say(f"harbour {number}")
    asked: dict[str, Any] = {"action": "search", "query": "harbour", "limit": 1}
    given = await chat.call(**asked)
    of_all = given["searched"].split(" of ")[1].split(",")[0]
    listed = await chat.call(action="list_items", limit=1)
    for arguments, cursor in ((asked, given["cursor"]), ({"action": "list_items", "limit": 1}, listed["cursor"])):
        chat.files.windows.unlink()
        hasty = chat.new_tool(clock=HastyClock())
        more = cursor
        while more:
            answer: Any = (await hasty.run({**arguments, "cursor": more}, ToolContext("s1", None))).output
            assert "KB" not in answer["searched"]
            assert "MB" not in answer["searched"]
            assert " of " not in answer["searched"] or f" of {of_all}," in answer["searched"]
            more = answer.get("cursor", "")
        assert answer["exhausted"]


def _forget_windows(windows: list[dict[str, Any]]) -> None:
    del windows[1:]


def _soften_the_reset(windows: list[dict[str, Any]]) -> None:
    for window in windows:
        window["kind"] = "rollover" if window["kind"] == "reset" else window["kind"]


@pytest.mark.parametrize("tamper", [_forget_windows, _soften_the_reset])
async def test_an_index_forged_with_the_right_hash_does_not_lift_the_floor(
    chat: HistoryChat, tamper: Callable[[list[dict[str, Any]]], None]
) -> None:
    _say_the_secret(chat)
    chat.reset()
    chat.say("in the harbour")
    await chat.call(action="list_windows")
    index = orjson.loads(chat.files.windows.read_bytes())
    tamper(index["index"]["windows"])
    index["index"]["size"] = chat.files.chat.stat().st_size
    index["sha256"] = hashlib.sha256(orjson.dumps(index["index"])).hexdigest()
    chat.files.windows.write_bytes(orjson.dumps(index))
    assert load_index(chat.files) is not None
    chat.forget()

    _assert_silent(await chat.call(action="search", query=SECRET))
    _assert_silent(await chat.call(action="list_items", recent_first=False))
    _assert_silent(await chat.call(action="list_windows"))
    for window in ("w:0", "w:3", "w:5"):
        _assert_silent(await chat.call(action="list_items", window_id=window))
    for name in ("#1", "#4", f"m:id{SECRET}", "m:f0"):
        assert (await chat.call(action="read_item", item_id=name))["error"] == "not_found"
