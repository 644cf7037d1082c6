import asyncio
import math
import subprocess
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from app.budget.tokens import TokenCounter
from app.domain.errors import ErrorKind, ProviderError
from app.domain.models import ThinkingLevel
from app.domain.request import ModelRequest, ToolSpec
from app.domain.rows import Kind, ReasoningPart, Row, TextPart, ToolPart, ToolState, Usage
from app.providers.base import (
    Piece,
    Provider,
    ReasoningPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.providers.practice.prose import count_words
from app.providers.practice.provider import FRAME_TOKENS, PracticeProvider
from app.providers.practice.rules import load_rules

O200K = "o200k_base"
_ids = count()


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter()


@pytest.fixture(scope="module")
def provider(counter: TokenCounter) -> PracticeProvider:
    return PracticeProvider(counter, words_per_second=math.inf)


def user(text: str) -> Row:
    return Row(id=str(next(_ids)), session="s", role="user", parts=(TextPart(text=text),))


def reply(text: str, reasoning: str = "") -> Row:
    parts = (*((ReasoningPart(text=reasoning),) if reasoning else ()), *((TextPart(text=text),) if text else ()))
    return Row(id=str(next(_ids)), session="s", role="assistant", parts=parts)


def go_on() -> Row:
    return user("Please go on.").model_copy(update={"kind": Kind.CONTINUE})


def request(*rows: Row, system: str = "", max_tokens: int | None = None, model: str = "practice") -> ModelRequest:
    return ModelRequest(model=model, system=system, rows=rows, max_tokens=max_tokens)


async def read(provider: Provider, asked: ModelRequest, *, at_most: int | None = None) -> list[Piece]:
    """Return the pieces of a stream, closed after `at_most` of them."""
    pieces: list[Piece] = []
    async with aclosing(provider.stream(asked)) as stream:
        async for piece in stream:
            pieces.append(piece)
            if len(pieces) == at_most:
                break
    return pieces


async def read_until_failure(provider: Provider, asked: ModelRequest) -> tuple[list[Piece], ProviderError]:
    pieces: list[Piece] = []
    try:
        async for piece in provider.stream(asked):
            pieces.append(piece)  # noqa: PERF401 - a comprehension would lose the pieces before the failure
    except ProviderError as failure:
        return pieces, failure
    pytest.fail("the stream did not fail")


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def reasoning_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, ReasoningPiece))


def test_it_offers_the_practice_model(provider: PracticeProvider) -> None:
    (card,) = provider.models()
    assert (provider.name, card.id, card.limit) == ("practice", "practice", 16_384)


@pytest.mark.parametrize("message", ["help", "table", "code", "write 300 words", "who are you?", "nonsense xyz", ""])
async def test_the_words_joined_are_the_answer(provider: PracticeProvider, message: str) -> None:
    pieces = await read(provider, request(user(message)))
    words = [piece.text for piece in pieces if isinstance(piece, TextPiece)]
    assert "".join(words) == load_rules().answer(message).text
    assert all(len(word.split()) == 1 for word in words)
    assert pieces[-1] == StopPiece(StopReason.END, resolved_model="practice")


async def test_usage_is_counted(provider: PracticeProvider, counter: TokenCounter) -> None:
    rows = (user("help"), reply("Yes?"), user("think"))
    pieces = await read(provider, request(*rows, system="Be brief."))

    first, *_, last = [piece.usage for piece in pieces if isinstance(piece, UsagePiece)]
    spent = counter.count_text("Be brief.", O200K)
    spent += sum(counter.count_text(row.text, O200K) + FRAME_TOKENS for row in rows)
    reasoning = counter.count_text(reasoning_of(pieces), O200K)
    assert first == Usage(input=spent)
    assert last == Usage(
        input=spent, output=reasoning + counter.count_text(text_of(pieces), O200K), reasoning=reasoning
    )
    assert isinstance(pieces[-2], UsagePiece)


