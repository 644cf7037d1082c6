"""The far end that a tester starts: its script file, and what it prints."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.farend import (
    Cut,
    ErrorAnswer,
    RawAnswer,
    Reply,
    Stall,
    StreamError,
    Text,
    ToolCall,
    Usage,
    by_name,
    context_too_long,
    error,
    model_not_found,
    raw,
    redirect,
    reply,
)
from tests.fakes.farend.by_name import UnknownName, answer_of, read_script

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("entry", "answer"),
    [
        ({"reply": ["a", {"pause": {"seconds": 1}}], "usage": {"input": 12}}, None),
        ({"reply": ["a"], "but": [{"stall": {"before_headers": True}}]}, reply("a").but(Stall(before_headers=True))),
        ({"reply": ["a"], "but": [{"cut": {"after_bytes": 40}}]}, reply("a").but(Cut(after_bytes=40))),
        ({"reply": ["a"], "stop": None, "usage": None}, reply("a", stop=None, usage=None)),
        ({"reply": [{"stream_error": {"kind": "overloaded"}}]}, reply(StreamError("overloaded"))),
        ({"error": {"status": 429, "retry_after": 3}}, error(429, retry_after=3)),
        ({"context_too_long": {"flavour": "llamacpp"}}, context_too_long(flavour="llamacpp")),
        ({"model_not_found": {}, "times": 2}, model_not_found()),
        ({"redirect": {"to": "http://x", "status": 301}}, redirect("http://x", status=301)),
        ({"raw": {"events": ["a", "b"], "status": 201}}, raw("a", "b", status=201)),
    ],
)
def test_an_entry_of_the_file_is_the_answer_of_that_name(entry: Any, answer: Any) -> None:
    made = answer_of(entry)
    if answer is not None:
        assert made == answer


def test_a_tool_call_can_hold_faults_between_its_arguments() -> None:
    made = answer_of({"reply": [{"tool": {"id": "c", "name": "n", "arguments": ["{", {"cut": {}}, "}"]}}]})

    assert isinstance(made, Reply)
    [call] = made.parts
    assert isinstance(call, ToolCall)
    assert call.pieces == ("{", Cut(), "}")


@pytest.mark.parametrize("entry", [{"replay": []}, {"reply": [{"stal": {}}]}, {"reply": [], "but": [{"ping": {}}]}])
def test_an_unknown_name_is_said(entry: Any) -> None:
    with pytest.raises(UnknownName, match="called"):
        answer_of(entry)


def test_the_example_of_the_documentation_is_a_script(tmp_path: Path) -> None:
    documented = re.search(r"\n    \[\n.*?\n    \]\n", by_name.__doc__ or "", re.DOTALL)
    assert documented is not None
    file = tmp_path / "script.json"
    file.write_text(documented[0], "utf-8")

    answers = read_script(file)

    assert len(answers) == 14
    assert {type(answer) for answer in answers} == {Reply, ErrorAnswer, RawAnswer}
    assert isinstance(first := answers[0], Reply)
    assert first.usage == Usage(input=12)
    assert Text("world") in first.parts


async def test_started_by_hand_it_prints_its_address_and_a_line_a_request_without_the_key(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"error": {"status": 429, "retry_after": 3}}]), "utf-8")
    command = [sys.executable, "-m", "tests.fakes.farend", "--script", str(script)]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    address = re.search(r"http://127.0.0.1:(\d+) ", (await process.stdout.readline()).decode())
    assert address is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", int(address[1]))
    body = b'{"model": "m", "stream": true}'
    writer.write(
        b"POST /v1/messages HTTP/1.1\r\nhost: far\r\nx-api-key: secret\r\ncontent-length: %d\r\n\r\n" % len(body)
    )
    writer.write(body)

    answer = await reader.readuntil(b"\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 429")
    assert b"retry-after: 3" in answer
    assert (await process.stdout.readline()).decode() == "POST /v1/messages  model: m  stream: yes  key: yes\n"
    writer.close()
    await writer.wait_closed()
    process.terminate()
    await process.wait()


async def test_a_file_that_cannot_be_read_ends_it_with_2() -> None:
    command = [sys.executable, "-m", "tests.fakes.farend", "--script", "none.json"]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stderr=asyncio.subprocess.PIPE)

    _, said = await process.communicate()

    assert process.returncode == 2
    assert b"none.json" in said
