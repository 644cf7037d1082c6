"""The text of one section of an item and the blocks it is cut into, a slice at a time."""

from typing import Final

from app.ui.chat import tool_text
from app.ui.chat.blocks import Block, Limits, clean, typed_blocks
from app.ui.chat.items import SectionKind, ToolCall
from app.ui.chat.markdown import References
from app.ui.chat.splitter import MarkdownSplitter

_SLICE_CHARS: Final = 8_192
"""What is cut at once: a few milliseconds, 40 for the worst."""


class SectionText:
    """A text that may still grow. `blocks` covers what `advance` has got to."""

    tool: ToolCall | None = None
    """The call, if this is one."""
    seconds: float | None = None
    """How long it took, of reasoning, if that was seen."""

    def __init__(self, kind: SectionKind, text: str, *, is_markdown: bool, is_live: bool) -> None:
        self.kind = kind
        self.is_live = is_live
        self.blocks: list[Block] = []
        self.chars = len(text)
        self.lines = text.count("\n") + 1
        self._pieces = [text]
        self._pending = text
        self._is_markdown = is_markdown
        self._splitter: MarkdownSplitter | None = None
        self._is_finished = False
        self._ended_in_return = False
        self._was: list[Block] = []
        self._words: int | None = None

    @property
    def text(self) -> str:
        """All of the text as it came."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    @property
    def words(self) -> int:
        """The number of words; counted once a text stands still."""
        if self._words is None:
            self._words = len(self.text.split())
        return self._words

    @property
    def has_words(self) -> bool:
        """Whether there is anything to read."""
        return self.chars > 0

    @property
    def is_pending(self) -> bool:
        """Whether `advance` has more to do."""
        return bool(self._pending) or not (self._is_finished or self.is_live)

    @property
    def pending_chars(self) -> int:
        """How much is not cut into blocks yet."""
        return len(self._pending)

    def append(self, text: str) -> None:
        """Go on with `text`."""
        self._pieces.append(text)
        self._pending += text
        self.chars += len(text)
        self.lines += text.count("\n")
        self._words = None
        self._is_finished = False

    def take_over(self, old: "SectionText") -> None:
        """Keep the block objects of `old` wherever the new text says the same."""
        self._was = old.blocks

    def advance(self) -> int | None:
        """Cut the next slice; return the first block that changed, or None if none did."""
        if not self.is_pending:
            return None
        piece, self._pending = self._pending[:_SLICE_CHARS], self._pending[_SLICE_CHARS:]
        if not self._is_markdown:
            self._pending = ""
            self._is_finished = True
            return self._show(typed_blocks(clean(self.text), Limits()))
        if self._splitter is None:
            self._splitter = MarkdownSplitter()
        if self._ended_in_return and piece.startswith("\n"):
            piece = piece[1:]  # the second half of a line end that came in two pieces
        self._ended_in_return = piece.endswith("\r")
        self._splitter.feed(clean(piece))
        if not self._pending and not self.is_live:
            self._splitter.finish()
            self._is_finished = True
        return self._show(self._splitter.blocks)

    @property
    def references(self) -> References:
        """The definitions that the blocks refer to; none for text shown as typed."""
        return References() if self._splitter is None else self._splitter.references

    def _show(self, blocks: list[Block]) -> int:
        for at, (old, new) in enumerate(zip(self._was, blocks, strict=False)):
            if old.says_the_same(new):
                blocks[at] = old
        pairs = enumerate(zip(self.blocks, blocks, strict=False))
        changed = next((at for at, (old, new) in pairs if old is not new), min(len(self.blocks), len(blocks)))
        self.blocks = blocks
        return changed


class ToolSection(SectionText):
    """A call: what it was given and what it gave, at first only their begin."""

    def __init__(self, tool: ToolCall) -> None:
        super().__init__("tool", "", is_markdown=False, is_live=False)
        self.tool: ToolCall = tool
        self.is_whole = False
        self.has_more = False
        """Whether more can be shown than is now; known once it has its blocks."""
        self.chars, self.lines = 0, 8

    @property
    def has_words(self) -> bool:
        return True

    @property
    def asks(self) -> bool:
        """Whether the person's answer is waited for."""
        return self.tool.question is not None

    @property
    def note(self) -> str:
        """What is missing of the result although all is shown that can be."""
        return tool_text.remainder(self.tool) if self.is_whole or not self.has_more else ""

    @property
    def copied(self) -> str:
        """The whole card as Markdown."""
        return tool_text.markdown(self.tool)

    @property
    def headline(self) -> str:
        """The call in one line."""
        return tool_text.headline(self.tool)

    def show_whole(self) -> None:
        """Show as much of the result as can be shown."""
        self.is_whole = True
        self._is_finished = False

    def take_over(self, old: SectionText) -> None:
        super().take_over(old)
        if isinstance(old, ToolSection):
            self.is_whole = old.is_whole

    def advance(self) -> int | None:
        if self._is_finished:
            return None
        self._is_finished = True
        self.has_more = not self.is_whole and tool_text.has_more(self.tool)
        return self._show(tool_text.card_blocks(self.tool, is_whole=self.is_whole))
