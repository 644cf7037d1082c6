"""Consume one provider stream into a reply: deltas out, partial to disk, usage."""

from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from app.aio import Throttle, run_blocking, run_to_end
from app.domain.errors import ErrorKind, ProviderError, StorageError
from app.domain.events import AnswerDelayed, ReplyDelta, ReplyStarted
from app.domain.rows import (
    ErrorInfo,
    Flag,
    ReasoningPart,
    RequestInfo,
    Row,
    TextPart,
    ToolPart,
    ToolState,
    Usage,
)
from app.domain.text import clean_text
from app.history.codec import as_kept
from app.history.partial import SAVE_INTERVAL_SECONDS, PartialFile
from app.providers.base import (
    Piece,
    QuietPiece,
    ReasoningPiece,
    ReplayPiece,
    StopPiece,
    StopReason,
    TextPiece,
    ToolEndPiece,
    ToolInputPiece,
    ToolStartPiece,
    UsagePiece,
)
from app.session.admission import TurnPlan
from app.session.env import SessionEnv
from app.tools.runner import CallResult

MAX_PARTS: Final = 1_000
"""Texts, thoughts and calls of one reply. A model that goes round in circles is stopped: no row could hold it all."""
_TOO_MANY_PARTS: Final = f"The reply had more than {MAX_PARTS:,} parts, so it was stopped here."


@dataclass(slots=True)
class Reply:
    """A reply as far as it has come."""

    row_id: str
    session: str
    turn: str
    created: datetime
    request: RequestInfo
    stretches: list["Stretch | Call"] = field(default_factory=list)
    usage: Usage | None = None
    stop: StopPiece | None = None
    error: ProviderError | None = None
    retry_at: datetime | None = None
    ended_by: ErrorInfo | None = None
    """Why the turn ends here although the reply itself is whole."""

    @property
    def is_whole(self) -> bool:
        """Whether the model wrote it to its end: only then are its calls settled."""
        return self.error is None and self.stop is not None

    @property
    def calls(self) -> "tuple[Call, ...]":
        """All calls, in order, torn ones too."""
        return tuple(call for call in self.stretches if isinstance(call, Call))

    @property
    def says_something(self) -> bool:
        """Whether anything visible has come; thoughts without words, which some vendors send, are not."""
        return any(isinstance(stretch, Call) or stretch.chunks for stretch in self.stretches)

    def add(self, kind: "StretchKind", text: str, *, now: float = 0) -> None:
        """Add text that came `now` to the last stretch if it is of `kind` and open, to a new one otherwise."""
        last = self.stretches[-1] if self.stretches else None
        if not isinstance(last, Stretch) or last.kind != kind or last.replay is not None:
            last = Stretch(kind)
            self.stretches.append(last)
        last.chunks.append(text)
        last.begun = now if last.begun is None else last.begun
        last.ended = now

    def close_reasoning(self, replay: dict[str, object]) -> None:
        """Keep what must go back with the reasoning that ends here."""
        last = self.stretches[-1] if self.stretches else None
        if not isinstance(last, Stretch) or last.kind != "reasoning" or last.replay is not None:
            last = Stretch("reasoning")
            self.stretches.append(last)
        last.replay = replay

    def begin_call(self, call_id: str, name: str) -> None:
        """Take note that a tool call begins. Servers leave ids out, or give the same one twice: ours differ."""
        taken = {call.call_id for call in self.stretches if isinstance(call, Call)}
        own_id, count = call_id or "call", 1
        while own_id in taken:
            count += 1
            own_id = f"{call_id or 'call'}_{count}"
        self.stretches.append(Call(own_id, name, given_id=call_id))

    def call(self, given_id: str) -> "Call | None":
        """Return the call that a server means by an id: the newest of those that have not come to their end."""
        calls = (call for call in reversed(self.stretches) if isinstance(call, Call) and call.input is None)
        return next((call for call in calls if call.given_id == given_id), None)

    def unfinished_row(self) -> Row:
        """Return the reply as a crash would find it: calls without a result are pending."""
        return self._row(unsettled="pending")

    def row(self) -> Row:
        """Return the reply as a row: whole, failed, or interrupted if it or one of its calls simply stopped."""
        return self._row(unsettled="interrupted")

    def _row(self, *, unsettled: ToolState) -> Row:
        flags: tuple[str, ...] = ()
        error = self.ended_by
        if self.error is not None:
            error = ErrorInfo(
                kind=self.error.kind,
                detail=self.error.detail,
                is_quote=self.error.is_quote or None,
                retry_at=self.retry_at,
            )
        if error is not None:
            flags = (Flag.FAILED,)
        elif self.stop is None or any(call.result is None for call in self.calls):
            flags = (Flag.INTERRUPTED,)
        resolved = self.stop.resolved_model if self.stop else None
        return Row(
            id=self.row_id,
            session=self.session,
            role="assistant",
            turn=self.turn,
            created=self.created,
            model=self.request.model,
            request=self.request.model_copy(update={"resolved_model": resolved}),
            usage=self.usage,
            error=error,
            flags=flags,
            parts=tuple(
                stretch.part() if isinstance(stretch, Stretch) else stretch.part(unsettled)
                for stretch in self.stretches
            ),
        )


StretchKind = Literal["text", "reasoning"]


