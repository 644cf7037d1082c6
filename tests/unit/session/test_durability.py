"""What a power failure leaves of a reset, of a call and of a branch. See context-windows.md, 2 to 4."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from app.domain.request import ToolSpec
from app.domain.windows import View
from app.history.codec import MAX_LINE_BYTES
from app.history.view import HistoryView
from app.session.inputs import Accepted
from app.tools.base import ToolContext, ToolOutcome
from tests.fakes.disk_log import DiskLog
from tests.fakes.scripted import calls, reply
from tests.unit.session.conftest import Program

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux for the name of an open file")

NO_MATTER = {"receipt.json", "windows.json"}


async def test_the_floor_of_a_reset_is_on_disk_before_its_row(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("Well met."))
    await chat.say("secret")
    disk = DiskLog(chat.files.folder)
    with disk.watching():
        assert await chat.reset() == Accepted()
    row = disk.steps.index(("write", "chat.jsonl"))
    assert disk.steps.index(("replace", "session.json")) < row
    assert disk.loose_before("write", "chat.jsonl") <= NO_MATTER


class WatchfulTool:
    """Notes how durable the files are when it starts."""

    def __init__(self) -> None:
        self.disk: DiskLog | None = None
        self.loose: list[frozenset[str]] = []

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(name="look", description="", input_schema={"type": "object"})

    def reads_only(self, arguments: Mapping[str, object]) -> bool:
        return False

    async def question(self, arguments: Mapping[str, object], context: ToolContext) -> None:
        return None

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        assert self.disk is not None
        assert ("replace", "partial.json") in self.disk.steps
        self.loose.append(self.disk.loose_names)
        return ToolOutcome("seen")


async def test_a_call_is_noted_on_disk_before_its_tool_starts(program: Program) -> None:
    tool = WatchfulTool()
    program.tools.append(tool)
    chat = await program.new_chat()
    disk = tool.disk = DiskLog(chat.files.folder)
    program.provider.play(calls(("look", {}), ("look", {})), reply("Well met."))
    with disk.watching():
        await chat.say("look twice")
    assert len(tool.loose) == 2
    for loose in tool.loose:
        assert not loose & {"partial.json", chat.files.folder.name}
    assert disk.loose_names - {chat.files.folder.name} <= NO_MATTER


@pytest.mark.parametrize("has_windows", [True, False])
async def test_a_branch_is_on_disk_before_it_is_in_the_list(program: Program, *, has_windows: bool) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("Well met."), reply("Again."))
    await chat.say("x" * (MAX_LINE_BYTES + 1))
    if has_windows:
        await chat.reset()
        await chat.say("anew")
    view = HistoryView(chat.files, session=chat.session, view=View.PERSON)
    item = view.items(limit=1).items[0]
    disk = DiskLog(program.root)
    with disk.watching():
        branch = await program.manager.branch_chat(chat.session, item.ref)
    files = program.library.files(branch.id)
    assert files.archive.exists() == has_windows
    assert list(files.blobs.iterdir())
    folder = f".unfinished-{branch.id}"
    made = {"chat.jsonl", "chat-archive.jsonl", "session.json", "blobs", folder}
    assert not disk.loose_names & made
