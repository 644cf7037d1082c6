"""What a row keeps of a model's thoughts."""

import pytest

from app.domain.rows import ReasoningPart
from app.providers.base import ReasoningPiece, ReplayPiece, ToolEndPiece, ToolStartPiece
from app.tools.base import ToolOutcome
from tests.fakes.scripted import Hold, ScriptedTool, Step, reply
from tests.unit.session.conftest import Program


@pytest.mark.parametrize(("seconds", "kept"), [(0.9, None), (1.0, 1.0), (12.34, 12.3)])
async def test_how_long_it_was_seen_to_think(program: Program, seconds: float, kept: float | None) -> None:
    chat = await program.new_chat()
    hold = Hold()
    program.provider.play([ReasoningPiece("First "), hold, ReasoningPiece("then."), *reply("Hello")])
    await chat.send("hi")
    await hold.reached()
    program.clock.advance(seconds)
    hold.release()
    await chat.idle()

    _, answer = chat.rows()
    assert answer.parts[0] == ReasoningPart(text="First then.", seconds=kept)


async def test_what_goes_back_with_a_call_goes_back_in_the_next_step(program: Program) -> None:
    program.tools.append(ScriptedTool("look", [ToolOutcome("seen")]))
    chat = await program.new_chat()
    signed: dict[str, object] = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    called: list[Step] = [
        ReasoningPiece("Hm."),
        ReplayPiece({"field": "reasoning"}),
        ToolStartPiece("c1", "look"),
        ToolEndPiece("c1", {"q": 1}, signed),
    ]
    program.provider.play([*called, *reply()], reply("There."))
    await chat.say("hi")

    _, step, _ = chat.rows()
    sent = program.provider.requests[1].rows[1].parts
    assert [part.replay for part in sent] == [{"field": "reasoning"}, signed]  # type: ignore[union-attr]
    assert sent == step.parts