async def test_an_answer_without_reasoning_reports_none(provider: PracticeProvider) -> None:
    pieces = await read(provider, request(user("table")))
    assert isinstance(pieces[-2], UsagePiece)
    assert pieces[-2].usage.reasoning is None


async def test_reasoning_comes_before_the_answer(provider: PracticeProvider) -> None:
    kinds = [type(piece) for piece in await read(provider, request(user("think"))) if not isinstance(piece, UsagePiece)]
    assert kinds == sorted(kinds, key=[ReasoningPiece, TextPiece, StopPiece].index)
    assert set(kinds) == {ReasoningPiece, TextPiece, StopPiece}


@pytest.mark.parametrize(("message", "seconds"), [("write 3 words", 1 / 50), ("slow write 3 words", 1 / 4)])
async def test_words_are_paced(counter: TokenCounter, message: str, seconds: float) -> None:
    slept: list[float] = []

    async def sleep(pause_seconds: float) -> None:
        slept.append(pause_seconds)

    await read(PracticeProvider(counter, words_per_second=50, sleep=sleep), request(user(message)))

    assert slept == [seconds] * 3


async def test_closing_the_stream_ends_it_at_once(counter: TokenCounter) -> None:
    slept: list[float] = []

    async def sleep(pause_seconds: float) -> None:
        slept.append(pause_seconds)

    pieces = await read(PracticeProvider(counter, sleep=sleep), request(user("write 5000 words")), at_most=4)

    assert len(pieces) == 4
    assert len(slept) == 3


async def test_cancelling_a_stream_that_waits_ends_it_at_once(counter: TokenCounter) -> None:
    waiting = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    reading = asyncio.get_running_loop().create_task(
        read(PracticeProvider(counter, sleep=sleep), request(user("help")))
    )
    await waiting.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_several_streams_run_at_the_same_time(counter: TokenCounter) -> None:
    provider = PracticeProvider(counter, words_per_second=math.inf)
    asked = [request(user(f"write {words} words")) for words in (10, 200, 3_000)]
    read_all = await asyncio.gather(*(read(provider, one) for one in asked))
    assert [count_words(text_of(pieces)) for pieces in read_all] == [10, 200, 3_000]


@pytest.mark.parametrize("kind", sorted(ErrorKind))
async def test_a_failure_asked_for_is_raised(provider: PracticeProvider, kind: ErrorKind) -> None:
    pieces, failure = await read_until_failure(provider, request(user(f"fail {kind}")))
    assert pieces == []
    assert failure.kind is kind
    assert failure.detail.startswith("Made on purpose")
    assert (failure.retry_after_seconds is not None) == (kind is ErrorKind.RATE_LIMIT)


@pytest.mark.parametrize("kind", sorted(ErrorKind))
async def test_a_failure_after_text_keeps_the_text_and_goes_on_behind_it(
    provider: PracticeProvider, kind: ErrorKind
) -> None:
    asked = user(f"fail {kind} after text")
    pieces, failure = await read_until_failure(provider, request(asked))
    assert failure.kind is kind
    assert text_of(pieces).startswith("You asked for a failure")

    rest = await read(provider, request(asked, reply(text_of(pieces)), go_on()))

    assert text_of(rest).startswith("\n\nAnd so it went on.")
    assert rest[-1] == StopPiece(StopReason.END, resolved_model="practice")


@pytest.mark.parametrize("message", ["write 60 words", "table", "code", "how do I get a deleted chat back?"])
async def test_a_reply_stopped_anywhere_goes_on_with_its_next_word(provider: PracticeProvider, message: str) -> None:
    asked = user(message)
    whole = text_of(await read(provider, request(asked)))
    for words in range(1, len(whole.split())):
        said = text_of(await read(provider, request(asked), at_most=1 + words))
        rest = text_of(await read(provider, request(asked, reply(said), go_on())))
        assert said + rest == whole


