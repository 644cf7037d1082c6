"""What a tool card says: its state in words, its call in one line; change, arguments and result as text."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.text import one_line
from app.ui.chat.blocks import Block, BlockKind, clean
from app.ui.chat.call_wording import call_sentence
from app.ui.chat.diff_text import shown_diff
from app.ui.chat.items import ToolCall
from app.ui.chat.readable import Excerpt, readable
from app.ui.tool_wording import tool_label

MOST_CHARS: Final = 20_000
MOST_LINES: Final = 400
"""What is shown of a result, however long it is."""
_FIRST_CHARS: Final = 1_500
_FIRST_LINES: Final = 16
"""What is shown of it before more is asked for."""
_DIFF_CHARS: Final = 3_000
_DIFF_LINES: Final = 24
"""The same of a change: what is to be allowed is read, not only glanced at."""
_QUESTION_CHARS: Final = 400
_NAME_CHARS: Final = 60
_VALUE_CHARS: Final = 80
_MOST_VALUES: Final = 6
_LEAST_SECONDS: Final = 0.05
_PLAIN_KEYS: Final = frozenset({"action", "command", "mode", "operation"})
"""Arguments that say what is done; their value says enough without the key."""
_TICKS: Final = re.compile("`{3,}")


class _Stretch(NamedTuple):
    """One of the things a card shows when it is open."""

    label: str
    text: str
    is_diff: bool = False


def tool_name(tool: ToolCall) -> str:
    """Return the tool's name in plain words, so that it fits a line."""
    return one_line(clean(tool_label(tool.name)), most_chars=_NAME_CHARS) or _tr("a tool without a name")


def sentence(tool: ToolCall) -> str:
    """Return what the call does, as it says itself where it asks; empty if nobody knows."""
    if tool.question is not None and (asked := one_line(clean(tool.question.summary), most_chars=_QUESTION_CHARS)):
        return asked
    return call_sentence(tool.name, tool.arguments)


def title(tool: ToolCall) -> str:
    """Return what a card is headed with: what the call does, or else the tool's name."""
    return sentence(tool) or tool_name(tool)


def beside(tool: ToolCall) -> str:
    """Return what is told beside the title: the tool's name, or else the arguments."""
    return tool_name(tool) if sentence(tool) else summary(tool)


def state_text(tool: ToolCall) -> str:
    """Return the state in words, with how long it took if that is worth telling."""
    words = {
        "asking": _tr("waits for you"),
        "waiting": _tr("waiting"),
        "running": _tr("running…"),
        "done": _tr("done"),
        "failed": _tr("failed"),
        "interrupted": _tr("interrupted"),
        "denied": _tr("not allowed"),
    }[tool.state]
    if tool.seconds is None or tool.seconds < _LEAST_SECONDS:
        return words
    seconds = _tr("{seconds} s").format(seconds=QLocale().toString(tool.seconds, "f", 1))
    return f"{words} · {seconds}"


def summary(tool: ToolCall) -> str:
    """Return the arguments in one short line."""
    if isinstance(tool.arguments, Mapping):
        values = [text for key, value in tool.arguments.items() if (text := _told(str(key), value))]
        line = " · ".join(values[:_MOST_VALUES])
        # `search "temple"` reads as one thing.
        return line.replace(" · “", " “", 1) if _begins_plainly(tool.arguments) else line
    return _short(tool.arguments) if isinstance(tool.arguments, str) else ""


def trouble(tool: ToolCall) -> str:
    """Return the first words of why a call failed; empty if it did not."""
    if tool.state not in ("failed", "denied") or not tool.output:
        return ""
    output = tool.output
    if isinstance(output, Mapping):
        output = next((output[key] for key in ("message", "error") if isinstance(output.get(key), str)), output)
    text = readable(output, most_chars=400, most_lines=8).text
    return one_line(clean(text), most_chars=240)


def headline(tool: ToolCall) -> str:
    """Return the call in one line: what it does, or its name and its arguments; and its state."""
    parts = (title(tool), "" if sentence(tool) else summary(tool), state_text(tool))
    return " · ".join(part for part in parts if part)


