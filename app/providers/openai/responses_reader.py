"""OpenAI Responses on the wire: events as pieces. No I/O."""

from collections.abc import Collection, Iterator, Mapping

from app.domain.rows import Usage
from app.providers.base import Piece, ReasoningPiece, ReplayPiece, StopPiece, StopReason, TextPiece, UsagePiece
from app.providers.openai.faults import fault_in_stream
from app.providers.openai.parts import StreamedCall, count_in, text_in


class ResponsesReader:
    """Makes pieces of the events of one stream, whatever order they come in.

    Items are told apart by their id, by their place where a server gives none.
    """

    def __init__(self, *, keys: Collection[str] = ()) -> None:
        """`keys` are kept out of what errors say."""
        self.is_whole = False
        """Whether the last event has come."""
        self._keys = keys
        self._calls: dict[str | int, StreamedCall] = {}
        self._streamed: set[str | int] = set()
        self._place: tuple[object, ...] | None = None
        """Where the last text or reasoning stood: kind, item, part of it."""
        self._has_text = False
        self._has_replay = False
        self._is_refused = False

    def read(self, event: object) -> Iterator[Piece]:
        """Yield what one event says. Raises `ProviderError` if it tells a failure; unknown events say nothing."""
        if not isinstance(event, Mapping) or self.is_whole:
            return
        match event.get("type"):
            case "response.output_text.delta":
                yield from self._add_text(event, text_in(event, "delta"))
            case "response.refusal.delta":
                self._is_refused = True
                yield from self._add_text(event, text_in(event, "delta"))
            case "response.reasoning_summary_text.delta":
                yield from self._add_reasoning(event, text_in(event, "delta"), event.get("summary_index"))
            case "response.reasoning_text.delta":
                yield from self._add_reasoning(event, text_in(event, "delta"), event.get("content_index"))
            case "response.function_call_arguments.delta":
                yield from self._call(event).add(text_in(event, "delta"))
            case "response.function_call_arguments.done":
                # An empty text may be that of a call cut before its arguments: its item tells.
                if text_in(event, "arguments"):
                    yield from self._call(event).end(text_in(event, "arguments"))
            case "response.output_item.added" | "response.output_item.done" as name:
                yield from self._read_item(event, event.get("item"), is_done=name.endswith(".done"))
            case "response.completed" | "response.incomplete" | "response.failed" as name:
                yield from self._end(name, event.get("response"))
            case name if name == "error" or (name is None and event.get("error")):
                raise fault_in_stream(event, keys=self._keys)

    @property
    def is_done(self) -> bool:
        """Whether nothing more is to be heard."""
        return self.is_whole

    def end(self) -> Iterator[Piece]:
        """Yield what the end of the connection says: nothing, the last event said it all."""
        yield from ()

    def _add_text(self, event: Mapping[str, object], text: str) -> Iterator[Piece]:
        if not text:
            return
        self._has_text = True
        keys = _keys(event)
        self._streamed.update(keys)
        gap = self._step_to(("text", keys[-1:]))
        yield TextPiece(gap + text)

    def _add_reasoning(self, event: Mapping[str, object], text: str, part: object) -> Iterator[Piece]:
        if not text:
            return
        keys = _keys(event)
        self._streamed.update(keys)
        gap = self._step_to(("reasoning", keys[-1:], part))
        yield ReasoningPiece(gap + text)

    def _step_to(self, place: tuple[object, ...]) -> str:
        """Return the blank line between two parts of one kind that follow each other."""
        before, self._place = self._place, place
        return "\n\n" if before is not None and before != place and before[0] == place[0] else ""

    def _call(self, event: Mapping[str, object], item: Mapping[str, object] | None = None) -> StreamedCall:
        """Return the call an event is about, a new one if it is the first."""
        keys = _keys(event, item)
        call = next((self._calls[key] for key in keys if key in self._calls), None) or StreamedCall()
        if item is not None and call.is_started and call.call_id != text_in(item, "call_id"):
            # A server that gives every item the same place.
            call = StreamedCall()
        for key in keys:
            self._calls[key] = call
        self._place = None
        return call

    def _read_item(self, event: Mapping[str, object], item: object, *, is_done: bool) -> Iterator[Piece]:
        if not isinstance(item, Mapping):
            return
        if is_done:
            yield from self._end_item(event, item)
        elif item.get("type") == "function_call":
            yield from self._call(event, item).start(text_in(item, "call_id"), text_in(item, "name"))

    def _end_item(self, event: Mapping[str, object], item: Mapping[str, object]) -> Iterator[Piece]:
        is_new = self._streamed.isdisjoint(_keys(event, item))
        match item.get("type"):
            case "message" if is_new:
                yield from self._whole_message(event, item)
            case "reasoning":
                if is_new:
                    for number, text in enumerate(_reasoning_texts(item)):
                        yield from self._add_reasoning(event, text, number)
                yield from self._replay(item)
            case "function_call":
                yield from self._whole_call(event, item)
            case _:
                pass

    def _whole_message(self, event: Mapping[str, object], item: Mapping[str, object]) -> Iterator[Piece]:
        content = item.get("content")
        for part in content if isinstance(content, list) else ():
            self._is_refused = self._is_refused or text_in(part, "type") == "refusal"
            yield from self._add_text(event, text_in(part, "text") or text_in(part, "refusal"))

    def _replay(self, item: Mapping[str, object]) -> Iterator[Piece]:
        """Yield what must go back; reasoning that isn't encrypted can't: nothing of it is stored there."""
        if not text_in(item, "encrypted_content") or not text_in(item, "id"):
            return
        summary = item.get("summary")
        self._has_replay = True
        self._place = None
        yield ReplayPiece(
            {
                "id": item["id"],
                "encrypted_content": item["encrypted_content"],
                "summary": summary if isinstance(summary, list) else [],
            }
        )

    def _whole_call(self, event: Mapping[str, object], item: Mapping[str, object]) -> Iterator[Piece]:
        call = self._call(event, item)
        yield from call.start(text_in(item, "call_id"), text_in(item, "name"))
        if text_in(item, "status") != "incomplete":
            yield from call.end(text_in(item, "arguments"))

    def _end(self, name: str, response: object) -> Iterator[Piece]:
        body = response if isinstance(response, Mapping) else {}
        if name != "response.failed":
            yield from self._recover(body.get("output"))
        usage = _usage(body.get("usage"))
        if usage is not None:
            yield UsagePiece(usage)
        if name == "response.failed":
            raise fault_in_stream(body, keys=self._keys)
        self.is_whole = True
        yield StopPiece(self._reason(name, body), resolved_model=text_in(body, "model") or None)

    def _recover(self, output: object) -> Iterator[Piece]:
        """Yield what the end tells and no event before it did: the whole reply, if the server doesn't stream."""
        had_text, had_replay = self._has_text, self._has_replay
        told = {call.call_id for call in self._calls.values() if call.is_ended}
        for index, item in enumerate(output if isinstance(output, list) else ()):
            event = {"output_index": index, "item_id": text_in(item, "id")}
            match text_in(item, "type"):
                case "message" if not had_text:
                    yield from self._whole_message(event, item)
                case "reasoning" if not had_replay:
                    yield from self._end_item(event, item)
                case "function_call" if text_in(item, "call_id") not in told:
                    yield from self._whole_call(event, item)
                case _:
                    pass

    def _reason(self, name: str, response: Mapping[str, object]) -> StopReason:
        if name == "response.incomplete":
            why = text_in(response.get("incomplete_details"), "reason")
            return StopReason.REFUSAL if why == "content_filter" else StopReason.MAX_TOKENS
        if self._is_refused:
            return StopReason.REFUSAL
        return StopReason.TOOL_USE if any(call.is_started for call in self._calls.values()) else StopReason.END