async def test_a_reply_stopped_again_and_again_is_the_same_in_the_end(provider: PracticeProvider) -> None:
    asked = user("write 40 words")
    whole = text_of(await read(provider, request(asked)))
    rows = [user("hello"), reply("Hello!"), asked]
    said = ""
    while said != whole:
        part = text_of(await read(provider, request(*rows), at_most=8))
        said += part
        rows += [reply(part), go_on()]
    assert len(rows) > 10


async def test_a_reply_stopped_in_its_reasoning_goes_on_there(provider: PracticeProvider) -> None:
    asked = user("think")
    whole = await read(provider, request(asked))
    said = reasoning_of(await read(provider, request(asked), at_most=11))
    rest = await read(provider, request(asked, reply("", said), go_on()))
    assert said + reasoning_of(rest) == reasoning_of(whole)
    assert text_of(rest) == text_of(whole)


async def test_a_new_message_behind_a_stopped_reply_is_answered_itself(provider: PracticeProvider) -> None:
    pieces = await read(provider, request(user("write 40 words"), reply("The year"), user("thanks")))
    assert text_of(pieces).startswith("You're welcome.")


async def test_the_newest_of_messages_that_came_merged_is_answered(provider: PracticeProvider) -> None:
    merged = user("fail server").model_copy(update={"parts": (TextPart(text="fail server"), TextPart(text="thanks"))})
    assert text_of(await read(provider, request(merged))).startswith("You're welcome.")


async def test_a_request_as_large_as_the_window_is_refused(provider: PracticeProvider, counter: TokenCounter) -> None:
    limit = 16_384
    message = " word" * (limit - FRAME_TOKENS - 1)
    assert counter.count_text(message, O200K) == limit - FRAME_TOKENS - 1

    pieces = await read(provider, request(user(message)))
    assert isinstance(pieces[0], UsagePiece)
    assert pieces[0].usage.input == limit - 1
    assert pieces[-1] == StopPiece(StopReason.MAX_TOKENS, resolved_model="practice")

    with pytest.raises(ProviderError, match="context window has 16,384 tokens") as failure:
        await read(provider, request(user(message + " word")))
    assert failure.value.kind is ErrorKind.CONTEXT_EXCEEDED


@pytest.mark.parametrize("max_tokens", [1, 20, 79])
async def test_an_answer_ends_at_the_tokens_allowed_and_can_go_on(
    provider: PracticeProvider, counter: TokenCounter, max_tokens: int
) -> None:
    asked = user("write 70 words")
    pieces = await read(provider, request(asked, max_tokens=max_tokens))
    assert pieces[-1] == StopPiece(StopReason.MAX_TOKENS, resolved_model="practice")
    assert 0 < counter.count_text(text_of(pieces), O200K) <= max_tokens
    assert isinstance(pieces[-2], UsagePiece)
    assert pieces[-2].usage.output == counter.count_text(text_of(pieces), O200K)

    rest = await read(provider, request(asked, reply(text_of(pieces)), go_on()))

    assert text_of(pieces) + text_of(rest) == text_of(await read(provider, request(asked)))


async def test_reasoning_ends_at_the_tokens_allowed_too(provider: PracticeProvider) -> None:
    pieces = await read(provider, request(user("think"), max_tokens=10))
    assert reasoning_of(pieces)
    assert not text_of(pieces)
    assert pieces[-1] == StopPiece(StopReason.MAX_TOKENS, resolved_model="practice")


async def test_the_longest_prose_is_written_whole(provider: PracticeProvider) -> None:
    pieces = await read(provider, request(user("write 5000 words"), max_tokens=8_192))
    assert count_words(text_of(pieces)) == 5_000
    assert pieces[-1] == StopPiece(StopReason.END, resolved_model="practice")


async def test_a_model_it_does_not_have_is_not_found(provider: PracticeProvider) -> None:
    with pytest.raises(ProviderError) as failure:
        await read(provider, request(user("help"), model="other"))
    assert failure.value.kind is ErrorKind.MODEL_NOT_FOUND


async def test_a_damaged_vocabulary_fails_in_words_and_is_not_tried_again(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="install Muntin again") as failure:
        await read(PracticeProvider(TokenCounter(tmp_path)), request(user("help")))
    assert failure.value.kind is ErrorKind.INVALID_REQUEST