def card_blocks(tool: ToolCall, *, is_whole: bool) -> list[Block]:
    """Return change, arguments and result as blocks, only their begin unless `is_whole`."""
    return [
        Block(
            BlockKind.CODE,
            f"{label}:\n\n{_fenced(text, 'diff' if is_diff else '')}",
            code=text,
            language=label,
            wraps=True,
            is_diff=is_diff,
        )
        for label, text, is_diff in _texts(tool, is_whole=is_whole)
    ]


def has_more(tool: ToolCall) -> bool:
    """Return whether the begin is not all that can be shown."""
    return list(_texts(tool, is_whole=False)) != list(_texts(tool, is_whole=True))


def remainder(tool: ToolCall) -> str:
    """Return what is not shown even if all is that can be, in words; empty if nothing is missing."""
    if tool.kept_apart:
        size = QLocale().formattedDataSize(tool.kept_apart)
        return _tr("This is the begin and the end. The whole result has {size}.").format(size=size)
    if tool.diff and _change(tool, is_whole=True).more_chars != 0:
        return _tr("More is changed than is shown here.")
    more = _excerpt(tool.output, is_whole=True).more_chars
    if more == 0:
        return ""
    if more is None:
        return _tr("More follows that is not shown here.")
    if more == 1:
        return _tr("1 more character is not shown here.")
    return _tr("{count} more characters are not shown here.").format(count=QLocale().toString(more))


def markdown(tool: ToolCall) -> str:
    """Return the whole card as Markdown."""
    pieces = [f"**{_tr('Tool')}: {tool_name(tool)}** ({state_text(tool)})", sentence(tool)]
    pieces += [block.source for block in card_blocks(tool, is_whole=True)]
    return "\n\n".join(piece for piece in (*pieces, remainder(tool)) if piece)


def _texts(tool: ToolCall, *, is_whole: bool) -> Iterator[_Stretch]:
    """Give what there is to show, with its label.

    While the person is asked about a change, nothing stands beside it: it says all, and more to the point. Later, too,
    the arguments only repeat it, and are not shown before more is asked for.
    """
    if tool.diff:
        yield _Stretch(_tr("Change"), _change(tool, is_whole=is_whole).text, is_diff=True)
        if tool.question is not None:
            return
    if tool.arguments not in (None, "", {}) and (is_whole or not tool.diff):
        yield _Stretch(_tr("Arguments"), clean(_excerpt(tool.arguments, is_whole=is_whole).text))
    if tool.output is not None:
        yield _Stretch(_tr("Result"), clean(_excerpt(tool.output, is_whole=is_whole).text) or _tr("(empty)"))


def _change(tool: ToolCall, *, is_whole: bool) -> Excerpt:
    chars, lines = (MOST_CHARS, MOST_LINES) if is_whole else (_DIFF_CHARS, _DIFF_LINES)
    return shown_diff(tool.diff, most_chars=chars, most_lines=lines)


def _excerpt(value: object, *, is_whole: bool) -> Excerpt:
    chars, lines = (MOST_CHARS, MOST_LINES) if is_whole else (_FIRST_CHARS, _FIRST_LINES)
    return readable(value, most_chars=chars, most_lines=lines)


def _told(key: str, value: object) -> str:
    match value:
        case str() if key in _PLAIN_KEYS and value.isidentifier():
            return _short(value)
        case str():
            return f"“{_short(value)}”" if value else ""
        case bool():
            return f"{_short(key)}: {'true' if value else 'false'}"
        case int() | float():
            return f"{_short(key)}: {value}"
        case _:
            return ""


def _begins_plainly(arguments: Mapping[object, object]) -> bool:
    first = next(iter(arguments.items()), None)
    return first is not None and first[0] in _PLAIN_KEYS and isinstance(first[1], str) and first[1].isidentifier()


def _short(text: str) -> str:
    return one_line(clean(text[: 4 * _VALUE_CHARS]), most_chars=_VALUE_CHARS)


def _fenced(text: str, language: str) -> str:
    ticks = "`" * max([3, *(len(found) + 1 for found in _TICKS.findall(text))])
    return f"{ticks}{language}\n{text}\n{ticks}"


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)
