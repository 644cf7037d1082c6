"""Cuts a message's Markdown into blocks, also while it is still being written.

What the blocks are depends on the text alone, never on the pieces it came in. A block is settled once the first line
of the next one is complete: nothing that follows can change it then, and it is never parsed again.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from app.ui.chat.blocks import FENCE, Block, BlockKind, Limits, blocks_of, plain_blocks, unindented
from app.ui.chat.markdown import PARSER_FAULTS, References, TopBlock, fence_language, find_blocks


class MarkdownSplitter:
    """The blocks of a growing text: `finished` ones stay what they are, `open` ones may still change."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.finished: list[Block] = []
        self.open: list[Block] = []
        self.references = References()
        """All definitions so far, those of the open blocks included."""
        self._limits = limits or Limits()
        self._settled = References()
        self._tail = ""
        self._gap = "\n\n"
        self._fence: _OpenFence | None = None

    @property
    def blocks(self) -> list[Block]:
        """All blocks in order."""
        return self.finished + self.open

    def feed(self, text: str) -> None:
        """Go on with `text`, already cleaned. 64 KB of common text take about 20 ms."""
        self._tail += text
        known = self.references
        while self._advance():
            pass
        if not self.references.says_the_same(known):
            self.finished = [replace(block) if "[" in block.source else block for block in self.finished]

    def finish(self) -> None:
        """Settle the open blocks: nothing follows."""
        if (self._tail or self._fence) and not self._tail.endswith("\n"):
            self.feed("\n")
        if not self.finished and not self.open and self._tail.strip():
            self.open = list(plain_blocks(self._tail.strip("\n"), self._limits))
        self.finished += [block if block.closed else replace(block, closed=True) for block in self.open]
        self.open = []
        self._tail = ""
        self._fence = None

    def _advance(self) -> bool:
        """Settle what can't change any more; return whether there is more to do."""
        if self._fence is not None:
            return self._advance_in_fence(self._fence)
        window = _first_lines(self._tail, self._limits)
        is_all = len(window) == len(self._tail)
        references = self._settled.copy()
        found = _find(window, references)
        starts = [0, *accumulate(map(len, window.splitlines(keepends=True)))]
        complete = window.count("\n")
        lists = (place for place, top in enumerate(found) if _list_cuts(top, complete, self._limits))
        if (place := next(lists, None)) is not None:
            self._cut_list(window, found, place, starts)
            return True
        settled = _settled_count(window, found, starts, complete)
        if settled:
            self._settle(window, found[:settled], starts)
            return True
        if len(found) == 1 and self._enter_fence(window, found[0], starts):
            return True
        if not is_all:
            self._cut(window, is_shown=bool(found))
            return True
        self.references = references
        self._show_open(self._blocks(window, found, starts))
        return False

    def _blocks(self, window: str, found: Sequence[TopBlock], starts: Sequence[int]) -> list[Block]:
        """Return the rows of `found`; definitions, which show nothing, belong to the block below them."""
        made: list[Block] = []
        end = 0
        for top in found:
            start, end = end, starts[top.last]
            gap = "\n\n" if made else self._gap
            made += blocks_of(window[start:end], top, self._limits, gap=gap)
        return made

    def _settle(self, window: str, found: Sequence[TopBlock], starts: Sequence[int]) -> None:
        end = starts[found[-1].last]
        self._learn(self._tail[:end])
        self._take(self._blocks(window, found, starts), end, gap="\n\n")

    def _learn(self, text: str) -> None:
        """Keep the definitions in `text`: nothing that follows can change them."""
        if "]:" in text:
            self._settled = self._settled.copy()
            _find(text, self._settled)

    def _take(self, made: Sequence[Block], end: int, *, gap: str) -> None:
        """Settle `made`, which stands for the first `end` characters."""
        self._tail = self._tail[end:]
        self.finished += _keep_same(self.open, made)
        self.open = self.open[len(made) :]
        self._gap = gap

    def _show_open(self, made: Sequence[Block]) -> None:
        self.open = _keep_same(self.open, made)

    def _cut_list(self, window: str, found: Sequence[TopBlock], place: int, starts: Sequence[int]) -> None:
        """Settle what stands before a long list, and its first items."""
        if place:
            self._settle(window, found[:place], starts)
        above = found[place - 1].last if place else 0
        made: list[Block] = []
        for line in _list_cuts(found[place], window.count("\n"), self._limits):
            source = window[starts[above] : starts[line]].strip("\n")
            made.append(Block(BlockKind.MARKDOWN, source, "\n" if made else self._gap))
            above = line
        end = starts[above] - starts[found[place - 1].last if place else 0]
        self._learn(self._tail[:end])
        self._take(made, end, gap="\n")

    def _cut(self, window: str, *, is_shown: bool) -> None:
        """Settle a window of a block that has no end in sight, as plain text; or one that shows nothing."""
        newline = window.rfind("\n") + 1
        end = newline if newline > len(window) // 2 else len(window)
        if not is_shown:
            self._learn(window[:end])
            self._take([], end, gap=self._gap)
            return
        made = list(plain_blocks(window[:end].removesuffix("\n"), self._limits, gap=self._gap))
        self._take(made, end, gap="\n" if window[:end].endswith("\n") else "")

    def _enter_fence(self, window: str, top: TopBlock, starts: Sequence[int]) -> bool:
        """Read an open fence line by line from here on, without parsing it over and over."""
        if top.type != "fence" or top.first + 1 > window.count("\n"):
            return False
        first, body = starts[top.first], starts[top.first + 1]
        opening = FENCE.match(window[first : body - 1])
        if opening is None:
            return False
        fence = _OpenFence(opening, window[:body], self._gap)
        end = fence.find_end(window[body:])
        if end is not None and window.endswith("\n", 0, body + end[1]):
            return False
        self._learn(window[:first])
        self._fence = fence
        self._tail = self._tail[body:]
        return True

    def _advance_in_fence(self, fence: "_OpenFence") -> bool:
        end = fence.find_end(self._tail)
        code = self._tail[: end[0]] if end else self._tail
        if fence.is_too_long(code, self._limits):
            cut = _code_end(code, self._limits)
            self._take([fence.block(code[:cut], closed=True)], cut, gap="\n")
            fence.go_on(is_in_line=not code[:cut].endswith("\n"), by=cut)
            return True
        if end is not None and self._tail.endswith("\n", 0, end[1]):
            self._take([fence.block(code, self._tail[end[0] : end[1]], closed=True)], end[1], gap="\n\n")
            self._fence = None
            return True
        self.references = self._settled
        last = self._tail[end[0] :] if end else ""
        self._show_open([fence.block(code, last, closed=end is not None)])
        return False


