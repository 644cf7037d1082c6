"""What the real SDKs make of the far end's answers, in one form for the three dialects."""

import functools
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anthropic
import openai

from tests.fakes.farend import DialectName, FarEnd

DIALECTS: tuple[DialectName, ...] = ("anthropic", "responses", "chat")


@dataclass
class Heard:
    """A stream as a client understands it."""

    texts: list[str] = field(default_factory=list)
    reasoning: str = ""
    refusal: str = ""
    arguments: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    stop: str | None = None
    usages: list[tuple[int, int]] = field(default_factory=list)
    failure: Exception | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)


class Clients(NamedTuple):
    anthropic: anthropic.AsyncAnthropic
    openai: openai.AsyncOpenAI

    async def open(self, dialect: DialectName) -> Any:
        """Ask for a streamed reply."""
        question: Any = [{"role": "user", "content": "Are you there?"}]
        match dialect:
            case "anthropic":
                return await self.anthropic.messages.create(
                    model="far-large", max_tokens=100, messages=question, stream=True
                )
            case "responses":
                return await self.openai.responses.create(model="far-large", input=question, stream=True)
            case "chat":
                return await self.openai.chat.completions.create(
                    model="far-large", messages=question, stream=True, stream_options={"include_usage": True}
                )

    async def hear(self, dialect: DialectName) -> Heard:
        """Ask, and read the stream to its end or failure."""
        heard = Heard()
        note = {"anthropic": _note_anthropic, "responses": _note_responses, "chat": _note_chat}[dialect]
        try:
            async for event in await self.open(dialect):
                note(heard, event)
        except Exception as failure:  # noqa: BLE001 - the tests look at it
            heard.failure = failure
        return heard


@asynccontextmanager
async def clients_of(far: FarEnd) -> AsyncIterator[Clients]:
    """Clients that don't try again; OpenAI's has a prefix before its `/v1`."""
    clients = Clients(
        anthropic.AsyncAnthropic(
            base_url=far.url,
            api_key="key",
            max_retries=0,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=_no_certificates()),
        ),
        openai.AsyncOpenAI(
            base_url=f"{far.url}/api/v1",
            api_key="key",
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(verify=_no_certificates()),
        ),
    )
    async with clients.anthropic, clients.openai:
        yield clients


@functools.cache
def _no_certificates() -> ssl.SSLContext:
    """Loading the system's certificates for each client would take most of the tests' time."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _note_anthropic(heard: Heard, event: Any) -> None:
    match event.type:
        case "content_block_start" if event.content_block.type == "tool_use":
            heard.calls.append((event.content_block.id, event.content_block.name))
        case "content_block_delta":
            delta = event.delta
            match delta.type:
                case "text_delta":
                    heard.texts.append(delta.text)
                case "thinking_delta":
                    heard.reasoning += delta.thinking
                case "input_json_delta":
                    heard.arguments += delta.partial_json
        case "message_delta":
            heard.stop = event.delta.stop_reason
            if event.usage is not None:
                heard.usages.append((event.usage.input_tokens, event.usage.output_tokens))


def _note_responses(heard: Heard, event: Any) -> None:
    match event.type:
        case "response.output_item.added" if event.item.type == "function_call":
            heard.calls.append((event.item.call_id, event.item.name))
        case "response.output_text.delta":
            heard.texts.append(event.delta)
        case "response.refusal.delta":
            heard.refusal += event.delta
        case "response.reasoning_summary_text.delta":
            heard.reasoning += event.delta
        case "response.function_call_arguments.delta":
            heard.arguments += event.delta
        case "response.completed" | "response.incomplete":
            details = event.response.incomplete_details
            heard.stop = details.reason if details else event.response.status
            if event.response.usage is not None:
                heard.usages.append((event.response.usage.input_tokens, event.response.usage.output_tokens))
        case "response.failed":
            heard.failure = RuntimeError(event.response.error.code)
        case "error":
            heard.failure = RuntimeError(event.code)


def _note_chat(heard: Heard, chunk: Any) -> None:
    for choice in chunk.choices:
        heard.texts.extend([choice.delta.content] if choice.delta.content else [])
        heard.refusal += choice.delta.refusal or ""
        heard.reasoning += getattr(choice.delta, "reasoning_content", None) or ""
        heard.stop = choice.finish_reason or heard.stop
        for call in choice.delta.tool_calls or []:
            if call.id:
                heard.calls.append((call.id, call.function.name))
            heard.arguments += call.function.arguments
    if chunk.usage is not None:
        heard.usages.append((chunk.usage.prompt_tokens, chunk.usage.completion_tokens))
