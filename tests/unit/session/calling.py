"""What the tests of calls share: a chat with tools, and what became of its calls."""

from app.domain.rows import Row, ToolPart
from app.history.partial import PartialFile
from tests.fakes.scripted import ScriptedTool
from tests.unit.session.conftest import Chat, Program


async def chat_with(program: Program, *tools: ScriptedTool) -> Chat:
    program.tools.extend(tools)
    return await program.new_chat()


def parts_of(row: Row) -> list[ToolPart]:
    return [part for part in row.parts if isinstance(part, ToolPart)]


def told(row: Row) -> list[tuple[str, str, object]]:
    return [(part.call_id, part.state, part.output) for part in parts_of(row)]


def kept(chat: Chat) -> list[tuple[str, str, object]]:
    """The calls in `partial.json`."""
    row = PartialFile(chat.files).load()
    return told(row) if row is not None else []
