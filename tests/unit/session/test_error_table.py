"""Every way a request can fail, at every moment of a turn with tools, in every dialect: context-windows.md, 12.

Each row of the table says what is on disk, what the person sees, what is sent next, and which calls were run. A
combination that can't occur stands in the table with the reason. The real SDKs speak to the far end; only the clock is
played.
"""

import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Literal

import pytest

from app.domain.errors import ErrorKind
from app.domain.events import ReplyStarted, RetryScheduled
from app.domain.rows import Flag, Row, TextPart, ToolPart
from app.history.partial import PartialFile
from app.session.inputs import Accepted, Refused
from app.session.state import is_cut_off
from app.settings.schema import Dialect, Endpoint
from app.ui.chat.items import ItemAction
from app.ui.chat.row_items import item_of, with_action
from app.ui.wording import error_sentence
from tests.fakes.farend import (
    Answer,
    Cut,
    FarEnd,
    Fault,
    Part,
    Received,
    Stall,
    StreamError,
    Text,
    ToolCall,
    context_too_long,
    error,
    model_not_found,
    reply,
)
from tests.fakes.scripted import ScriptedTool
from tests.unit.session.conftest import Chat, Program, until

Moment = Literal["before the first byte", "after text", "inside tool arguments"]
"""Of the request that fails."""
MOMENTS: Final[tuple[Moment, ...]] = ("before the first byte", "after text", "inside tool arguments")
STEPS: Final = (1, 2)
"""Which request of the turn fails. Before the first byte of the second is between two steps."""
DIALECTS: Final[tuple[Dialect, ...]] = ("anthropic", "responses", "chat")

CHECKED_FIRST: Final = "a provider checks this before it begins a reply"
RUNS_FULL: Final = "a window that runs full in mid-reply ends the reply as truncated"
RETRIED: Final = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.SERVER, ErrorKind.NETWORK})
HELPS: Final = {
    ErrorKind.AUTHENTICATION: ItemAction.SETTINGS,
    ErrorKind.QUOTA: ItemAction.MODEL,
    ErrorKind.MODEL_NOT_FOUND: ItemAction.MODEL,
    ErrorKind.INVALID_REQUEST: ItemAction.MODEL,
    ErrorKind.CONTEXT_EXCEEDED: ItemAction.NEW_CHAT,
}
"""What is offered first; another try or Continue for all others."""


@dataclass(frozen=True)
class Ending:
    """The stream ends here with this reason, None for without any."""

    stop: Literal["refusal", "content_filter"] | None


BEFORE: Final[dict[ErrorKind, Answer | dict[Dialect, Answer]]] = {
    ErrorKind.AUTHENTICATION: error(401),
    ErrorKind.QUOTA: {
        "anthropic": error(402),
        "responses": error(429, kind="insufficient_quota"),
        "chat": error(429, kind="insufficient_quota"),
    },
    ErrorKind.RATE_LIMIT: error(429, retry_after=7),
    ErrorKind.OVERLOADED: {"anthropic": error(529), "responses": error(503), "chat": error(503)},
    ErrorKind.SERVER: error(500),
    ErrorKind.NETWORK: reply("never").but(Cut("reset", before_headers=True)),
    ErrorKind.CONTEXT_EXCEEDED: context_too_long(),
    ErrorKind.MODEL_NOT_FOUND: model_not_found(),
    ErrorKind.REFUSAL: {
        "anthropic": reply(stop="refusal"),
        "responses": reply(stop="content_filter"),
        "chat": reply(stop="content_filter"),
    },
    ErrorKind.TRUNCATED: reply(stop=None),
    ErrorKind.INVALID_REQUEST: error(400),
    ErrorKind.CANCELLED: reply("never").but(Stall()),
}
"""What the far end answers instead of a reply."""