def _keys(event: Mapping[str, object], item: Mapping[str, object] | None = None) -> tuple[str | int, ...]:
    """Return what an item is known by: its id first, then its place."""
    ids = [text_in(item, "id"), text_in(event, "item_id")]
    place = event.get("output_index")
    return (*(name for name in dict.fromkeys(ids) if name), *((place,) if isinstance(place, int) else ()))


def _reasoning_texts(item: Mapping[str, object]) -> Iterator[str]:
    for name in ("summary", "content"):
        parts = item.get(name)
        for part in parts if isinstance(parts, list) else ():
            yield text_in(part, "text")


def _usage(usage: object) -> Usage | None:
    """Return the counts of `response.usage`; None if there are none.

    input: `input_tokens`, caches included; cache_read: `input_tokens_details.cached_tokens`; cache_write:
    `input_tokens_details.cache_write_tokens`; output: `output_tokens`, reasoning included; reasoning:
    `output_tokens_details.reasoning_tokens`.
    """
    if not isinstance(usage, Mapping):
        return None
    read, written = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    return Usage(
        input=count_in(usage, "input_tokens"),
        cache_read=count_in(read, "cached_tokens"),
        cache_write=count_in(read, "cache_write_tokens"),
        output=count_in(usage, "output_tokens"),
        reasoning=count_in(written, "reasoning_tokens"),
    )
