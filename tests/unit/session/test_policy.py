"""Who answers a turn, what that one is told before the chat, and which calls are let through."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.budget.tokens import TokenCounter
from app.domain.errors import StorageError
from app.domain.events import ToolStarted
from app.domain.models import Abilities, ModelCard, ThinkingLevel
from app.domain.rows import RequestInfo
from app.domain.tool_names import EDIT_FILE, LIST_FILES, MEMORY, READ_FILE, SEARCH_FILES, WRITE_FILE
from app.domain.windows import SESSION_HISTORY
from app.history.files import ChatFiles
from app.providers.base import StopPiece, StopReason
from app.providers.practice.provider import PracticeProvider
from app.session.inputs import Accepted, Choices, Refused, UserInput
from app.settings.schema import Agents, Dialect, Endpoint, Experiments, Profile, Rule, Settings
from app.tools.base import ToolOutcome
from app.tools.runner import READS_ONLY
from tests.fakes.connections import make_manager
from tests.fakes.farend import FarEnd
from tests.fakes.farend import reply as farend_reply
from tests.fakes.scripted import Hold, ScriptedTool, calls, reply
from tests.unit.session.calling import chat_with, told
from tests.unit.session.conftest import Chat, Program

FOLDER_NAMES = (LIST_FILES, READ_FILE, SEARCH_FILES, WRITE_FILE, EDIT_FILE)
ALL_NAMES = (SESSION_HISTORY, MEMORY, *FOLDER_NAMES)
EXPERIMENTS = Experiments(token_budget_windows=True, agent_memory=True)


class Notebook(ScriptedTool):
    """Reads or changes, as its argument `command` says."""

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        return arguments["command"] == "view"


def own(*rules: Rule, **fields: object) -> Agents:
    profile = {"id": "own", "name": "Own", "rules": rules, **fields}
    return Agents(profiles=(Profile.model_validate(profile),))


async def chat_as(program: Program, profile: str, *tools: ScriptedTool, folder: Path | None = None) -> Chat:
    chat = await chat_with(program, *tools)
    await program.manager.set_profile(chat.session, profile)
    if folder is not None:
        await program.manager.set_folder(chat.session, str(made(folder)))
    return chat


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def offered(program: Program, chat: Chat) -> list[str]:
    program.provider.play(reply("ok"))
    assert await chat.say("hi") == Accepted()
    return [spec.name for spec in program.provider.requests[-1].tools]


# What is offered


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        ("", ALL_NAMES),
        ("assistant", ALL_NAMES),
        ("planner", (SESSION_HISTORY, MEMORY, LIST_FILES, READ_FILE, SEARCH_FILES)),
        ("reader", (SESSION_HISTORY, MEMORY, LIST_FILES, READ_FILE, SEARCH_FILES)),
    ],
)
async def test_a_profile_decides_which_tools_there_are(
    program: Program, tmp_path: Path, profile: str, names: tuple[str, ...]
) -> None:
    program.settings = Settings(experiments=EXPERIMENTS)
    chat = await chat_as(program, profile, *map(ScriptedTool, ALL_NAMES), folder=tmp_path / "folder")
    assert await offered(program, chat) == list(names)


@pytest.mark.parametrize(
    ("rules", "names"),
    [
        ((), []),
        ((Rule(pattern="look"),), ["look"]),
        ((Rule(pattern=".*"), Rule(pattern="look|peek", effect="deny")), [WRITE_FILE]),
        ((Rule(pattern="look", effect="deny"), Rule(pattern=".*")), ["look", "peek", WRITE_FILE]),
        ((Rule(pattern="loo"),), []),
        ((Rule(pattern=".*", effect="read"),), ["look", "peek"]),
    ],
)
async def test_the_last_rule_that_matches_a_whole_name_decides(
    program: Program, tmp_path: Path, rules: tuple[Rule, ...], names: list[str]
) -> None:
    program.settings = Settings(agents=own(*rules))
    tools = [ScriptedTool(name) for name in ("look", "peek", WRITE_FILE)]
    chat = await chat_as(program, "own", *tools, folder=tmp_path / "folder")
    assert await offered(program, chat) == names


async def test_an_experiment_gives_no_profile_more_than_its_rules(program: Program) -> None:
    program.settings = Settings(experiments=EXPERIMENTS, agents=own(Rule(pattern="look")))
    chat = await chat_as(program, "own", ScriptedTool("look"), ScriptedTool(SESSION_HISTORY), ScriptedTool(MEMORY))
    assert await offered(program, chat) == ["look"]


@pytest.mark.parametrize(
    ("experiments", "names"),
    [
        (Experiments(), []),
        (Experiments(token_budget_windows=True), [SESSION_HISTORY]),
        (Experiments(agent_memory=True), [MEMORY]),
        (Experiments(preload_hot_memories=True), []),
    ],
)
async def test_tools_of_experiments_come_with_them(
    program: Program, experiments: Experiments, names: list[str]
) -> None:
    program.settings = Settings(experiments=experiments)
    chat = await chat_with(program, ScriptedTool(SESSION_HISTORY), ScriptedTool(MEMORY))
    assert await offered(program, chat) == names


async def test_tools_for_files_come_with_a_folder_and_go_with_it(program: Program, tmp_path: Path) -> None:
    chat = await chat_with(program, ScriptedTool("look"), *map(ScriptedTool, FOLDER_NAMES))
    assert await offered(program, chat) == ["look"]
    await program.manager.set_folder(chat.session, str(made(tmp_path / "folder")))
    assert await offered(program, chat) == ["look", *FOLDER_NAMES]
    await program.manager.set_folder(chat.session, "")
    assert await offered(program, chat) == ["look"]


@pytest.mark.parametrize(
    ("agents", "profile", "words"),
    [
        (Agents(), "gone", ("“gone”", "another profile for this chat")),
        (Agents(default_profile="lost"), "", ("“lost”", "in the settings")),
    ],
)
async def test_a_profile_that_is_gone_is_named_and_nothing_is_sent(
    program: Program, agents: Agents, profile: str, words: tuple[str, ...]
) -> None:
    program.settings = Settings(agents=agents)
    chat = await program.new_chat()
    await program.manager.set_profile(chat.session, profile)
    outcome = await chat.say("hi")
    assert isinstance(outcome, Refused)
    assert all(word in outcome.reason for word in words)
    assert (chat.rows(), program.provider.requests) == ([], [])
    await program.manager.set_profile(chat.session, "reader")
    program.provider.play(reply("ok"))
    assert await chat.say("hi") == Accepted()


# Which calls are let through


async def test_under_a_rule_of_reading_a_call_that_changes_something_is_denied(program: Program) -> None:
    program.settings = Settings(agents=own(Rule(pattern="notes", effect="read")))
    tool = Notebook("notes")
    chat = await chat_as(program, "own", tool)
    program.provider.play(calls(("notes", {"command": "view"}), ("notes", {"command": "create"})), reply("ok"))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "done", "seen"), ("c2", "denied", READS_ONLY)]
    assert [dict(asked) for asked in tool.asked] == [{"command": "view"}]
    assert len(chat.events(ToolStarted)) == 1
    assert chat.rows()[-1].text == "ok"


async def test_a_call_nobody_can_judge_counts_as_one_that_changes_something(
    program: Program, caplog: pytest.LogCaptureFixture
) -> None:
    program.settings = Settings(agents=own(Rule(pattern="notes", effect="read")))
    tool = Notebook("notes")
    chat = await chat_as(program, "own", tool)
    program.provider.play(calls(("notes", {})), reply("ok"))
    await chat.say("hi")
    assert told(chat.rows()[1]) == [("c1", "denied", READS_ONLY)]
    assert tool.asked == []
    assert len(caplog.records) == 1
    caplog.clear()


async def test_a_tool_that_is_not_offered_is_not_run_whatever_the_model_calls(program: Program, tmp_path: Path) -> None:
    tool = ScriptedTool(WRITE_FILE)
    chat = await chat_as(program, "planner", tool, ScriptedTool("look"), folder=tmp_path / "folder")
    program.provider.play(calls((WRITE_FILE, {})), reply("ok"))
    await chat.say("hi")
    assert [state for _, state, _ in told(chat.rows()[1])] == ["denied"]
    assert tool.asked == []


async def test_a_call_knows_the_folder_and_the_window(program: Program, tmp_path: Path) -> None:
    tool = ScriptedTool(READ_FILE)
    chat = await chat_as(program, "", tool, folder=tmp_path / "folder")
    for _ in range(2):
        program.provider.play(calls((READ_FILE, {})), reply("ok"))
        await chat.say("hi")
    await chat.reset()
    program.provider.play(calls((READ_FILE, {})), reply("ok"))
    await chat.say("hi")
    first, second, third = tool.contexts
    assert first.folder == (tmp_path / "folder").resolve()
    assert first.window == second.window != third.window
    assert [context.approved for context in tool.contexts] == [None] * 3


async def test_a_folder_that_is_taken_away_in_mid_turn_is_gone_for_the_calls_that_follow(
    program: Program, tmp_path: Path
) -> None:
    hold = Hold()
    tool = ScriptedTool(READ_FILE, [hold, ToolOutcome("one"), ToolOutcome("two")])
    chat = await chat_as(program, "", tool, folder=tmp_path / "folder")
    program.provider.play(calls((READ_FILE, {}), (READ_FILE, {})), reply("ok"))
    await chat.send("hi")
    await hold.reached()
    await program.manager.set_folder(chat.session, str(made(tmp_path / "other")))
    hold.release()
    await chat.idle()
    assert [context.folder is None for context in tool.contexts] == [False, True]


# What a model is told before the chat


async def test_instructions_stand_first_then_the_folder_and_memories_last(program: Program, tmp_path: Path) -> None:
    program.settings = Settings(agents=own(Rule(pattern=".*"), instructions="  Be brief.\n"))
    await with_preload(program, "<memories>…</memories>")
    chat = await chat_as(program, "own", ScriptedTool(READ_FILE), folder=tmp_path / "My\nessays")
    program.provider.play(calls((READ_FILE, {})), reply("ok"))
    await chat.say("hi")
    first, second = program.provider.requests
    assert first.system == second.system
    instructions, folder, memories = first.system.split("\n\n")
    assert instructions == "Be brief."
    assert "“My essays”" in folder
    assert str(tmp_path) not in folder, "where it lies is nobody's business"
    assert memories == "<memories>…</memories>"


async def test_a_chat_without_anything_to_say_first_has_no_system_text(program: Program) -> None:
    chat = await chat_with(program, ScriptedTool("look"))
    await offered(program, chat)
    assert program.provider.requests[0].system == ""


async def test_a_folder_that_no_tool_reaches_is_not_mentioned(program: Program, tmp_path: Path) -> None:
    program.provider.abilities = Abilities(calls_tools=False)
    await program.restart()
    chat = await chat_as(program, "", ScriptedTool(READ_FILE), folder=tmp_path / "folder")
    assert await offered(program, chat) == []
    assert program.provider.requests[0].system == ""


@dataclass
class Preload:
    """Stands for the memories; remembers who asked."""

    text: str | Exception
    asked: list[ModelCard]

    def __call__(self, _files: ChatFiles, card: ModelCard, _settings: Settings) -> str:
        self.asked.append(card)
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


async def with_preload(program: Program, text: str | Exception) -> Preload:
    preload = Preload(text, [])
    await program.manager.close()
    env = replace(program.env(), make_preload=preload)
    program.manager = make_manager(env, program.library, [program.provider])
    return preload


async def test_memories_are_looked_up_once_a_turn(program: Program) -> None:
    preload = await with_preload(program, "Remember.")
    chat = await chat_with(program, ScriptedTool())
    program.provider.play(calls(("look", {})), calls(("look", {})), reply("ok"), reply("ok"))
    await chat.say("hi")
    assert [request.system for request in program.provider.requests] == ["Remember."] * 3
    assert len(preload.asked) == 1
    await chat.say("again")
    assert len(preload.asked) == 2


async def test_a_fallback_model_is_shown_the_memories_it_has_room_for(program: Program) -> None:
    spare = ModelCard("spare", "scripted", "Spare", limit=9_000, max_output=100)
    program.provider.more = (spare,)
    program.settings = Settings(agents=Agents(fallback_model=spare.ref))
    preload = await with_preload(program, "Remember.")
    chat = await program.new_chat()
    program.provider.play([StopPiece(StopReason.REFUSAL)], reply("ok"))
    await chat.say("hi")
    assert [card.id for card in preload.asked] == ["model", "spare"]
    assert [request.system for request in program.provider.requests] == ["Remember."] * 2


async def test_memories_that_can_not_be_read_hold_up_no_chat(program: Program) -> None:
    await with_preload(program, StorageError("The memory can't be read."))
    chat = await program.new_chat()
    assert await offered(program, chat) == []
    assert program.provider.requests[0].system == ""


async def test_a_profile_without_memory_is_shown_none(program: Program) -> None:
    preload = await with_preload(program, "Remember.")
    program.settings = Settings(agents=own(Rule(pattern=".*"), Rule(pattern=MEMORY, effect="deny")))
    chat = await chat_as(program, "own")
    await offered(program, chat)
    assert (program.provider.requests[0].system, preload.asked) == ("", [])


# What is chosen for a turn

THINKER = ModelCard(
    "thinker", "scripted", "Thinker", limit=100_000, max_output=500, levels=(ThinkingLevel.LOW, ThinkingLevel.HIGH)
)


@pytest.mark.parametrize(
    ("level", "asked"), [("high", ThinkingLevel.HIGH), ("max", None), ("", None), ("nonsense", None)]
)
async def test_a_level_is_asked_for_if_the_model_has_it(
    program: Program, level: str, asked: ThinkingLevel | None
) -> None:
    program.provider.more = (THINKER,)
    await program.restart()
    chat = await program.new_chat()
    await program.manager.set_model(chat.session, THINKER.ref)
    await program.manager.set_level(chat.session, level)
    program.provider.play(reply("ok"))
    await chat.say("hi")
    assert program.provider.requests[0].level == asked
    info = chat.rows()[-1].request
    assert info is not None
    assert info.thinking_level == asked


async def test_a_message_is_answered_with_what_was_chosen_for_it(program: Program) -> None:
    program.provider.more = (THINKER,)
    program.settings = Settings(agents=own(Rule(pattern=".*"), instructions="Be brief."))
    await program.restart()
    chat = await chat_as(program, "reader")
    program.provider.play(reply("ok"), reply("ok"))
    chosen = Choices(model=THINKER.ref, level="low", profile="own")
    await program.manager.send(chat.session, UserInput(program.new_id(), "hi", choices=chosen))
    await chat.idle()
    await chat.say("and as the chat has it")

    first, second = program.provider.requests
    assert (first.model, first.level, first.system) == ("thinker", "low", "Be brief.")
    assert (second.model, second.level) == ("model", None)
    infos = [row.request for row in chat.rows() if row.role == "assistant"]
    assert infos == [
        RequestInfo(provider="scripted", model="thinker", thinking_level="low", profile="own"),
        RequestInfo(provider="scripted", model="model", profile="reader"),
    ]


# The same on the wire

FAR_END: dict[Dialect, Callable[[Mapping[str, Any]], object]] = {
    "anthropic": lambda body: body["system"][0]["text"],
    "responses": lambda body: body["instructions"],
    "chat": lambda body: body["messages"][0]["content"],
}


@pytest.mark.parametrize("dialect", FAR_END)
async def test_every_vendor_is_told_first_who_it_is(program: Program, dialect: Dialect) -> None:
    program.settings = Settings(agents=own(instructions="Be brief."))
    async with FarEnd() as far:
        base_url = far.url if dialect == "anthropic" else f"{far.url}/v1"
        endpoint = Endpoint(id="far", name="Far end", dialect=dialect, base_url=base_url, needs_key=False)
        await program.manager.connections.change(
            lambda settings: settings.model_copy(update={"endpoints": (endpoint,)})
        )
        chat = await chat_as(program, "own")
        await program.manager.set_model(chat.session, "far/model-one")
        far.play(farend_reply("ok"))
        assert await chat.say("hi") == Accepted()
        assert FAR_END[dialect](far.requests[0].json) == "Be brief."


async def test_practice_counts_what_it_is_told_first(program: Program) -> None:
    practice = PracticeProvider(TokenCounter(), words_per_second=math.inf)
    program.settings = Settings(agents=own(instructions="Be brief. " * 50))
    await program.manager.close()
    program.manager = make_manager(program.env(), program.library, [practice])
    counts: list[int] = []
    for profile in ("", "own"):
        summary = await program.manager.create_chat("practice/practice")
        await program.manager.open_chat(summary.id)
        chat = Chat(program, summary.id)
        await program.manager.set_profile(chat.session, profile)
        await chat.say("help")
        usage = chat.rows()[-1].usage
        assert usage is not None
        assert usage.input is not None
        counts.append(usage.input)
    assert counts[1] > counts[0] + 100
