"""What the Practice model does with tools when somebody types a plain command: one call, or several steps of them.

Nothing is kept between requests: what comes next follows from the message and from the calls made since.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.memories import NOTES_PATH
from app.domain.rows import ToolPart
from app.domain.tool_names import EDIT_FILE, LIST_FILES, MEMORY, READ_FILE, SEARCH_FILES, WRITE_FILE
from app.domain.windows import SESSION_HISTORY
from app.providers.practice.calls import SHOWN_CHARS, PlannedCall, fenced, report_on, text_of

Made = Sequence[Sequence[ToolPart]]
"""The calls of a turn so far, reply by reply."""
_FOLDER_TOOLS: Final = (LIST_FILES, READ_FILE, SEARCH_FILES, WRITE_FILE, EDIT_FILE)
_ATTACH: Final = "Attach a folder first: I can see no files before that."
_NOT_ALLOWED: Final = "This chat's profile does not let me use `{tool}`. Choose another one, Assistant for example."
_NOTES_FOLDER: Final = NOTES_PATH.rpartition("/")[0]
_MOST_FILES: Final = 8
"""Of one `read`."""


@dataclass(frozen=True, slots=True)
class Errand:
    """A command that takes tools. `steps` gives the calls that come next, none at the end."""

    tools: tuple[str, ...]
    steps: Callable[[Made], tuple[PlannedCall, ...]]
    done: str
    """A sentence about what was done, before the result."""

    def hindrance(self, offered: Collection[str]) -> str:
        """Return what to do first, empty if all tools are there."""
        missing = [tool for tool in self.tools if tool not in offered]
        if not missing:
            return ""
        has_folder = any(tool in offered for tool in _FOLDER_TOOLS)
        is_for_files = missing[0] in _FOLDER_TOOLS
        # Memory and history are there without a folder: whoever offers nothing has a profile that grants nothing.
        lacks_folder = is_for_files and not has_folder and bool(offered)
        return _ATTACH if lacks_folder else _NOT_ALLOWED.format(tool=missing[0])

    def report(self, made: Made) -> str:
        """Return what came of the last calls."""
        return "\n\n".join(map(self._report_on, made[-1]))

    def _report_on(self, call: ToolPart) -> str:
        text = text_of(call.output)
        if call.state == "done" and call.output is not None:
            size = f" Here are the first {SHOWN_CHARS} of {len(text):,} characters." if len(text) > SHOWN_CHARS else ""
            return f"{self.done}{size}\n\n{fenced(text)}"
        if call.state in ("failed", "denied") and call.output is not None:
            # Why it was denied stands there too: the person said no, or the profile does.
            return f"That did not work.\n\n{fenced(text)}"
        return report_on(call)


def plan_errand(message: str) -> Errand | str | None:
    """Return the errand that a message is, what to add to a command that lacks something, or None."""
    for pattern, make in _ERRANDS:
        if found := pattern.fullmatch(message):
            return make(found)
    return next((hint for pattern, hint in _LACKING if pattern.fullmatch(message)), None)


def _files(found: re.Match[str]) -> Errand:
    path = _bare(found["path"] or "")
    return _one(LIST_FILES, "These files are there.", **({"path": path} if path else {}))


def _read(found: re.Match[str]) -> Errand:
    names = [_bare(name) for name in re.split(r"\s+and\s+|,\s+", found["files"])][:_MOST_FILES]
    calls = tuple(_call(READ_FILE, path=name) for name in names)
    return Errand((READ_FILE,), _once(*calls), "This is what it says.")


def _find(found: re.Match[str]) -> Errand:
    return _one(SEARCH_FILES, "I looked through the files.", query=_bare(found["text"]))


def _write(found: re.Match[str]) -> Errand:
    return _one(WRITE_FILE, "The file is written.", path=_bare(found["file"]), content=found["text"])


def _change(found: re.Match[str]) -> Errand:
    path = _bare(found["file"])
    read = _call(READ_FILE, path=path)
    edit = _call(EDIT_FILE, path=path, old_text=_bare(found["old"]), new_text=_bare(found["new"]))

    def steps(made: Made) -> tuple[PlannedCall, ...]:
        if not made:
            return (read,)
        return (edit,) if len(made) == 1 and _went_well(made) else ()

    return Errand((READ_FILE, EDIT_FILE), steps, "The file is changed.")


def _note(found: re.Match[str]) -> Errand:
    line = f"- {' '.join(found['text'].split())}"
    # The folder first: a look at notes that aren't there yet fails, and nobody did anything wrong.
    look = _call(MEMORY, command="view", path=_NOTES_FOLDER)
    read = _call(MEMORY, command="view", path=NOTES_PATH)

    def steps(made: Made) -> tuple[PlannedCall, ...]:
        if not made:
            return (look,)
        if len(made) > 2 or not _went_well(made):
            return ()
        seen = made[-1][-1]
        if len(made) == 2:
            if seen.input != read.input:
                return ()
            last = _last_line(seen.output)
            return (_call(MEMORY, command="insert", path=NOTES_PATH, insert_line=last, insert_text=line),)
        if NOTES_PATH in text_of(seen.output).split():
            return (read,)
        return (_call(MEMORY, command="create", path=NOTES_PATH, file_text=f"{line}\n"),)

    return Errand((MEMORY,), steps, "I have made a note of it.")


def _recall(found: re.Match[str]) -> Errand:
    return _one(SESSION_HISTORY, "I looked back in this chat.", action="search", query=_bare(found["text"]))


def _loop(found: re.Match[str]) -> Errand:
    count = int(found["count"]) if found["count"] else None
    # Short, so that the steps end before the context window does.
    look = _call(MEMORY, command="view", path=_NOTES_FOLDER)

    def steps(made: Made) -> tuple[PlannedCall, ...]:
        is_over = (count is not None and len(made) >= count) or (bool(made) and not _went_well(made))
        return () if is_over else (look,)

    return Errand((MEMORY,), steps, "That was the last of the calls.")


def _one(tool: str, done: str, **arguments: object) -> Errand:
    return Errand((tool,), _once(_call(tool, **arguments)), done)


def _once(*calls: PlannedCall) -> Callable[[Made], tuple[PlannedCall, ...]]:
    return lambda made: () if made else calls


def _call(tool: str, **arguments: object) -> PlannedCall:
    return PlannedCall(tool, json.dumps(arguments, ensure_ascii=False), arguments)


def _went_well(made: Made) -> bool:
    return all(call.state == "done" for call in made[-1])


def _last_line(shown: object) -> int:
    """Return the number of the last line of a file as `memory` shows it."""
    numbers = re.findall(r"^ *(\d+)\t", shown, re.MULTILINE) if isinstance(shown, str) else []
    return int(numbers[-1]) if numbers else 0


def _bare(text: str) -> str:
    """Return what somebody typed without the quotes around it."""
    text = text.strip()
    for opening, closing in ('""', "''", "``", "“”", "„“", "«»"):
        if len(text) > 1 and text.startswith(opening) and text.endswith(closing):
            return text[1:-1]
    return text


def _compiled(pattern: str) -> re.Pattern[str]:
    quoted_text = r"\"[^\"]*\"|“[^”]*”|'[^']*'|`[^`]*`"
    named = pattern.replace("QUOTED", quoted_text).replace("FILE", rf"{quoted_text}|[^:\n]*?[^\s:][./][^\s:][^:\n]*?")
    return re.compile(named, re.IGNORECASE | re.DOTALL)


_ERRANDS: Final[Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], Errand]]]] = (
    (
        _compiled(r"(?:(?:list|show)\s+)?(?:(?:the|my|all)\s+)*files(?:\s+in\s+(?P<path>\.\.?(?:/.*?)?|\S.*?))?[.!?]*"),
        _files,
    ),
    (_compiled(r"read\s+(?:the\s+file\s+)?(?P<files>(?:QUOTED|FILE|\S+?))[.!?]*"), _read),
    (_compiled(r"(?:find|search(?:\s+for)?)\s+(?P<text>\S.*?)\s+in\s+(?:(?:the|my|all)\s+)*files[.!?]*"), _find),
    (_compiled(r"write\s+(?P<file>FILE)\s*:[ \t]*\n?(?P<text>.+)"), _write),
    (_compiled(r"change\s+(?P<old>QUOTED|.+?)\s+to\s+(?P<new>QUOTED|.+)\s+in\s+(?P<file>FILE)[.!?]*"), _change),
    (_compiled(r"note\s*:?\s+(?P<text>\S.*)"), _note),
    (_compiled(r"recall\s+(?P<text>\S.*?)[.!?]*"), _recall),
    (_compiled(r"loop(?:\s+(?P<count>[1-9]\d{0,2}))?[.!]*"), _loop),
)

_LACKING: Final[Sequence[tuple[re.Pattern[str], str]]] = tuple(
    (_compiled(rf"(?:{pattern})[.:!?]*\s*"), hint)
    for pattern, hint in (
        (r"read(?:\s+(?:the\s+)?file)?", "Tell me which file: `read notes.txt`."),
        (r"(?:find|search)(?:\s+for)?(?:\s+in\s+(?:the\s+)?files)?", "Tell me what to find: `find drawer in files`."),
        (r"write\s+(?:FILE)", "Tell me what to write: `write notes.txt: The keys are in the drawer.`"),
        (r"change(?:\s+in\s+(?:FILE))?", "Tell me what to change: `change drawer to cupboard in notes.txt`."),
        ("note", "Tell me what to note: `note The keys are in the drawer.`"),
        ("recall", "Tell me what to look for: `recall drawer`."),
        (r"loop\s+\S+", "I call a tool up to 999 times: `loop 5`. `loop` alone goes on until Muntin stops it."),
    )
)
"""Commands without what belongs behind them."""
