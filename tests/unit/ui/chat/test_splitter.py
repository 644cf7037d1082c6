import re

from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.chat.blocks import Block, BlockKind, Limits
from app.ui.chat.markdown import render_html
from app.ui.chat.splitter import MarkdownSplitter

SMALL = Limits(chars=200, lines=24, code_lines=24, list_lines=4, plain_lines=5, plain_chars=40)

LINES = [
    "", "", "", "words of a paragraph", "# Heading", "===", "---", "- item", "  more", "    deep", "1. one", "2) two",
    "> quote", "| a | b |", "|---|---|", "```py", "```", "~~~", "  ```", "$$", "x $$", "[a]: http://one.example",
    "see [a] and [^n]", "[^n]: note", "- [ ] box", "***", "`x", "**bold**", "\t tab", "#", "-", "\\[ x", "x" * 90,
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(LINES), max_size=40).map("\n".join) | st.text(
    st.sampled_from(list("ab\n\n #->*`~$|[]:^1.\t\\")), max_size=120
)


def split(*pieces: str, limits: Limits | None = None) -> MarkdownSplitter:
    splitter = MarkdownSplitter(limits)
    for piece in pieces:
        splitter.feed(piece)
    return splitter


def finished(*pieces: str, limits: Limits | None = None) -> list[Block]:
    splitter = split(*pieces, limits=limits)
    splitter.finish()
    assert splitter.open == []
    return splitter.finished


def without_last_lines(html: str) -> str:
    """Leave out the empty lines at the end of open code: a block is cut off after its last word."""
    return re.sub(r"\s*</code>", "</code>", html)


def shown(blocks: list[Block]) -> list[tuple[object, ...]]:
    return [(block.kind, block.closed, *block.summary) for block in blocks]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.data())
def test_pieces_give_the_blocks_of_the_whole(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    limits = data.draw(st.sampled_from([Limits(), SMALL]))

    whole, pieced = split(text, limits=limits), split(*pieces, limits=limits)

    assert shown(pieced.blocks) == shown(whole.blocks)
    assert pieced.references.says_the_same(whole.references)
    whole.finish()
    pieced.finish()
    assert shown(pieced.blocks) == shown(whole.blocks)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_blocks_look_like_the_whole_text_rendered_at_once(text: str) -> None:
    splitter = split(text)
    splitter.finish()
    if any(block.kind is not BlockKind.MARKDOWN for block in splitter.finished):
        return

    rendered = "".join(render_html(block.source, splitter.references) for block in splitter.finished)

    assert without_last_lines(rendered) == without_last_lines(render_html(text, splitter.references))
