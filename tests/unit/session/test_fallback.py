"""The fallback model: when it steps in, with what, for how long, and what the rows say of it."""

import asyncio
from dataclasses import replace

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.domain.events import ReplyDropped, ReplyStarted, RetryScheduled
from app.domain.models import Abilities, ModelCard, ThinkingLevel
from app.domain.rows import Flag, ReasoningPart, Row
from app.providers.base import ReasoningPiece, ReplayPiece, StopPiece, StopReason, TextPiece
from app.session.inputs import Accepted, NewFile, UserInput
from app.settings.schema import Agents, Settings
from tests.fakes.connections import make_manager
from tests.fakes.scripted import Hold, Script, ScriptedTool, calls, reply
from tests.unit.session.calling import chat_with, parts_of, told
from tests.unit.session.conftest import MODEL, Chat, Program, until

SPARE = ModelCard(
    "spare", "scripted", "Spare model", limit=50_000, max_output=400, levels=(ThinkingLevel.LOW,), factor=1.0
)
REFUSES: Script = [StopPiece(StopReason.REFUSAL)]
BUSY: Script = [ProviderError(ErrorKind.OVERLOADED, "busy")]


async def chat_with_spare(program: Program, *tools: ScriptedTool, spare: ModelCard = SPARE) -> Chat:
    program.provider.more = (spare,)
    program.settings = Settings(agents=Agents(fallback_model=spare.ref))
    await program.restart()
    return await chat_with(program, *tools)


def models(program: Program) -> list[str]:
    return [request.model for request in program.provider.requests]


def instead(row: Row) -> tuple[str, str | None, str | None]:
    assert row.request is not None
    return row.request.model, row.request.instead_of, row.request.instead_because


async def test_a_refusal_is_answered_by_the_fallback_model_at_once(program: Program) -> None:
    chat = await chat_with_spare(program)
    program.provider.play(REFUSES, reply("Gladly."))
    await chat.say("hi")
    assert models(program) == ["model", "spare"]
    assert program.provider.requests[1].max_tokens == 400
    _, answer = chat.rows()
    assert (answer.text, answer.flags, answer.model) == ("Gladly.", (), "spare")
    assert instead(answer) == ("spare", MODEL, "refusal")
    first, second = chat.events(ReplyStarted)
    assert [event.row_id for event in chat.events(ReplyDropped)] == [first.row_id]
    assert (second.model, second.row_id) == (SPARE.ref, answer.id)
    assert program.clock.naps == []


async def test_an_overloaded_model_is_tried_three_times_first(program: Program) -> None:
    chat = await chat_with_spare(program)
    program.provider.play(BUSY, BUSY, BUSY, reply("Here I am."))
    await chat.say("hi")
    assert models(program) == ["model", "model", "model", "spare"]
    assert [event.attempt for event in chat.events(RetryScheduled)] == [1, 2]
    assert program.clock.naps == [2.0, 4.0]
    assert instead(chat.rows()[-1]) == ("spare", MODEL, "overloaded")


async def test_an_overload_that_would_last_too_long_is_not_waited_for(program: Program) -> None:
    chat = await chat_with_spare(program)
    program.provider.play([ProviderError(ErrorKind.OVERLOADED, "busy", retry_after_seconds=3_600)], reply("Here I am."))
    await chat.say("hi")
    assert models(program) == ["model", "spare"]
    assert program.clock.naps == []


async def test_each_of_the_two_is_asked_for_itself_and_never_the_first_again(program: Program) -> None:
    chat = await chat_with_spare(program)
    program.provider.play(*[BUSY] * 9)
    await chat.say("hi")
    assert models(program) == ["model"] * 3 + ["spare"] * 6
    (answer,) = chat.rows()[1:]
    assert answer.error is not None
    assert (answer.error.kind, answer.flags) == ("overloaded", (Flag.FAILED,))
    assert instead(answer) == ("spare", MODEL, "overloaded")


