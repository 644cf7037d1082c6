"""Blocks: the rows a message's text is cut into, and the limits that keep hostile text from freezing the window."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from app.ui.chat.markdown import MAX_NESTING, TopBlock, fence_language

_UNSHOWABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffc\ufdd0\ufdd1]")
_LINE_ENDS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


class BlockKind(Enum):
    """How a block is painted."""

    MARKDOWN = auto()
    PLAIN = auto()
    CODE = auto()
    RULE = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One row's text; compared by identity, since a row keeps its document while its block is the same object."""

    kind: BlockKind
    source: str
    gap: str = "\n\n"
    """What stood between the block before and this one; less than a blank line where one block was cut in two."""
    code: str = ""
    """The text inside a fence."""
    language: str = ""
    closed: bool = True
    """False while more lines of code may follow."""
    wraps: bool = False
    """Lines of code that are too long go on in the next one instead of being scrolled sideways."""
    is_diff: bool = False
    """Lines that begin with a sign, as `diff_text` has them, have the ground of what is added or removed."""

    def says_the_same(self, other: "Block") -> bool:
        """Return whether both look alike."""
        return self.kind is other.kind and self.closed == other.closed and self.summary == other.summary

    @property
    def summary(self) -> tuple[str, str, str, str]:
        """What the block says, to compare."""
        return self.source, self.gap, self.code, self.language


@dataclass(frozen=True, slots=True)
class Limits:
    """Where text stops being Markdown. The lengths keep each piece of work below some 100 ms."""

    chars: int = 65_536
    """The most that is parsed in one piece, and the longest block."""
    lines: int = 400
    code_lines: int = 800
    """A longer block of code goes on in a second row; not less than `lines`."""
    list_lines: int = 100
    """A longer list is cut between two of its items."""
    plain_lines: int = 200
    plain_chars: int = 8_192
    table_rows: int = 500
    table_columns: int = 40
    table_cells: int = 1_000
    brackets: int = 2_000
    """Unmatched brackets are quadratic in the parser."""
    marks: int = 6_000
    addresses: int = 500
    typed_fences: int = 200


def clean(text: str) -> str:
    """Return `text` with one kind of line end, and a mark in place of every character that can't be shown."""
    return _UNSHOWABLE.sub("\ufffd", _LINE_ENDS.sub("\n", text))


def blocks_of(source: str, top: TopBlock, limits: Limits, *, gap: str = "\n\n") -> list[Block]:
    """Return the rows of one outermost Markdown block whose text is `source`."""
    source = source.strip("\n")
    if top.type == "hr":
        return [Block(BlockKind.RULE, source, gap)]
    if top.type == "code_block":
        return [Block(BlockKind.CODE, source, gap, top.content.removesuffix("\n"))]
    if top.type == "fence":
        return [_fence_block(source, gap)]
    if _is_too_much(source, top, limits):
        return list(plain_blocks(source, limits, gap=gap))
    return [Block(BlockKind.MARKDOWN, source, gap)]


def plain_blocks(text: str, limits: Limits, *, gap: str = "\n\n") -> Iterator[Block]:
    """Cut `text` into plain rows, after a line end where there is one."""
    start = 0
    while start < len(text):
        end = _plain_end(text, start, limits)
        piece = text[start:end]
        yield Block(BlockKind.PLAIN, piece.removesuffix("\n") if end < len(text) else piece, gap)
        gap = "\n" if piece.endswith("\n") else ""
        start = end


def typed_blocks(text: str, limits: Limits) -> list[Block]:
    """Return the rows of a text that is shown as typed, but for its fenced code."""
    blocks: list[Block] = []
    start = 0
    while len(blocks) < 2 * limits.typed_fences and (opening := FENCE.search(text, start)):
        closing = re.compile(rf"^ {{0,3}}{opening[1][0]}{{{len(opening[1])},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        if end is None or end.start() - opening.end() > limits.chars:
            break
        blocks += plain_blocks(text[start : opening.start()].strip("\n"), limits)
        blocks.append(_fence_block(text[opening.start() : end.end()], "\n\n"))
        start = end.end()
    return blocks + list(plain_blocks(text[start:].strip("\n"), limits))


def unindented(code: str, opening: re.Match[str]) -> str:
    """Return the code below the fence that `opening` found, without the indent that the fence itself has."""
    indent = opening.start(1) - opening.start()
    return re.sub(rf"^ {{1,{indent}}}", "", code, flags=re.MULTILINE) if indent else code


def _is_too_much(source: str, top: TopBlock, limits: Limits) -> bool:
    if len(source) > limits.chars or top.depth > MAX_NESTING or source.count("[") > limits.brackets:
        return True
    if source.count("://") > limits.addresses or source.count("](") > limits.addresses:
        return True
    if sum(source.count(mark) for mark in "*_`~$<:&\\|") > limits.marks:
        return True
    if top.type == "table_open":
        rows, columns = top.last - top.first, source.lstrip().partition("\n")[0].count("|")
        return rows > limits.table_rows or columns > limits.table_columns + 1 or rows * columns > limits.table_cells
    return False


def _fence_block(source: str, gap: str) -> Block:
    opening = FENCE.search(source)
    if opening is None:
        return Block(BlockKind.CODE, source, gap, source)
    body, _, last = source[opening.end() + 1 :].rpartition("\n")
    marks = last.strip()
    closed = marks[:3] == opening[1][:3] and not marks.strip(opening[1][0])
    code = body if closed else source[opening.end() + 1 :]
    return Block(BlockKind.CODE, source, gap, unindented(code, opening), fence_language(opening[2]), closed)


def _plain_end(text: str, start: int, limits: Limits) -> int:
    end = start
    for _ in range(limits.plain_lines):
        newline = text.find("\n", end, start + limits.plain_chars)
        if newline < 0:
            whole = len(text) - start <= limits.plain_chars
            return len(text) if whole else end if end > start else start + limits.plain_chars
        end = newline + 1
    return end
