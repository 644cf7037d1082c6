import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.chat.block_html import block_html
from app.ui.chat.blocks import Block, BlockKind, Limits, clean, typed_blocks
from app.ui.chat.markdown import References, render_html
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


def test_blank_lines_at_the_end_of_open_code_are_the_same_in_pieces() -> None:
    text = "```py\n$$\n```\n```py\n\n\n"

    assert shown(split(text[:6], text[6:]).blocks) == shown(split(text).blocks)


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


M, C, P, R = BlockKind.MARKDOWN, BlockKind.CODE, BlockKind.PLAIN, BlockKind.RULE


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", []),
        ("\n\n", []),
        ("a", [M]),
        ("a\nb\n\nc", [M, M]),
        ("# h\ntext", [M, M]),
        ("- a\n\n- b\n\n  c\n\nd", [M, M]),
        ("| a |\n|---|\n| 1 |\n\nx", [M, M]),
        ("a\n```py\nx\n\ny\n```\nb", [M, C, M]),
        ("```\nopen", [C]),
        ("    indented\n\nx", [C, M]),
        ("a\n\n---\n\nb", [M, R, M]),
        ("> a\n\n> b", [M, M]),
        ("a[^1]\n\n[^1]: note\n\n    more\n\nb", [M, M, M]),
        ("[a]\n\n[a]: http://x", [M]),
        ("[a]: http://x", [P]),
        ("$$\nx\n\ny\n$$", [M, M]),
        (">" * 5_000 + "x", [P]),
        ("[" * 2_001, [P]),
        ("x" * 70_000, [P] * 8 + [M]),
    ],
)
def test_a_text_is_cut_into_its_outermost_blocks(text: str, kinds: list[BlockKind]) -> None:
    assert [block.kind for block in finished(text)] == kinds


@pytest.mark.parametrize(
    ("text", "most_lines"),
    [
        ("line\n" * 5_000, 200),
        ("- item\n" * 5_000, 101),
        ("|a|b|\n|-|-|\n" + "|1|2|\n" * 501, 200),
        ("|a" * 42 + "|\n" + "|-" * 42 + "|\n" + "|1" * 42 + "|\n", 200),
        ("```\n" + "x\n" * 5_000 + "```", 801),
        ("> " * 100 + "x\n" + "> y\n" * 3_000, 400),
    ],
)
def test_no_block_is_too_long_to_lay_out(text: str, most_lines: int) -> None:
    blocks = finished(text)

    assert max(block.source.count("\n") + 1 for block in blocks) <= most_lines
    assert max(len(block.source) for block in blocks) <= 65_536
    joined = "".join(block.gap + block.source for block in blocks).strip()
    assert joined.split("\n") == text.strip().split("\n")


def test_a_table_within_the_limits_stays_a_table() -> None:
    assert [block.kind for block in finished("|a|b|\n|-|-|\n" + "|1|2|\n" * 300)] == [M]


def test_a_long_code_block_goes_on_without_a_second_header() -> None:
    blocks = finished("```py\n" + "x = 1\n" * 1_000 + "```\nend")

    assert [(block.kind, block.gap) for block in blocks] == [(C, "\n\n"), (C, "\n"), (M, "\n\n")]
    assert "\n".join(block.code for block in blocks[:2]) == "\n".join(["x = 1"] * 1_000)
    assert {block.language for block in blocks[:2]} == {"py"}


def test_a_finished_block_is_the_same_object_as_more_text_comes() -> None:
    splitter = split("first\n\nsecond\n\nthird\n")
    first, second = splitter.finished

    splitter.feed("more [a]\n\n[b]: http://x.example\n")

    assert splitter.finished[:2] == [first, second]


def test_a_late_definition_renews_the_blocks_that_may_use_it() -> None:
    splitter = split("see [a]\n\nplain\n\nmore\n\n")
    see, plain = splitter.finished[:2]

    splitter.feed("[a]: http://x.example\n")

    assert splitter.finished[0] is not see
    assert splitter.finished[0].says_the_same(see)
    assert splitter.finished[1] is plain
    assert 'href="http://x.example"' in render_html(splitter.finished[0].source, splitter.references)


def test_an_open_fence_says_so_until_its_end_comes() -> None:
    splitter = split("```py\nx = 1")
    assert [(block.code, block.closed) for block in splitter.blocks] == [("x = 1", False)]

    splitter.feed("\n```")
    assert [(block.code, block.closed) for block in splitter.blocks] == [("x = 1", True)]

    splitter.feed("x\n")
    assert [(block.code, block.closed) for block in splitter.blocks] == [("x = 1\n```x", False)]


@pytest.mark.parametrize(
    ("text", "shown_text"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00\x1b\ud800\ufffc", "a����"),
        ("a\u2028b\u2029c\x85d", "a\nb\nc\nd"),
        ("ü\t🎉", "ü\t🎉"),
    ],
)
def test_text_that_cannot_be_shown_is_marked(text: str, shown_text: str) -> None:
    assert clean(text) == shown_text


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("**a**\n\n- b", [(P, "**a**\n\n- b", "")]),
        ("a\n```py\nx\n```\nb", [(P, "a", ""), (C, "```py\nx\n```", "x"), (P, "b", "")]),
        ("```\nnever closed", [(P, "```\nnever closed", "")]),
        ("````\n```\n````", [(C, "````\n```\n````", "```")]),
        ("", []),
    ],
)
def test_a_typed_text_keeps_all_but_its_fenced_code(text: str, blocks: list[tuple[BlockKind, str, str]]) -> None:
    assert [(block.kind, block.source, block.code) for block in typed_blocks(text, Limits())] == blocks


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_no_text_breaks_the_splitter(text: str) -> None:
    blocks = finished(clean(text), limits=SMALL)

    assert sum(len(block.source) for block in blocks) <= len(text)
    for block in blocks:
        assert block_html(block, References())