@pytest.mark.parametrize("second", [REFUSES, [ProviderError(ErrorKind.QUOTA, "no credit")]])
async def test_what_the_fallback_model_says_counts(program: Program, second: Script) -> None:
    chat = await chat_with_spare(program)
    program.provider.play(REFUSES, second, reply("ok"))
    await chat.say("hi")
    assert models(program) == ["model", "spare"]
    assert chat.rows()[-1].flags == (Flag.FAILED,)
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert models(program) == ["model", "spare", "model"], "another try begins with the chat's own model"


@pytest.mark.parametrize(
    "script",
    [
        [TextPiece("I "), StopPiece(StopReason.REFUSAL)],
        [TextPiece("I "), ProviderError(ErrorKind.OVERLOADED)],
        [ReasoningPiece("hm"), StopPiece(StopReason.REFUSAL)],
    ],
)
async def test_once_something_was_shown_nobody_steps_in(program: Program, script: Script) -> None:
    chat = await chat_with_spare(program)
    program.provider.play(script)
    await chat.say("hi")
    assert models(program) == ["model"]
    assert instead(chat.rows()[-1]) == ("model", None, None)


@pytest.mark.parametrize("kind", sorted(set(ErrorKind) - {ErrorKind.REFUSAL, ErrorKind.OVERLOADED}))
async def test_nobody_steps_in_for_other_failures(program: Program, kind: ErrorKind) -> None:
    chat = await chat_with_spare(program)
    program.provider.play(*[[ProviderError(kind, "no")]] * 6)
    await chat.say("hi")
    assert set(models(program)) == {"model"}


@pytest.mark.parametrize("wanted", ["", MODEL, "scripted/gone", "gone/model"])
async def test_without_another_model_the_refusal_stands(program: Program, wanted: str) -> None:
    program.settings = Settings(agents=Agents(fallback_model=wanted))
    chat = await program.new_chat()
    program.provider.play(REFUSES)
    await chat.say("hi")
    assert models(program) == ["model"]
    assert chat.rows()[-1].error is not None


async def test_a_fallback_model_without_a_key_is_not_asked(program: Program) -> None:
    chat = await chat_with_spare(program)
    # Anthropic is in the settings, with a list of models and without a key.
    program.settings = Settings(agents=Agents(fallback_model="anthropic/claude-haiku-4-5"))
    assert any(card.ref == "anthropic/claude-haiku-4-5" for card in await program.manager.connections.all_models())
    program.provider.play(REFUSES)
    await chat.say("hi")
    assert instead(chat.rows()[-1]) == ("model", None, None)


async def test_the_rest_of_the_turn_stays_with_the_fallback_model(program: Program) -> None:
    tool = ScriptedTool()
    chat = await chat_with_spare(program, tool)
    program.provider.play(calls(("look", {})), REFUSES, calls(("look", {})), reply("ok"), reply("as ever"))
    await chat.say("hi")
    assert models(program) == ["model", "model", "spare", "spare"]
    assert [instead(row) for row in chat.rows()[1:]] == [
        ("model", None, None),
        ("spare", MODEL, "refusal"),
        ("spare", MODEL, "refusal"),
    ]
    assert [told(row) for row in chat.rows()[1:3]] == [[("c1", "done", "seen")]] * 2
    await chat.say("and now?")
    assert models(program)[-1] == "model", "the next turn is the chat's own model's"


