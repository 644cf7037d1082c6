"""Chat Completions on the wire: chunks as pieces. No I/O."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from app.domain.errors import ErrorKind, ProviderError
from app.domain.rows import Usage
from app.providers.base import Piece, ReasoningPiece, ReplayPiece, StopPiece, StopReason, TextPiece, UsagePiece
from app.providers.openai.faults import fault_in_stream
from app.providers.openai.parts import StreamedCall, compact_json, count_in, text_in
from app.providers.openai.think_tags import ThinkTags
from app.providers.openai.thoughts import DETAILS, EXTRA, TEXT_FIELDS, Details, texts_in

CUT: Final = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
REFUSED: Final = frozenset({"content_filter", "safety", "recitation", "refusal", "sensitive"})
BROKEN: Final = {
    "error": ErrorKind.SERVER,
    "network_error": ErrorKind.SERVER,
    "insufficient_system_resource": ErrorKind.OVERLOADED,
}
"""Finish reasons beside `stop` and `tool_calls`; every other one is an end."""


class ChatReader:
    """Makes pieces of the chunks of one stream. The last ones come from `end`."""

    is_done = False
    """Never before the connection ends or `[DONE]` comes: usage may follow the finish reason."""

    def __init__(self, *, keys: Collection[str] = ()) -> None:
        """`keys` are kept out of what errors say."""
        self._keys = keys
        self._calls: list[StreamedCall] = []
        self._at: dict[int, StreamedCall] = {}
        self._thoughts = ThinkTags()
        self._details = Details()
        self._thought_field = ""
        """What the server calls the thoughts that are coming; empty after their end."""
        self._finish = ""
        self._model: str | None = None
        self._response_id = ""
        self._usage: Usage | None = None
        self._is_refused = False
        self._is_stream = False

    @property
    def is_whole(self) -> bool:
        """Whether the model has said why it stopped."""
        return bool(self._finish)

    def read(self, chunk: object) -> Iterator[Piece]:
        """Yield what one chunk says. Raises `ProviderError` if it tells a failure."""
        if not isinstance(chunk, Mapping):
            return
        if chunk.get("error"):
            raise fault_in_stream(chunk, keys=self._keys)
        self._model = text_in(chunk, "model") or self._model
        self._response_id = text_in(chunk, "id") or self._response_id
        choice = next(iter(_list(chunk.get("choices"))), None)
        if isinstance(choice, Mapping):
            yield from self._read_delta(self._said_in(choice))
            self._finish = text_in(choice, "finish_reason").lower() or self._finish
        usage = _usage(chunk.get("usage"))
        if usage is not None and usage != self._usage:
            self._usage = usage
            yield UsagePiece(usage)
        if self._finish in BROKEN:
            raise ProviderError(BROKEN[self._finish], f"The server ended the reply with “{self._finish}”.")

    def end(self) -> Iterator[Piece]:
        """Yield what the end of the stream says; without a finish reason it was cut."""
        yield from self._thoughts.end()
        if not self.is_whole:
            return
        yield from self._end_thoughts()
        if self._details.entries:
            yield ReplayPiece({DETAILS: self._details.entries})
        is_cut = self._finish in CUT
        for call in self._calls:
            if is_cut and call is self._calls[-1] and not call.arguments:
                # Cut before its arguments: not a call without any.
                continue
            yield from call.end()
        yield StopPiece(self._reason(is_cut=is_cut), resolved_model=self._model)

    def _said_in(self, choice: Mapping[str, object]) -> object:
        """Return what a choice adds. A reply in one piece has a message where a stream has deltas.

        MiniMax ends a stream with the whole message once more.
        """
        delta = choice.get("delta")
        self._is_stream = self._is_stream or bool(delta)
        return delta if self._is_stream else choice.get("message")

    def _read_delta(self, delta: object) -> Iterator[Piece]:
        if not isinstance(delta, Mapping):
            return
        yield from self._read_thoughts(delta)
        content = delta.get("content")
        if content or delta.get("tool_calls"):
            yield from self._end_thoughts()
        if isinstance(content, str):
            yield from self._thoughts.add(content)
        for part in _list(content):
            yield from self._read_part(part)
        refusal = text_in(delta, "refusal")
        if refusal:
            self._is_refused = True
            yield TextPiece(refusal)
        for position, call in enumerate(_list(delta.get("tool_calls"))):
            yield from self._read_call(position, call)

    def _read_thoughts(self, delta: Mapping[str, object]) -> Iterator[Piece]:
        # The same thoughts under several names where a server has renamed the field.
        name = next((name for name in TEXT_FIELDS if text_in(delta, name)), "")
        self._details.add(delta.get(DETAILS))
        thought = text_in(delta, name) if name else texts_in(delta.get(DETAILS))
        if thought:
            self._thought_field = name or self._thought_field
            yield ReasoningPiece(thought)

    def _end_thoughts(self) -> Iterator[Piece]:
        """Yield under which name the thoughts before go back; a list of them goes back as a whole, at the end."""
        name, self._thought_field = self._thought_field, ""
        if name and not self._details.entries:
            yield ReplayPiece({"field": name})

    def _read_part(self, part: object) -> Iterator[Piece]:
        """Yield a part of content that is a list, as Mistral's models send it when they reason."""
        thinking = part.get("thinking") if isinstance(part, Mapping) else None
        for thought in _list(thinking):
            if text_in(thought, "text"):
                yield ReasoningPiece(text_in(thought, "text"))
        if isinstance(thinking, str) and thinking:
            yield ReasoningPiece(thinking)
        yield from self._thoughts.add(text_in(part, "text"))

    def _read_call(self, position: int, delta: object) -> Iterator[Piece]:
        if not isinstance(delta, Mapping):
            return
        function = delta.get("function")
        name = text_in(function, "name")
        given = function.get("arguments") if isinstance(function, Mapping) else None
        arguments = given if isinstance(given, str) else "" if given is None else compact_json(given)
        call = self._call(delta.get("index"), position, text_in(delta, "id"), name, arguments)
        if isinstance(extra := delta.get(EXTRA), dict):
            call.replay = {EXTRA: extra}
        yield from call.start(call.call_id, name)
        yield from call.add(arguments)

    def _call(self, index: object, position: int, call_id: str, name: str, arguments: str) -> StreamedCall:
        """Return the call a delta belongs to, a new one if it begins here."""
        if isinstance(index, int):
            known = self._at.get(index)
        else:
            # Without an index a name begins a call, and what has none goes on with the last one.
            known = self._calls[-1] if self._calls and not name else None
            index = len(self._calls) + position
        if known is None or (name and _begins_another(known, call_id, arguments)):
            known = StreamedCall(call_id=self._unique(call_id))
            self._calls.append(known)
            self._at[index] = known
        return known

    def _unique(self, call_id: str) -> str:
        """Return an id no other call has: local servers leave it out, or give the same one twice."""
        taken = {call.call_id for call in self._calls}
        if call_id and call_id not in taken:
            return call_id
        ending = "".join(char for char in self._response_id if char.isascii() and char.isalnum())[-12:]
        return "_".join(part for part in ("call", str(len(self._calls)), ending) if part)

    def _reason(self, *, is_cut: bool) -> StopReason:
        if self._is_refused or self._finish in REFUSED:
            return StopReason.REFUSAL
        if is_cut:
            return StopReason.MAX_TOKENS
        return StopReason.TOOL_USE if any(call.is_started for call in self._calls) else StopReason.END