WITHIN: Final[dict[ErrorKind, Fault | Ending | str | dict[Dialect, Fault | Ending | str]]] = {
    ErrorKind.AUTHENTICATION: CHECKED_FIRST,
    ErrorKind.QUOTA: {
        "anthropic": CHECKED_FIRST,
        "responses": CHECKED_FIRST,
        # Brokers between the person and the vendor may run out of credit in mid-reply.
        "chat": StreamError("insufficient_quota"),
    },
    ErrorKind.RATE_LIMIT: StreamError("rate_limit"),
    ErrorKind.OVERLOADED: StreamError("overloaded"),
    ErrorKind.SERVER: StreamError("api_error"),
    ErrorKind.NETWORK: Cut("reset"),
    ErrorKind.CONTEXT_EXCEEDED: RUNS_FULL,
    ErrorKind.MODEL_NOT_FOUND: CHECKED_FIRST,
    ErrorKind.REFUSAL: {
        "anthropic": Ending("refusal"),
        "responses": Ending("content_filter"),
        "chat": Ending("content_filter"),
    },
    ErrorKind.TRUNCATED: Ending(None),
    ErrorKind.INVALID_REQUEST: CHECKED_FIRST,
    ErrorKind.CANCELLED: Stall(),
}
"""What happens in mid-reply, or why it can't."""


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    kind: ErrorKind
    moment: Moment
    dialect: Dialect
    step: int

    @property
    def answer(self) -> "Answer | str":
        if self.moment == "before the first byte":
            instead = BEFORE[self.kind]
            return instead[self.dialect] if isinstance(instead, dict) else instead
        within = WITHIN[self.kind]
        what = within[self.dialect] if isinstance(within, dict) else within
        if isinstance(what, str):
            return what
        stop = what.stop if isinstance(what, Ending) else "end"
        faults: tuple[Fault, ...] = () if isinstance(what, Ending) else (what,)
        if self.moment == "after text":
            parts: tuple[Part, ...] = (Text("Half a "), *faults)
            return reply(*parts, stop=stop)
        return reply(tool=ToolCall("call_2", "look", '{"path": "/b', *faults), stop=stop)

    @property
    def earlier(self) -> "tuple[Answer, ...]":
        """What the far end answers before it fails: a whole step with a call."""
        return (reply(tool=ToolCall("call_1", "look", '{"path": "/a"}')),) * (self.step - 1)

    @property
    def calls_run(self) -> list[dict[str, object]]:
        """The calls that are run: those of the steps before, each once."""
        return [{"path": "/a"}] * (self.step - 1)

    @property
    def is_retried(self) -> bool:
        return self.kind in RETRIED and self.moment == "before the first byte"

    def __str__(self) -> str:
        return f"{self.kind}, {self.moment} of step {self.step}, {self.dialect}"


TABLE: Final = [Case(*row) for row in itertools.product(ErrorKind, MOMENTS, DIALECTS, STEPS)]
POSSIBLE: Final = [case for case in TABLE if isinstance(case.answer, Answer)]
IMPOSSIBLE: Final = [case for case in TABLE if isinstance(case.answer, str)]


def test_the_table_is_whole() -> None:
    assert len(TABLE) == 12 * 3 * 3 * 2
    reasons = {str(case.answer) for case in IMPOSSIBLE}
    assert reasons == {CHECKED_FIRST, RUNS_FULL}
    assert len(IMPOSSIBLE) == 2 * 2 * (4 * 3 + 2)


@pytest.fixture
async def far() -> AsyncIterator[FarEnd]:
    async with FarEnd() as made:
        yield made


async def chat_with(program: Program, far: FarEnd, dialect: Dialect) -> Chat:
    """A chat with a model of the far end, as settings make it."""
    base_url = far.url if dialect == "anthropic" else f"{far.url}/v1"
    endpoint = Endpoint(id="far", name="Far end", dialect=dialect, base_url=base_url, needs_key=False)
    await program.manager.connections.change(lambda settings: settings.model_copy(update={"endpoints": (endpoint,)}))
    chat = await program.new_chat()
    await program.manager.set_model(chat.session, "far/model-one")
    return chat


@pytest.mark.parametrize("case", POSSIBLE, ids=str)
async def test_a_failure_keeps_what_came_and_says_what_helps(program: Program, far: FarEnd, case: Case) -> None:
    tool = ScriptedTool("look")
    program.tools.append(tool)
    chat = await chat_with(program, far, case.dialect)
    assert isinstance(case.answer, Answer)
    far.play(*case.earlier, case.answer, reply("The rest."))

    assert Accepted() == await chat.send("What is it?")
    if case.kind is ErrorKind.CANCELLED:
        await until(lambda: far.stalled == 1 and _has_arrived(chat, case))
        await chat.stop()
    await chat.idle()

    if case.is_retried:
        await _assert_it_was_tried_again(program, chat, far, case)
    else:
        assert len(far.requests) == case.step, "nothing is sent again by itself"
        assert chat.events(RetryScheduled) == []
        _assert_what_is_on_disk(chat.rows(), case)
        _assert_what_is_shown(chat.rows()[-1], case)
        assert Accepted() == await chat.resume()
        await chat.idle()
        _assert_what_is_sent_next(chat.rows(), far.requests, case)
    assert isinstance(await chat.resume(), Refused), "the turn is complete now"
    assert [dict(asked) for asked in tool.asked] == case.calls_run, "no call runs twice, and no torn one ever"
    _assert_the_steps_before_are_whole(chat.rows(), case)


