"""Streams as the vendor's service sends them, byte for byte but for the words, through the real library."""

from typing import Final

import pytest

from app.domain.errors import ErrorKind
from app.domain.rows import Usage
from app.providers.base import (
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
from tests.fakes.farend import FarEnd, raw
from tests.unit.providers.openai.connect import fail, provider, read

CHAT_HEAD: Final = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-far-2026"'
CALL_OF_CHAT: Final = f"""data: {CHAT_HEAD},"system_fingerprint":"fp_1","choices":[{{"index":0,"delta":\
{{"role":"assistant","content":null,"tool_calls":[{{"index":0,"id":"call_1","type":"function","function":\
{{"name":"now","arguments":""}}}}],"refusal":null}},"logprobs":null,"finish_reason":null}}],"usage":null}}

data: {CHAT_HEAD},"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{{}}"}}}}]}},\
"logprobs":null,"finish_reason":null}}],"usage":null}}

data: {CHAT_HEAD},"choices":[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":null}}

data: {CHAT_HEAD},"choices":[],"usage":{{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,\
"prompt_tokens_details":{{"cached_tokens":64,"audio_tokens":0}},"completion_tokens_details":{{"reasoning_tokens":12,\
"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}}}}

data: [DONE]

"""
REFUSAL_OF_CHAT: Final = f"""data: {CHAT_HEAD},"choices":[{{"index":0,"delta":{{"role":"assistant","content":null,\
"refusal":""}},"finish_reason":null}}]}}

data: {CHAT_HEAD},"choices":[{{"index":0,"delta":{{"refusal":"That I can't"}},"finish_reason":null}}]}}

data: {CHAT_HEAD},"choices":[{{"index":0,"delta":{{"refusal":"."}},"finish_reason":null}}]}}

data: {CHAT_HEAD},"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}

data: [DONE]

"""
RESPONSE: Final = '{"id":"resp_1","object":"response","created_at":1760000000,"model":"gpt-far-2026","store":false'
THOUGHT: Final = (
    '{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"They ask for the time."}],'
    '"encrypted_content":"RXJhc2VkIQ=="}'
)
CALL: Final = (
    '{"id":"fc_1","type":"function_call","status":"completed","arguments":"{}","call_id":"call_1","name":"now"}'
)
USAGE: Final = (
    '{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":30,'
    '"output_tokens_details":{"reasoning_tokens":12},"total_tokens":130}'
)
CALL_OF_RESPONSES: Final = f"""event: response.created
data: {{"type":"response.created","sequence_number":0,"response":{RESPONSE},"status":"in_progress","output":[],\
"usage":null}}}}

event: response.output_item.added
data: {{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{{"id":"rs_1",\
"type":"reasoning","summary":[],"encrypted_content":"SGFsZg=="}}}}

event: response.reasoning_summary_part.added
data: {{"type":"response.reasoning_summary_part.added","sequence_number":2,"item_id":"rs_1","output_index":0,\
"summary_index":0,"part":{{"type":"summary_text","text":""}}}}

event: response.reasoning_summary_text.delta
data: {{"type":"response.reasoning_summary_text.delta","sequence_number":3,"item_id":"rs_1","output_index":0,\
"summary_index":0,"delta":"They ask for the time."}}

event: response.output_item.done
data: {{"type":"response.output_item.done","sequence_number":4,"output_index":0,"item":{THOUGHT}}}

event: response.output_item.added
data: {{"type":"response.output_item.added","sequence_number":5,"output_index":1,"item":{{"id":"fc_1",\
"type":"function_call","status":"in_progress","arguments":"","call_id":"call_1","name":"now"}}}}

event: response.function_call_arguments.delta
data: {{"type":"response.function_call_arguments.delta","sequence_number":6,"item_id":"fc_1","output_index":1,\
"delta":"{{}}"}}

event: response.function_call_arguments.done
data: {{"type":"response.function_call_arguments.done","sequence_number":7,"item_id":"fc_1","output_index":1,\
"arguments":"{{}}"}}

event: response.output_item.done
data: {{"type":"response.output_item.done","sequence_number":8,"output_index":1,"item":{CALL}}}

event: response.completed
data: {{"type":"response.completed","sequence_number":9,"response":{RESPONSE},"status":"completed",\
"output":[{THOUGHT},{CALL}],"usage":{USAGE}}}}}

"""
BROKEN_RESPONSE: Final = f"""event: response.created
data: {{"type":"response.created","sequence_number":0,"response":{RESPONSE},"status":"in_progress","output":[]}}}}

event: response.output_text.delta
data: {{"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,\
"delta":"It is ","logprobs":[]}}

event: response.failed
data: {{"type":"response.failed","sequence_number":2,"response":{RESPONSE},"status":"failed","error":\
{{"code":"server_error","message":"The model failed to generate a response."}},"output":[],"usage":null}}}}

"""
COUNTED: Final = UsagePiece(Usage(input=100, cache_read=64, output=30, reasoning=12))
CALLED: Final = [ToolStartPiece("call_1", "now"), ToolInputPiece("call_1", "{}")]
END_OF_CALL: Final = [ToolEndPiece("call_1", {}), StopPiece(StopReason.TOOL_USE, resolved_model="gpt-far-2026")]

line_ends = pytest.mark.parametrize("line_end", ["\n", "\r\n"])


@line_ends
async def test_a_call_without_arguments_in_chat_completions(far: FarEnd, line_end: str) -> None:
    far.play(raw(CALL_OF_CHAT.replace("\n", line_end)))

    assert await read(provider(far, "chat")) == [*CALLED, COUNTED, *END_OF_CALL]


async def test_a_refusal_without_usage_in_chat_completions(far: FarEnd) -> None:
    far.play(raw(REFUSAL_OF_CHAT))

    assert await read(provider(far, "chat")) == [
        TextPiece("That I can't"),
        TextPiece("."),
        StopPiece(StopReason.REFUSAL, resolved_model="gpt-far-2026"),
    ]


@line_ends
async def test_encrypted_reasoning_and_a_call_without_arguments_in_responses(far: FarEnd, line_end: str) -> None:
    far.play(raw(CALL_OF_RESPONSES.replace("\n", line_end)))

    call_end, stop = END_OF_CALL
    assert await read(provider(far, "responses")) == [
        ReasoningPiece("They ask for the time."),
        ReplayPiece(
            {
                "id": "rs_1",
                "encrypted_content": "RXJhc2VkIQ==",
                "summary": [{"type": "summary_text", "text": "They ask for the time."}],
            }
        ),
        *CALLED,
        call_end,
        COUNTED,
        stop,
    ]


async def test_a_failure_in_the_middle_of_a_response(far: FarEnd) -> None:
    far.play(raw(BROKEN_RESPONSE))

    text, failure = await fail(provider(far, "responses"))

    assert text == "It is "
    assert failure.kind is ErrorKind.SERVER
    assert failure.detail == "The model failed to generate a response."
