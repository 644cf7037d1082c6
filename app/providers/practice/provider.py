"""The Practice model as a provider: offline, rule-based, with counted usage."""

import asyncio
import bisect
import re
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.aio import run_blocking
from app.budget.tokens import TokenCounter
from app.domain.errors import ErrorKind, KnownError, ProviderError
from app.domain.models import ModelCard, ThinkingLevel
from app.domain.request import ModelRequest
from app.domain.rows import Kind, ReasoningPart, Row, TextPart, ToolPart, Usage
from app.providers.base import (
    Piece,
    ReasoningPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.providers.catalogue import load_catalogue
from app.providers.practice.calls import PlannedCall, shown_call, shown_tool
from app.providers.practice.rules import Rules, Script, load_rules

FRAME_TOKENS: Final = 8
"""What a message costs beside its text (context-windows.md, 8)."""
MOST_COUNTED: Final = 10
"""A request of more than so many times the window is not counted to its end."""
WORDS_PER_SECOND: Final = 40.0
RETRY_AFTER_SECONDS: Final = {ErrorKind.RATE_LIMIT: 3.0}
"""What a failure made on purpose asks for; other kinds leave the wait to the program."""

Sleep = Callable[[float], Awaitable[None]]


class PracticeProvider:
    """Answers by fixed rules, word by word, the way a provider on the network would.

    Nothing is kept between requests: the same request gets the same reply. A request that ends in a row of
    kind `continue` gets what its turn has not said yet.
    """

    def __init__(
        self, counter: TokenCounter, *, words_per_second: float = WORDS_PER_SECOND, sleep: Sleep = asyncio.sleep
    ) -> None:
        """`words_per_second` may be `math.inf`; `sleep` is what paces the words."""
        self._counter = counter
        self._words_per_second = words_per_second
        self._sleep = sleep
        self._cards = load_catalogue().of_maker(self.name)
        self._rules: Rules | None = None
        self._loading = threading.Lock()

    @property
    def name(self) -> str:
        return "practice"

    def models(self) -> tuple[ModelCard, ...]:
        return self._cards

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Yield the reply to `request`.

        Raises `ProviderError`: `model_not_found`; `context_exceeded` if the request leaves no room for an
        answer; `invalid_request` if a file of the program is damaged; and any kind a person asks for.
        """
        plan = await run_blocking(self._plan, request)
        script = plan.script
        pause_seconds = 1 / (script.words_per_second or self._words_per_second)
        if script.reasoning or script.text or script.calls:
            yield UsagePiece(Usage(input=plan.usage.input))
        for word in _words(script.reasoning):
            await self._sleep(pause_seconds)
            yield ReasoningPiece(word)
        for word in _words(script.text):
            await self._sleep(pause_seconds)
            yield TextPiece(word)
        for number, call in enumerate(script.calls, plan.first_call):
            yield ToolStartPiece(f"call_{number}", call.name)
            for word in _words(call.text):
                await self._sleep(pause_seconds)
                yield ToolInputPiece(f"call_{number}", word)
            if plan.stop is StopReason.TOOL_USE or call is not script.calls[-1]:
                yield ToolEndPiece(f"call_{number}", call.input)
        if script.failure is None:
            yield UsagePiece(plan.usage)
            yield StopPiece(plan.stop, resolved_model=request.model)
            return
        # A provider would report a refusal or a cut by how the stream ends, which has no room for words.
        raise ProviderError(
            script.failure,
            plan.explanation,
            retry_after_seconds=RETRY_AFTER_SECONDS.get(script.failure),
            is_quote=True,
        )

    def _plan(self, request: ModelRequest) -> "_Plan":
        card = next((card for card in self._cards if card.id == request.model), None)
        if card is None:
            raise ProviderError(ErrorKind.MODEL_NOT_FOUND, f"There is no model {request.model} here.")
        try:
            return self._plan_for(card, request)
        except ProviderError:
            raise
        except KnownError as error:
            raise ProviderError(ErrorKind.INVALID_REQUEST, str(error)) from error

    def _plan_for(self, card: ModelCard, request: ModelRequest) -> "_Plan":
        input_tokens = self._count_input(request, card)
        room = _room(request, card, input_tokens)
        rules = self._load()
        script = _script(request, rules)
        fitted = self._fit(script, room, card)
        reasoning = self._counter.count_text(fitted.reasoning, card.encoding)
        output = reasoning + self._counter.count_text(fitted.text, card.encoding)
        output += sum(self._counter.count_text(f"{call.name} {call.text}", card.encoding) for call in fitted.calls)
        whole = StopReason.TOOL_USE if script.calls else StopReason.END
        return _Plan(
            script=fitted,
            stop=whole if fitted is script else StopReason.MAX_TOKENS,
            usage=Usage(input=input_tokens, output=output, reasoning=reasoning or None),
            explanation=rules.explain_failure(fitted.failure) if fitted.failure is not None else "",
            first_call=1 + sum(isinstance(part, ToolPart) for row in request.rows for part in row.parts),
        )

    def _count_input(self, request: ModelRequest, card: ModelCard) -> int:
        """Return the tokens of the request; of one that is far too long, only that it is."""
        total = self._counter.count_text(request.system, card.encoding)
        total += sum(self._counter.count_text(shown_tool(tool), card.encoding) for tool in request.tools)
        for row in request.rows:
            total += FRAME_TOKENS + self._counter.count_text(row.text, card.encoding)
            calls = [part for part in row.parts if isinstance(part, ToolPart)]
            total += sum(FRAME_TOKENS + self._counter.count_text(shown_call(call), card.encoding) for call in calls)
            if card.limit is not None and total > MOST_COUNTED * card.limit:
                break
        return total

    def _fit(self, script: Script, room: int, card: ModelCard) -> Script:
        """Return `script`, or its beginning if the whole costs more than `room` tokens."""

        def cost(words: Sequence[str]) -> int:
            return self._counter.count_text("".join(words), card.encoding)

        if script.calls:
            calls = _fitting(script.calls, room, cost)
            return script if calls == script.calls else replace(script, calls=calls)
        reasoning, text = _words(script.reasoning), _words(script.text)
        left = room - cost(reasoning)
        if left >= cost(text):
            return script
        reasoned = _longest(reasoning, room, cost)
        said = _longest(text, left, cost) if left > 0 else 0
        return replace(script, reasoning="".join(reasoning[:reasoned]), text="".join(text[:said]), failure=None)

    def _load(self) -> Rules:
        with self._loading:
            if self._rules is None:
                self._rules = load_rules()
            return self._rules


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a stream is going to yield, computed before its first piece."""

    script: Script
    stop: StopReason
    usage: Usage
    explanation: str
    """What the failure of the script says, if it has one."""
    first_call: int
    """Number of the first call of the script, if it has any; of no other call in the request."""


def _room(request: ModelRequest, card: ModelCard, input_tokens: int) -> int:
    """Return how many tokens the answer may have."""
    allowed = [limit for limit in (request.max_tokens, card.max_output) if limit is not None]
    if card.limit is not None:
        if input_tokens >= card.limit:
            more_than = "more than " if input_tokens > MOST_COUNTED * card.limit else ""
            raise ProviderError(
                ErrorKind.CONTEXT_EXCEEDED,
                f"This chat has {more_than}{input_tokens:,} tokens. The {card.name} needs room for its reply too, "
                f"and its context window has {card.limit:,} tokens.",
            )
        allowed.append(card.limit - input_tokens)
    return min(allowed)


def _script(request: ModelRequest, rules: Rules) -> Script:
    """Return the reply to the newest message a person wrote, or what its turn has not said yet."""
    rows = request.rows
    owner = next(
        (
            index
            for index in reversed(range(len(rows)))
            if rows[index].role == "user" and rows[index].kind != Kind.CONTINUE
        ),
        None,
    )
    if owner is None:
        return rules.answer("")
    replies = [row for row in rows[owner + 1 :] if row.role == "assistant"]
    groups = [[part for part in row.parts if isinstance(part, ToolPart)] for row in replies]
    last = max((index for index, calls in enumerate(groups) if calls), default=-1)
    whole = rules.answer(
        _last_text(rows[owner]), tools={tool.name for tool in request.tools}, made=[calls for calls in groups if calls]
    )
    whole = replace(whole, reasoning=_thoughts(whole.reasoning, request.level))
    # What was said before the last calls has its place; only what comes behind them is this reply.
    replies = replies[last + 1 :]
    if rows[-1].kind != Kind.CONTINUE:
        return whole
    return whole.rest(said=_joined(replies, TextPart), reasoned=_joined(replies, ReasoningPart))


def _thoughts(reasoning: str, level: ThinkingLevel | None) -> str:
    """Return as much of the reasoning as the level gives: none, its first paragraph, or all of it."""
    if level is ThinkingLevel.OFF:
        return ""
    return reasoning.partition("\n\n")[0] if level is ThinkingLevel.LOW else reasoning


def _last_text(row: Row) -> str:
    """Return the newest text of a row; messages without an answer between them come merged into one row."""
    return next((part.text for part in reversed(row.parts) if isinstance(part, TextPart) and part.text.strip()), "")


def _joined(rows: Sequence[Row], kind: type[TextPart] | type[ReasoningPart]) -> str:
    return "".join(part.text for row in rows for part in row.parts if isinstance(part, kind))


def _words(text: str) -> list[str]:
    """Split before the white space in front of each word; joined, the pieces are `text` again."""
    return re.findall(r"\s*\S+|\s+\Z", text)


def _fitting(
    calls: tuple[PlannedCall, ...], room: int, cost: Callable[[Sequence[str]], int]
) -> tuple[PlannedCall, ...]:
    """Return the calls that cost at most `room` tokens; of the first that doesn't fit, the beginning."""
    for index, call in enumerate(calls):
        words = _words(call.text)
        if cost([call.name, " ", *words]) > room:
            fitting = "".join(words[: _longest(words, room, cost)])
            return (*calls[:index], replace(call, text=fitting))
        room -= cost([call.name, " ", *words])
    return calls


def _longest(words: Sequence[str], room: int, cost: Callable[[Sequence[str]], int]) -> int:
    """Return how many of `words`, from the first on, cost at most `room`."""
    return max(0, bisect.bisect_right(range(len(words) + 1), room, key=lambda count: cost(words[:count])) - 1)