def _has_arrived(chat: Chat, case: Case) -> bool:
    """Whether what the far end has sent before it stalled is in Muntin."""
    match case.moment:
        case "before the first byte":
            return len(chat.events(ReplyStarted)) == case.step
        case "after text":
            return chat.streamed() == "Half a "
        case "inside tool arguments":
            partial = PartialFile(chat.files).load()
            return partial is not None and any(isinstance(part, ToolPart) and part.input for part in partial.parts)


async def _assert_it_was_tried_again(program: Program, chat: Chat, far: FarEnd, case: Case) -> None:
    (retry,) = chat.events(RetryScheduled)
    assert retry.error_kind == case.kind
    assert program.clock.naps == [7.0 if case.kind is ErrorKind.RATE_LIMIT else 2.0]
    *_, failed, again = far.requests
    assert failed.json == again.json, "the very same request"
    assert [(row.role, row.text, row.flags) for row in chat.rows()] == [
        ("user", "What is it?", ()),
        *[("assistant", "", ())] * (case.step - 1),
        ("assistant", "The rest.", ()),
    ]


def _assert_the_steps_before_are_whole(rows: list[Row], case: Case) -> None:
    steps = rows[1 : case.step]
    parts = [part for row in steps for part in row.parts]
    results = [(part.name, part.state, part.output) for part in parts if isinstance(part, ToolPart)]
    assert results == [("look", "done", "seen")] * (case.step - 1)
    assert [(row.flags, row.error) for row in steps] == [((), None)] * (case.step - 1)


def _assert_what_is_on_disk(rows: list[Row], case: Case) -> None:
    user, *_, answer = rows
    assert len(rows) == 1 + case.step
    assert (user.text, user.flags) == ("What is it?", ())
    assert is_cut_off(answer)
    if case.kind is ErrorKind.CANCELLED:
        assert (answer.error, answer.flags) == (None, (Flag.INTERRUPTED,))
    else:
        assert answer.error is not None
        assert (answer.error.kind, answer.flags) == (case.kind, (Flag.FAILED,))
    match case.moment:
        case "before the first byte":
            assert answer.parts == ()
        case "after text":
            assert answer.parts == (TextPart(text="Half a "),)
        case "inside tool arguments":
            (call,) = answer.parts
            assert isinstance(call, ToolPart)
            assert (call.name, call.input, call.state, call.output) == ("look", '{"path": "/b', "interrupted", None)


def _assert_what_is_shown(answer: Row, case: Case) -> None:
    item = item_of(answer, lambda ref: ref)
    assert item is not None
    again = ItemAction.CONTINUE if case.moment == "after text" else ItemAction.RETRY
    assert with_action(item, answer).actions[0] == HELPS.get(case.kind, again)
    if case.kind is ErrorKind.CANCELLED:
        assert not item.is_error
        assert item.note.startswith("Interrupted")
    else:
        assert item.is_error
        assert answer.error is not None
        assert item.note.startswith(error_sentence(case.kind) if answer.error.is_quote else answer.error.detail)
        assert item.note[0].isupper()
        assert "kept." in item.note


def _assert_what_is_sent_next(rows: list[Row], requests: list[Received], case: Case) -> None:
    *_, failed, again = requests
    assert len(requests) == case.step + 1
    before = [""] * (case.step - 1)
    if case.moment == "after text":
        texts = _texts(again)
        assert texts[0] == "What is it?"
        assert texts[-2] == "Half a "
        assert "go on" in texts[-1]
        shown = [row.text for row in rows if Flag.HIDDEN not in row.flags]
        assert shown == ["What is it?", *before, "Half a ", "The rest."]
    else:
        assert failed.json == again.json, "a torn call and an empty reply are never sent"
        assert [row.text for row in rows] == ["What is it?", *before, "", "The rest."]


def _texts(request: Received) -> list[str]:
    """All texts of the messages, whatever the dialect."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for name, each in value.items():
                if name in ("text", "content") and isinstance(each, str):
                    found.append(each)
                else:
                    walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    walk(request.json.get("messages") or request.json.get("input"))
    return found