class _OpenFence:
    """A fence whose end has not come yet."""

    def __init__(self, opening: re.Match[str], source: str, gap: str) -> None:
        self._language = fence_language(opening[2])
        self._opening = opening
        marker = re.escape(opening[1][0])
        self._closing = re.compile(rf"^ {{0,3}}{marker}{{{len(opening[1])},}}[ \t]*(?:\n|\Z)", re.MULTILINE)
        self._source = source
        self._gap = gap
        self._is_in_line = False
        self._scanned = 0

    def find_end(self, text: str) -> tuple[int, int] | None:
        """Return where the closing line starts and ends in `text`, the code so far."""
        start = self._scanned
        if self._is_in_line and start == 0:
            start = text.find("\n") + 1 or len(text)
        found = self._closing.search(text, start)
        self._scanned = max(start, text.rfind("\n") + 1) if found is None else start
        return None if found is None else (found.start(), found.end())

    def is_too_long(self, code: str, limits: Limits) -> bool:
        last = code[code.rfind("\n") + 1 :] if len(code) < limits.chars + 1_000 else ""
        settled = len(code) - (len(last) if last.strip(" \t`~") == "" else 0)
        return settled > limits.chars or code.count("\n") > limits.code_lines

    def go_on(self, *, is_in_line: bool, by: int) -> None:
        """Forget the first `by` characters: they are a block of their own."""
        self._source = ""
        self._gap = "" if is_in_line else "\n"
        self._is_in_line = is_in_line
        self._scanned = max(0, self._scanned - by)

    def block(self, code: str, last: str = "", *, closed: bool) -> Block:
        # Blank lines at the end of open code wait for what follows, as they do where it is read as a whole.
        shown = unindented(code.removesuffix("\n") if closed else code.rstrip("\n"), self._opening)
        source = (self._source + code + last).strip("\n")
        return Block(BlockKind.CODE, source, self._gap, shown, self._language, closed)


def _find(text: str, references: References) -> list[TopBlock]:
    try:
        return find_blocks(text, references)
    except PARSER_FAULTS:
        return [TopBlock("paragraph_open", 0, text.count("\n") + 1, 1 << 30, (), "", "")]


def _first_lines(text: str, limits: Limits) -> str:
    end = 0
    for _ in range(limits.lines):
        newline = text.find("\n", end, limits.chars)
        if newline < 0:
            return text[: limits.chars]
        end = newline + 1
    return text[:end]


def _list_cuts(top: TopBlock, complete: int, limits: Limits) -> list[int]:
    """Return the lines before which a long list is cut; the items after the last of them may still be written."""
    cuts: list[int] = []
    start = top.first
    while any(start + limits.list_lines < part < complete for part in top.parts):
        within = [part for part in top.parts if start < part <= start + limits.list_lines]
        start = within[-1] if within else next(part for part in top.parts if part > start + limits.list_lines)
        cuts.append(start)
    return cuts


def _settled_count(window: str, found: Sequence[TopBlock], starts: Sequence[int], complete: int) -> int:
    """Return how many blocks can't change any more, whatever follows."""
    for place in range(len(found), 0, -1):
        is_over = _is_closed_fence(found[place - 1]) and found[place - 1].last <= complete
        if place < len(found):
            following = found[place]  # a table shows itself on its second line
            is_over = is_over or following.first + (following.type == "table_open") < complete
        end = found[min(place, len(found) - 1)].first
        # An open $$ may yet swallow what stands between it and the next blank line.
        if is_over and "$$" not in window[: starts[end]].rpartition("\n\n")[2]:
            return place
    return 0


def _is_closed_fence(top: TopBlock) -> bool:
    return top.type == "fence" and top.content.count("\n") == top.last - top.first - 2


def _code_end(code: str, limits: Limits) -> int:
    end = 0
    for _ in range(limits.code_lines // 2):
        newline = code.find("\n", end, limits.chars // 2)
        if newline < 0:
            break
        end = newline + 1
    return end or limits.chars // 2


def _keep_same(had: Sequence[Block], made: Sequence[Block]) -> list[Block]:
    """Return `made`, with the object of `had` wherever it says the same."""
    kept = list(made)
    for place, (old, new) in enumerate(zip(had, made, strict=False)):
        if old.says_the_same(new):
            kept[place] = old
    return kept
