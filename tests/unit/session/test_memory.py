"""Memory in a chat: what a model is shown unasked, what it may change, what a reset puts away, and what people do."""

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from app.budget.tokens import TokenCounter
from app.domain.approvals import Verdict
from app.domain.errors import ChatNotFound, KnownError
from app.domain.events import ApprovalAsked, MemoriesChanged
from app.domain.memories import NOTES_PATH, MemoryConflict, MemoryScope, MemoryText
from app.domain.models import ModelCard
from app.domain.rows import ToolPart
from app.history.files import ChatFiles
from app.memory.memories import Memories, global_store, workspace_store
from app.memory.paths import parse_path
from app.memory.store import MemoryStore
from app.session.hot_memories import HotMemories
from app.session.inputs import Accepted, Refused, ResetContext
from app.session.memories import MemoryEditor
from app.settings.schema import Experiments, Settings
from app.tools.base import Tool
from app.tools.memory import MemoryTool
from tests.fakes.connections import make_manager
from tests.fakes.disk import refusing
from tests.fakes.scripted import calls, reply
from tests.unit.session.conftest import Chat, Program, until

STYLE = "/memories/global/style.md"
PLAN = "/memories/workspace/plan.md"
COUNTER = TokenCounter()
HOT = Experiments(agent_memory=True, preload_hot_memories=True)


async def remembering(program: Program, experiments: Experiments = HOT) -> Chat:
    """Return a chat of a program that has memory, made as the program makes it."""
    hot = HotMemories(global_store(program.root), counter=COUNTER, clock=program.clock)

    def make_tools(files: ChatFiles, session: str) -> tuple[Tool, ...]:
        def told(scope: MemoryScope) -> None:
            program.events.append(MemoriesChanged("" if scope is MemoryScope.GLOBAL else session))

        memories = Memories(global_store(program.root), files.folder)
        return (MemoryTool(memories, counter=COUNTER, clock=program.clock, told=told),)

    program.settings = Settings(experiments=experiments)
    await program.manager.close()
    env = replace(program.env(), make_tools=make_tools, make_preload=hot.block, forget_preload=hot.forget)
    program.manager = make_manager(env, program.library, [program.provider])
    return await program.new_chat()


def write(chat: Chat, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        store_of(chat, name).put(parse_path(name), text, expected=None)


def store_of(chat: Chat, name: str) -> MemoryStore:
    if parse_path(name).scope is MemoryScope.GLOBAL:
        return global_store(chat.program.root)
    return workspace_store(chat.files.folder)


async def system(chat: Chat) -> str:
    """Return the system text of one more message."""
    chat.program.provider.play(reply("ok"))
    await chat.say("hi")
    return chat.program.provider.requests[-1].system


async def test_hot_memories_stand_at_the_end_of_the_system_text(program: Program) -> None:
    chat = await remembering(program)
    assert await system(chat) == ""
    write(chat, {STYLE: "Be brief.", PLAN: "1. Read"})
    text = await system(chat)
    assert text.startswith("<memories>")
    assert "Be brief." in text
    assert "1. Read" in text
    assert text == await system(chat)


@pytest.mark.parametrize(
    "experiments", [Experiments(), Experiments(agent_memory=True), Experiments(preload_hot_memories=True)]
)
async def test_without_the_toggles_nothing_is_shown(program: Program, experiments: Experiments) -> None:
    chat = await remembering(program, experiments)
    write(chat, {STYLE: "Be brief."})
    assert await system(chat) == ""


async def test_the_same_block_stands_until_a_memory_the_mode_or_the_window_changes(program: Program) -> None:
    chat = await remembering(program)
    write(chat, {STYLE: "Be brief.", PLAN: "1. Read"})
    store_of(chat, PLAN).note_use(parse_path(PLAN), program.clock.now())
    first = await system(chat)
    assert first.index(PLAN) < first.index(STYLE)

    # Uses alone change nothing: a provider keeps what it has read.
    for _ in range(3):
        store_of(chat, STYLE).note_use(parse_path(STYLE), program.clock.now())
    assert await system(chat) == first

    assert await chat.reset() == Accepted()
    fresh = await system(chat)
    assert fresh.index(STYLE) < fresh.index(PLAN)

    store_of(chat, PLAN).pin(parse_path(PLAN), on=True)
    pinned = await system(chat)
    assert pinned.index(PLAN) < pinned.index(STYLE)

    program.settings = Settings(experiments=Experiments(agent_memory=True))
    assert await system(chat) == ""
    program.settings = Settings(experiments=HOT)
    assert await system(chat) == pinned

    write(chat, {PLAN: "2. Write"})
    assert "2. Write" in await system(chat)


async def test_the_block_is_made_anew_for_another_model_another_text_and_after_the_toggles(program: Program) -> None:
    chat = await remembering(program)
    hot = HotMemories(global_store(program.root), counter=COUNTER, clock=program.clock)
    settings = Settings(experiments=HOT)
    wide = ModelCard("wide", "scripted", "Wide", limit=100_000, max_output=100)
    narrow = replace(wide, limit=4_000)
    write(chat, {STYLE: "word " * 600, PLAN: "1. Read"})
    for card, is_shown in ((wide, True), (narrow, False), (wide, True)):
        assert ("word word" in hot.block(chat.files, card, settings)) is is_shown

    write(chat, {PLAN: "2. Sing"})
    file = chat.files.folder / "memory" / "plan.md"
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1_000_000_000))
    assert "2. Sing" in hot.block(chat.files, wide, settings)

    store_of(chat, PLAN).note_use(parse_path(PLAN), program.clock.now())
    hot.forget(chat.files)
    first = hot.block(chat.files, wide, settings)
    assert first.index(PLAN) < first.index(STYLE)
    for _ in range(3):
        store_of(chat, STYLE).note_use(parse_path(STYLE), program.clock.now())
    assert hot.block(chat.files, wide, settings) == first
    assert hot.block(chat.files, wide, Settings()) == ""
    anew = hot.block(chat.files, wide, settings)
    assert anew.index(STYLE) < anew.index(PLAN)