def _begins_another(known: StreamedCall, call_id: str, arguments: str) -> bool:
    """Say whether a named call in the place of a known one is another: some servers give all the same place."""
    if not known.is_started:
        return False
    return call_id != known.call_id if call_id else arguments.lstrip().startswith("{") and known.is_object


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _usage(usage: object) -> Usage | None:
    """Return the counts of `usage`; None if there are none.

    input: `prompt_tokens`, caches included; cache_read: `prompt_tokens_details.cached_tokens`, DeepSeek's
    `prompt_cache_hit_tokens`; cache_write: `prompt_tokens_details.cache_write_tokens`; output: `completion_tokens`;
    reasoning: `completion_tokens_details.reasoning_tokens`. Where `total_tokens` shows that reasoning was counted
    beside `completion_tokens` (xAI), output is their sum.
    """
    if not isinstance(usage, Mapping) or not usage:
        return None
    read, written = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    given, output = count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens")
    reasoning, total = count_in(written, "reasoning_tokens"), count_in(usage, "total_tokens")
    if given is not None and output is not None and reasoning and total == given + output + reasoning:
        output += reasoning
    cached = count_in(read, "cached_tokens")
    return Usage(
        input=given,
        cache_read=cached if cached is not None else count_in(usage, "prompt_cache_hit_tokens"),
        cache_write=count_in(read, "cache_write_tokens"),
        output=output,
        reasoning=reasoning,
    )