def test_nothing_heavy_is_imported_before_the_first_request() -> None:
    code = (
        "import sys; from app.budget.tokens import TokenCounter; from app.providers.practice.provider import *;"
        "PracticeProvider(TokenCounter()).models();"
        "assert not {'tiktoken', 'rapidfuzz'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


async def test_a_request_far_over_the_window_is_not_counted_to_its_end() -> None:
    class CountingCounter(TokenCounter):
        calls = 0

        def count_text(self, text: str, encoding: str) -> int:
            self.calls += 1
            return super().count_text(text, encoding)

    counter = CountingCounter()
    rows = tuple(
        Row(id=f"r{n}", session="s", role="user", turn=f"r{n}", parts=(TextPart(text="word " * 20_000),))
        for n in range(100)
    )
    request = ModelRequest(model="practice", system="", rows=rows)
    with pytest.raises(ProviderError, match="more than ") as failure:
        async for _ in PracticeProvider(counter).stream(request):
            pass
    assert failure.value.kind is ErrorKind.CONTEXT_EXCEEDED
    assert counter.calls < 15


LOOK = ToolSpec("look", "Looks something up.", {"type": "object", "properties": {"text": {"type": "string"}}})
ASKED = 'call look {"text": "the old house"}'


def with_tools(*rows: Row, max_tokens: int | None = None) -> ModelRequest:
    return ModelRequest(model="practice", system="", rows=rows, tools=(LOOK,), max_tokens=max_tokens)


def called(output: object, state: ToolState = "done", name: str = "look") -> Row:
    part = ToolPart(call_id="call_1", name=name, input={"text": "the old house"}, state=state, output=output)
    return Row(id=str(next(_ids)), session="s", role="assistant", parts=(part,))


async def test_a_call_is_streamed_in_pieces_and_ends_the_reply(provider: PracticeProvider) -> None:
    first, start, *inputs, end, usage, stop = await read(provider, with_tools(user(ASKED)))
    assert isinstance(first, UsagePiece)
    assert start == ToolStartPiece("call_1", "look")
    typed = "".join(piece.text for piece in inputs if isinstance(piece, ToolInputPiece))
    assert typed == '{"text": "the old house"}'
    assert len(inputs) == 4
    assert end == ToolEndPiece("call_1", {"text": "the old house"})
    assert isinstance(usage, UsagePiece)
    assert usage.usage.output
    assert stop == StopPiece(StopReason.TOOL_USE, resolved_model="practice")


@pytest.mark.parametrize(
    ("output", "state", "begin"),
    [
        ("It stands on a hill.", "done", "I called `look`, and this is what came back. It has 20 characters:"),
        ({"found": [1]}, "done", "I called `look`, and this is what came back."),
        ("x" * 5_000, "done", "I called `look`, and this is what came back. It has 5,000 characters, beginning with:"),
        ("No such page.", "failed", "I called `look`, but it failed."),
        ("You said no.", "denied", "I asked for `look`, but it was not done. It has 12 characters:"),
        (None, "denied", "I asked for `look`, but there is no such tool"),
        ("gone", "interrupted", "The call of `look` was interrupted"),
    ],
)
async def test_a_result_is_told_with_its_beginning(
    provider: PracticeProvider, output: object, state: ToolState, begin: str
) -> None:
    pieces = await read(provider, with_tools(user(ASKED), called(output, state)))
    text = text_of(pieces)
    assert text.startswith(begin)
    if state in ("done", "failed"):
        assert (output[:20] if isinstance(output, str) else '"found"') in text
    assert len(text) < 600
    assert pieces[-1] == StopPiece(StopReason.END, resolved_model="practice"), "no second call"


async def test_a_result_with_fences_stays_within_its_own(provider: PracticeProvider) -> None:
    text = text_of(await read(provider, with_tools(user(ASKED), called("a\n````\nb"))))
    assert text.endswith("`````\na\n````\nb\n`````")


async def test_a_told_result_that_was_cut_goes_on_with_its_next_word(provider: PracticeProvider) -> None:
    rows = [user(ASKED), called("It stands on a hill.")]
    whole = text_of(await read(provider, with_tools(*rows)))
    said = text_of(await read(provider, with_tools(*rows), at_most=6))
    rest = text_of(await read(provider, with_tools(*rows, reply(said), go_on())))
    assert said + rest == whole


async def test_tools_and_results_count(provider: PracticeProvider, counter: TokenCounter) -> None:
    async def cost(asked: ModelRequest) -> int:
        first = (await read(provider, asked, at_most=1))[0]
        assert isinstance(first, UsagePiece)
        assert first.usage.input is not None
        return first.usage.input

    bare = await cost(request(user(ASKED)))
    offered = await cost(with_tools(user(ASKED)))
    answered = await cost(with_tools(user(ASKED), called("word " * 500)))
    assert offered - bare > counter.count_text(LOOK.description, O200K)
    assert 500 < answered - offered < 600


async def test_every_call_of_a_chat_has_its_own_id(provider: PracticeProvider) -> None:
    rows = (user(ASKED), called("seen"), reply("I called it."), user(ASKED))
    starts = [piece for piece in await read(provider, with_tools(*rows)) if isinstance(piece, ToolStartPiece)]
    assert starts == [ToolStartPiece("call_2", "look")]


async def test_a_call_that_does_not_fit_is_cut_and_never_whole(provider: PracticeProvider) -> None:
    pieces = await read(provider, with_tools(user(ASKED), max_tokens=5))
    assert not any(isinstance(piece, ToolEndPiece) for piece in pieces)
    assert pieces[-1] == StopPiece(StopReason.MAX_TOKENS, resolved_model="practice")


READ = ToolSpec("read_file", "Reads a file.", {"type": "object", "properties": {}})


async def test_several_calls_are_streamed_one_after_another(provider: PracticeProvider) -> None:
    asked = replace(request(user("read a.txt and b.txt")), tools=(READ,))

    pieces = await read(provider, asked)

    ends = [piece for piece in pieces if isinstance(piece, ToolEndPiece)]
    assert ends == [ToolEndPiece("call_1", {"path": "a.txt"}), ToolEndPiece("call_2", {"path": "b.txt"})]
    assert pieces[-1] == StopPiece(StopReason.TOOL_USE, resolved_model="practice")


async def test_of_several_calls_only_the_one_that_does_not_fit_is_cut(provider: PracticeProvider) -> None:
    asked = replace(request(user("read a.txt and b.txt"), max_tokens=14), tools=(READ,))

    pieces = await read(provider, asked)

    assert [piece for piece in pieces if isinstance(piece, ToolEndPiece)] == [ToolEndPiece("call_1", {"path": "a.txt"})]
    assert ToolStartPiece("call_2", "read_file") in pieces
    assert pieces[-1] == StopPiece(StopReason.MAX_TOKENS, resolved_model="practice")


async def test_the_level_says_how_much_is_thought(provider: PracticeProvider) -> None:
    lengths = {}
    for level in (None, ThinkingLevel.OFF, ThinkingLevel.LOW, ThinkingLevel.HIGH):
        pieces = await read(provider, replace(request(user("think")), level=level))
        assert "12 panes" in text_of(pieces)
        lengths[level] = sum(isinstance(piece, ReasoningPiece) for piece in pieces)
    assert 0 == lengths[ThinkingLevel.OFF] < lengths[ThinkingLevel.LOW] < lengths[ThinkingLevel.HIGH]
    assert lengths[None] == lengths[ThinkingLevel.HIGH]


async def test_without_tools_a_call_is_explained(provider: PracticeProvider) -> None:
    pieces = await read(provider, request(user(ASKED)))
    assert "no tools in this chat" in text_of(pieces)
    assert pieces[-1] == StopPiece(StopReason.END, resolved_model="practice")