@dataclass(slots=True)
class Stretch:
    """Text of one kind, in the chunks it came in."""

    kind: StretchKind
    chunks: list[str] = field(default_factory=list)
    replay: dict[str, object] | None = None
    begun: float | None = None
    """When its first text came, as `Clock.monotonic` counts."""
    ended: float = 0
    """When its last text came."""

    def part(self) -> TextPart | ReasoningPart:
        # A character may have been cut in two between chunks.
        text = clean_text("".join(self.chunks))
        if self.kind == "text":
            return TextPart(text=text)
        seconds = self.ended - self.begun if self.begun is not None else 0
        return ReasoningPart(text=text, replay=self.replay, seconds=round(seconds, 1) if seconds >= 1 else None)


@dataclass(slots=True)
class Call:
    """A tool call as far as it has come. `input` is None until it is whole, `result` until it is settled.

    `call_id` is its own within the reply, `given_id` what the server calls it.
    """

    call_id: str
    name: str
    given_id: str
    chunks: list[str] = field(default_factory=list)
    input: dict[str, object] | None = None
    replay: dict[str, object] | None = None
    result: CallResult | None = None

    def end(self, value: dict[str, object], replay: dict[str, object] | None = None) -> None:
        """Take the whole input; one that can't be kept as it is leaves the call torn."""
        with suppress(ValueError):
            kept = as_kept(value)
            self.input = kept if isinstance(kept, dict) else None
            self.replay = replay

    def part(self, unsettled: ToolState) -> ToolPart:
        part = ToolPart(
            call_id=self.call_id,
            name=self.name,
            input=self.written if self.input is None else self.input,
            state=unsettled,
            replay=self.replay,
        )
        if self.result is None:
            return part
        result = self.result
        return part.model_copy(
            update={
                "state": result.state,
                "output": result.output,
                "seconds": result.seconds,
                "diff": result.diff or None,
            }
        )

    @property
    def written(self) -> str:
        """The input as the text that came."""
        return clean_text("".join(self.chunks))


def new_reply(env: SessionEnv, plan: TurnPlan, session: str) -> Reply:
    """Return an empty reply to `plan`."""
    return Reply(
        row_id=env.new_id(),
        session=session,
        turn=plan.turn,
        created=env.clock.now(),
        request=RequestInfo(
            provider=plan.card.provider,
            model=plan.card.id,
            thinking_level=plan.request.level,
            profile=plan.terms.profile.id,
            instead_of=plan.instead_of,
            instead_because=plan.instead_because,
        ),
    )


async def read_reply(env: SessionEnv, plan: TurnPlan, reply: Reply, partial: PartialFile) -> None:
    """Stream into `reply` until the model, the connection or the person ends it.

    A failure of the provider ends up in `reply.error`. On cancellation the request is closed at once
    and `reply` holds what has come.
    """
    env.emit(ReplyStarted(reply.session, reply.row_id, plan.card.ref))

    async def save() -> None:
        # A disk that refuses is told when the reply is appended; it may have recovered by then.
        with suppress(StorageError):
            await run_blocking(partial.save, reply.unfinished_row())

    saving = Throttle(save, seconds=SAVE_INTERVAL_SECONDS, tasks=env.tasks)
    try:
        async with aclosing(plan.provider.stream(plan.request)) as pieces:
            async for piece in pieces:
                if _take(env, reply, piece):
                    saving.poke()
                _check_length(reply)
    except ProviderError as error:
        reply.error = error
        if error.retry_after_seconds is not None:
            reply.retry_at = env.clock.now() + timedelta(seconds=error.retry_after_seconds)
    finally:
        # However often Stop comes: what is still being saved must not outlive the row that replaces it.
        await run_to_end(saving.close(), env.tasks, name=f"last save of {reply.session}")
    if reply.error is None:
        reply.error = _early_end(reply.stop)


def _take(env: SessionEnv, reply: Reply, piece: Piece) -> bool:
    """Add a piece to `reply` and tell of it; return whether there is more to keep now."""
    match piece:
        case TextPiece(text) | ReasoningPiece(text) if text:
            kind: StretchKind = "text" if isinstance(piece, TextPiece) else "reasoning"
            reply.add(kind, text, now=env.clock.monotonic())
            env.emit(ReplyDelta(reply.session, reply.row_id, kind, text))
        case ReplayPiece(replay):
            reply.close_reasoning(replay)
        case ToolStartPiece(call_id, name):
            reply.begin_call(call_id, name)
        case ToolInputPiece(call_id, text) if (call := reply.call(call_id)) is not None:
            call.chunks.append(text)
        case ToolEndPiece(call_id, value, replay) if (call := reply.call(call_id)) is not None:
            call.end(value, replay)
        case QuietPiece(seconds):
            env.emit(AnswerDelayed(reply.session, seconds))
            return False
        case UsagePiece(usage):
            reply.usage = usage
            return False
        case StopPiece():
            reply.stop = piece
            return False
        case _:
            return False
    return True


def _check_length(reply: Reply) -> None:
    if len(reply.stretches) > MAX_PARTS:
        raise ProviderError(ErrorKind.TRUNCATED, _TOO_MANY_PARTS)


def _early_end(stop: StopPiece | None) -> ProviderError | None:
    if stop is None:
        return ProviderError(ErrorKind.TRUNCATED, "The connection ended before the reply was complete.")
    if stop.reason is StopReason.REFUSAL:
        return ProviderError(ErrorKind.REFUSAL)
    if stop.reason is StopReason.MAX_TOKENS:
        return ProviderError(ErrorKind.TRUNCATED, "The reply reached the longest length the model may write.")
    return None