async def test_notes_are_one_entry_more_only_with_token_budget_windows(program: Program) -> None:
    chat = await remembering(program)
    write(chat, {f"/memories/global/{number}.md": f"memory {number}" for number in range(8)})
    for number in range(8):
        path = parse_path(f"/memories/global/{number}.md")
        store_of(chat, str(path)).note_use(path, program.clock.now())
    write(chat, {NOTES_PATH: "The heron comes at dawn."})
    assert "heron" not in await system(chat)
    program.settings = Settings(experiments=HOT.model_copy(update={"token_budget_windows": True}))
    text = await system(chat)
    assert text.count("<memory path=") == 9
    assert text.count("heron") == 1
    assert text.index("heron") > text.index("memory 7")
    notes = next(entry for entry in store_of(chat, NOTES_PATH).listing().entries)
    assert (notes.uses, notes.is_pinned) == (0, False)


async def test_memories_of_another_chat_are_not_shown(program: Program) -> None:
    first = await remembering(program)
    write(first, {PLAN: "secret plan", STYLE: "Be brief."})
    second = await program.new_chat()
    text = await system(second)
    assert "secret plan" not in text
    assert "Be brief." in text


async def test_an_old_use_weighs_less(program: Program) -> None:
    chat = await remembering(program)
    write(chat, {STYLE: "Be brief.", PLAN: "1. Read"})
    for _ in range(3):
        store_of(chat, PLAN).note_use(parse_path(PLAN), program.clock.now() - timedelta(days=28))
    store_of(chat, STYLE).note_use(parse_path(STYLE), program.clock.now())
    text = await system(chat)
    assert text.index(STYLE) < text.index(PLAN)


# What a model does


async def test_a_write_for_all_chats_asks_and_always_is_possible(program: Program) -> None:
    chat = await remembering(program)
    create: dict[str, object] = {"command": "create", "path": STYLE, "file_text": "Be brief.\n"}
    insert: dict[str, object] = {"command": "insert", "path": STYLE, "insert_line": 1, "insert_text": "Be kind."}
    program.provider.play(calls(("memory", create)), calls(("memory", insert)), reply("Kept."))
    await chat.send("Remember this")
    await until(lambda: bool(chat.events(ApprovalAsked)))
    asked = chat.events(ApprovalAsked)[0]
    assert asked.question.summary == "Add “style.md” with 1 line to what all chats remember"
    assert global_store(program.root).listing().entries == ()
    await program.manager.answer(asked, Verdict.ALWAYS)
    await chat.idle()
    assert global_store(program.root).read(parse_path(STYLE)).text == "Be brief.\nBe kind.\n"
    assert len(chat.events(ApprovalAsked)) == 1
    assert program.events.count(MemoriesChanged("")) == 2
    parts = [part for row in chat.rows() for part in row.parts if isinstance(part, ToolPart)]
    assert [part.state for part in parts] == ["done", "done"]
    assert "+Be kind." in (parts[1].diff or "")


async def test_what_the_person_refuses_is_not_written(program: Program) -> None:
    chat = await remembering(program)
    create: dict[str, object] = {"command": "create", "path": STYLE, "file_text": "Be rude.\n"}
    program.provider.play(calls(("memory", create)), reply("As you like."))
    await chat.send("Remember this")
    await until(lambda: bool(chat.events(ApprovalAsked)))
    await program.manager.answer(chat.events(ApprovalAsked)[0], Verdict.DENY)
    await chat.idle()
    assert global_store(program.root).listing().entries == ()


async def test_a_model_writes_for_this_chat_without_asking(program: Program) -> None:
    chat = await remembering(program)
    create: dict[str, object] = {"command": "create", "path": NOTES_PATH, "file_text": "heron\n"}
    program.provider.play(calls(("memory", create)), reply("Noted."))
    await chat.say("Remember the heron")
    assert chat.events(ApprovalAsked) == []
    assert workspace_store(chat.files.folder).read(parse_path(NOTES_PATH)).text == "heron\n"
    assert MemoriesChanged(chat.session) in program.events
    assert "heron" in await system(chat)