async def test_the_request_is_made_anew_for_the_fallback_model(program: Program) -> None:
    spare = replace(SPARE, abilities=Abilities(sees_pictures=False, calls_tools=False))
    chat = await chat_with_spare(program, ScriptedTool(), spare=spare)
    await program.manager.set_level(chat.session, "low")
    thoughts: Script = [ReasoningPiece("hm"), ReplayPiece({"signature": "s"}), *reply("ok")]
    program.provider.play(thoughts, REFUSES, reply("A picture."))
    await chat.say("hi")
    part = await program.manager.attach(
        chat.session, NewFile("cat.png", b"\x89PNG\r\n\x1a\n", media_type="image/png", width=10, height=10)
    )
    await program.manager.send(chat.session, UserInput(program.new_id(), "What is it?", (part,)))
    await chat.idle()
    _, own, other = program.provider.requests
    assert (len(own.files), len(other.files)) == (1, 0)
    assert "can't see pictures" in other.rows[-1].text
    assert (len(own.tools), len(other.tools)) == (1, 0)
    assert any(isinstance(part, ReasoningPart) for part in own.rows[1].parts)
    assert not any(isinstance(part, ReasoningPart) for part in other.rows[1].parts)
    assert (own.level, other.level) == (None, ThinkingLevel.LOW)


async def test_stop_while_the_fallback_model_is_asked_keeps_what_it_said(program: Program) -> None:
    hold = Hold()
    chat = await chat_with_spare(program)
    program.provider.play(REFUSES, [TextPiece("Gla"), hold], reply("dly."))
    await chat.send("hi")
    await hold.reached()
    await chat.stop()
    _, cut = chat.rows()
    assert (cut.text, cut.flags, instead(cut)) == ("Gla", (Flag.INTERRUPTED,), ("spare", MODEL, "refusal"))
    assert await chat.resume() == Accepted()
    await chat.idle()
    assert chat.rows()[-1].text == "dly."


@pytest.mark.parametrize("turns_of_the_loop", range(0, 60, 3))
async def test_stop_at_any_moment_leaves_a_turn_that_can_go_on(program: Program, turns_of_the_loop: int) -> None:
    tool = ScriptedTool()
    chat = await chat_with_spare(program, tool)
    program.provider.play(calls(("look", {"n": 1})), REFUSES, calls(("look", {"n": 2})), reply("done"))
    program.provider.scripts += [reply("done")] * 3
    sending = asyncio.ensure_future(chat.send("hi"))  # noqa: TID251 - Stop must come while it runs
    for _ in range(turns_of_the_loop):
        await asyncio.sleep(0)
    await chat.stop()
    outcome = await sending
    await chat.idle()
    if outcome == Accepted():
        for _ in range(3):
            if chat.rows()[-1].text != "done":
                await chat.resume()
                await chat.idle()
        assert chat.rows()[-1].text == "done"
    asked = [call["n"] for call in tool.asked]
    assert len(asked) == len(set(asked)), "no call runs twice"
    await until(lambda: not chat.files.partial.exists())


async def test_what_the_fallback_model_replays_goes_back_to_it_alone(program: Program) -> None:
    chat = await chat_with_spare(program, ScriptedTool())
    thoughts: Script = [ReasoningPiece("hm"), ReplayPiece({"signature": "s"}), *calls(("look", {}))]
    program.provider.play(REFUSES, thoughts, reply("ok"), reply("ok"))
    await chat.say("hi")
    await chat.say("again")
    with_thoughts = [
        any(isinstance(part, ReasoningPart) for row in request.rows for part in row.parts)
        for request in program.provider.requests
    ]
    assert with_thoughts == [False, False, True, False]
    assert models(program) == ["model", "spare", "spare", "model"]
    assert parts_of(chat.rows()[1])[0].state == "done"


async def test_memories_are_chosen_anew_for_the_model_that_steps_in(program: Program) -> None:
    program.provider.more = (SPARE,)
    program.settings = Settings(agents=Agents(fallback_model=SPARE.ref))
    await program.manager.close()
    env = replace(program.env(), make_preload=lambda _files, card, _settings: f"for {card.id}")
    program.manager = make_manager(env, program.library, [program.provider])
    chat = await program.new_chat()
    program.provider.play(REFUSES, reply("Gladly."))
    await chat.say("hi")
    assert [request.system[-9:] for request in program.provider.requests] == ["for model", "for spare"]
