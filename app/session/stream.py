"""Consume one provider stream into a reply: deltas out, partial to disk, usage."""

from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from app.aio import Throttle, run_blocking
from app.domain.errors import ErrorKind, ProviderError, StorageError
from app.domain.events import ReplyDelta, ReplyStarted
from app.domain.rows import ErrorInfo, Flag, ReasoningPart, RequestInfo, Row, TextPart, Usage
from app.history.partial import SAVE_INTERVAL_SECONDS, PartialFile
from app.providers.base import ReasoningPiece, StopPiece, StopReason, TextPiece, UsagePiece
from app.session.admission import TurnPlan
from app.session.env import SessionEnv


@dataclass(slots=True)
class Reply:
    """A reply as far as it has come."""

    row_id: str
    session: str
    turn: str
    created: datetime
    request: RequestInfo
    stretches: list["Stretch"] = field(default_factory=list)
    usage: Usage | None = None
    stop: StopPiece | None = None
    error: ProviderError | None = None
    retry_at: datetime | None = None

    @property
    def says_something(self) -> bool:
        """Whether anything visible has come."""
        return bool(self.stretches)

    def add(self, kind: "StretchKind", text: str) -> None:
        """Add text to the last stretch if it is of `kind`, to a new one otherwise."""
        if not self.stretches or self.stretches[-1].kind != kind:
            self.stretches.append(Stretch(kind))
        self.stretches[-1].chunks.append(text)

    def row(self) -> Row:
        """Return the reply as a row: whole, failed, or interrupted if it simply stopped."""
        flags: tuple[str, ...] = ()
        error = None
        if self.error is not None:
            flags = (Flag.FAILED,)
            error = ErrorInfo(kind=self.error.kind, detail=self.error.detail, retry_at=self.retry_at)
        elif self.stop is None:
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
            parts=tuple(stretch.part() for stretch in self.stretches),
        )


StretchKind = Literal["text", "reasoning"]


@dataclass(slots=True)
class Stretch:
    """Text of one kind, in the chunks it came in."""

    kind: StretchKind
    chunks: list[str] = field(default_factory=list)

    def part(self) -> TextPart | ReasoningPart:
        text = "".join(self.chunks)
        return TextPart(text=text) if self.kind == "text" else ReasoningPart(text=text)


def new_reply(env: SessionEnv, plan: TurnPlan, session: str) -> Reply:
    """Return an empty reply to `plan`."""
    return Reply(
        row_id=env.new_id(),
        session=session,
        turn=plan.turn,
        created=env.clock.now(),
        request=RequestInfo(provider=plan.card.provider, model=plan.card.id),
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
            await run_blocking(partial.save, reply.row())

    saving = Throttle(save, seconds=SAVE_INTERVAL_SECONDS, tasks=env.tasks)
    try:
        async with aclosing(plan.provider.stream(plan.request)) as pieces:
            async for piece in pieces:
                match piece:
                    case TextPiece(text) if text:
                        reply.add("text", text)
                        env.emit(ReplyDelta(reply.session, reply.row_id, "text", text))
                        saving.poke()
                    case ReasoningPiece(text) if text:
                        reply.add("reasoning", text)
                        env.emit(ReplyDelta(reply.session, reply.row_id, "reasoning", text))
                        saving.poke()
                    case UsagePiece(usage):
                        reply.usage = usage
                    case StopPiece():
                        reply.stop = piece
                    case _:
                        pass
    except ProviderError as error:
        reply.error = error
        if error.retry_after_seconds is not None:
            reply.retry_at = env.clock.now() + timedelta(seconds=error.retry_after_seconds)
    finally:
        await saving.close()
    if reply.error is None:
        reply.error = _early_end(reply.stop)


def _early_end(stop: StopPiece | None) -> ProviderError | None:
    if stop is None:
        return ProviderError(ErrorKind.TRUNCATED, "The connection ended before the reply was complete.")
    if stop.reason is StopReason.REFUSAL:
        return ProviderError(ErrorKind.REFUSAL)
    if stop.reason is StopReason.MAX_TOKENS:
        return ProviderError(ErrorKind.TRUNCATED, "The reply reached the longest length the model may write.")
    return None