# A reset


async def reset_with_notes(program: Program, *, aside: bool) -> tuple[Chat, list[str]]:
    chat = await remembering(program, HOT.model_copy(update={"token_budget_windows": True}))
    write(chat, {NOTES_PATH: "heron"})
    assert "heron" in await system(chat)
    outcome = await program.manager.send(chat.session, ResetContext(sets_notes_aside=aside))
    assert outcome == Accepted()
    await chat.idle()
    return chat, [entry.name for entry in workspace_store(chat.files.folder).listing().entries]


async def test_a_reset_sets_the_notes_aside(program: Program) -> None:
    chat, names = await reset_with_notes(program, aside=True)
    assert len(names) == 1
    assert names[0].startswith("context-notes-20")
    assert "heron" not in await system(chat)
    assert MemoriesChanged(chat.session) in program.events


async def test_a_reset_leaves_the_notes_if_the_person_wants_that(program: Program) -> None:
    chat, names = await reset_with_notes(program, aside=False)
    assert names == ["context-notes.md"]
    assert "heron" in await system(chat)


async def test_if_the_notes_can_not_be_set_aside_nothing_is_reset(program: Program) -> None:
    chat = await remembering(program)
    write(chat, {NOTES_PATH: "heron"})
    await system(chat)
    rows = chat.rows()
    lock = chat.files.folder / "memory" / ".lock"
    with refusing(lock):
        outcome = await program.manager.send(chat.session, ResetContext(sets_notes_aside=True))
        await chat.idle()
    assert isinstance(outcome, Refused)
    assert "nothing was reset" in outcome.reason
    assert chat.rows() == rows
    assert "heron" in await system(chat)


async def test_if_there_can_be_no_reset_the_notes_come_back(program: Program) -> None:
    chat = await remembering(program)
    write(chat, {NOTES_PATH: "heron"})
    await system(chat)
    with refusing(chat.files.meta):
        outcome = await program.manager.send(chat.session, ResetContext(sets_notes_aside=True))
        await chat.idle()
    assert isinstance(outcome, Refused)
    assert [entry.path for entry in workspace_store(chat.files.folder).listing().entries] == [NOTES_PATH]


# What a person does


def editor(program: Program) -> MemoryEditor:
    return program.manager.memory


async def test_memory_of_all_chats_needs_no_chat(program: Program) -> None:
    made = await editor(program).create("", STYLE)
    saved = await editor(program).save("", STYLE, "Be brief.", version=made.version)
    assert isinstance(saved, MemoryText)
    assert await editor(program).read("", STYLE) == saved
    listings = await editor(program).listings("")
    assert list(listings) == [MemoryScope.GLOBAL]
    assert [entry.path for entry in listings[MemoryScope.GLOBAL].entries] == [STYLE]
    with pytest.raises(KnownError, match="No chat is open"):
        await editor(program).create("", PLAN)
    assert not await editor(program).has_notes("")


async def test_a_save_over_a_newer_version_tells_what_is_there(program: Program) -> None:
    chat = await program.new_chat()
    made = await editor(program).create(chat.session, PLAN)
    write(chat, {PLAN: "theirs"})
    conflict = await editor(program).save(chat.session, PLAN, "mine", version=made.version)
    assert isinstance(conflict, MemoryConflict)
    assert conflict.theirs is not None
    assert conflict.theirs.text == "theirs"
    saved = await editor(program).save(chat.session, PLAN, "mine", version=conflict.theirs.version)
    assert isinstance(saved, MemoryText)
    await editor(program).delete(chat.session, PLAN)
    assert await editor(program).save(chat.session, PLAN, "mine", version=saved.version) == MemoryConflict(None)
    assert isinstance(await editor(program).save(chat.session, PLAN, "mine", version=""), MemoryText)


async def test_what_a_person_does_is_told_to_those_whom_it_concerns(program: Program) -> None:
    chat = await program.new_chat()
    memory = editor(program)
    await memory.create(chat.session, PLAN)
    assert await memory.rename(chat.session, PLAN, "/memories/workspace/done.md") == "/memories/workspace/done.md"
    await memory.pin(chat.session, "/memories/workspace/done.md", on=True)
    removed = await memory.delete(chat.session, "/memories/workspace/done.md")
    await memory.put_back(chat.session, removed)
    assert (await memory.listings(chat.session))[MemoryScope.WORKSPACE].entries[0].is_pinned
    await memory.create(chat.session, STYLE)
    told = [event.session for event in program.events if isinstance(event, MemoriesChanged)]
    assert told == [*[chat.session] * 5, ""]
    with pytest.raises(KnownError, match="can't move"):
        await memory.rename(chat.session, STYLE, PLAN)
    assert await memory.read(chat.session, PLAN) is None


async def test_a_chat_that_is_gone_has_no_memory(program: Program) -> None:
    with pytest.raises(ChatNotFound):
        await editor(program).listings("none")
    with pytest.raises(ChatNotFound):
        await editor(program).create("none", PLAN)
