import pytest

from app.ui.chat.block_html import block_html, plain_html
from app.ui.chat.blocks import Block, BlockKind
from app.ui.chat.highlight import highlight
from app.ui.chat.markdown import References, fence_language, find_blocks, render_html
from app.ui.chat.math_text import readable_math
from app.ui.theme import load_theme


def render(source: str) -> str:
    references = References()
    find_blocks(source, references)
    return render_html(source, references)


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("a\nb", "<p>a<br />\nb</p>\n"),
        ("**b** *i* ~~s~~ `c<d`", "<p><strong>b</strong> <em>i</em> <s>s</s> <code>c&lt;d</code></p>\n"),
        ("<b>x</b> &amp; <script>", "<p>&lt;b&gt;x&lt;/b&gt; &amp; &lt;script&gt;</p>\n"),
        ("main.py and example.com", "<p>main.py and example.com</p>\n"),
        ("see http://a.example", '<p>see <a href="http://a.example">http://a.example</a></p>\n'),
        ("[x](javascript:alert)", "<p>x</p>\n"),
        ("[x](file:///etc/passwd)", "<p>x</p>\n"),
        ("[x](docs/a.md) [y](//h.example/) [z](#top)", "<p>x y z</p>\n"),
        ("<mailto:a@b.example>", '<p><a href="mailto:a@b.example">mailto:a@b.example</a></p>\n'),
        ("[**x** ![p](http://i.example/a)](file:///a) b", "<p><strong>x</strong> p (i.example) b</p>\n"),
        ("![a cat](https://h.example/c.png)", '<p><a href="https://h.example/c.png">a cat (h.example)</a></p>\n'),
        ("![](https://h.example/c.png)", '<p><a href="https://h.example/c.png">image (h.example)</a></p>\n'),
        ("![x](local.png)", "<p>x</p>\n"),
        ("![x](data:image/png;base64,AAAA)", "<p>x</p>\n"),
        ("[![p](http://i.example/a)](http://b.example)", '<p><a href="http://b.example">p (i.example)</a></p>\n'),
        ("- [ ] a\n- [x] b", '<ul style="list-style-type: none">\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>\n'),
        ("- [ ] a\n- b", "<ul>\n<li>☐ a</li>\n<li>b</li>\n</ul>\n"),
        ("- a\n\n  ```\n  x\n  ```", "<ul>\n<li><p>a</p>\n<pre><code>x</code></pre>\n</li>\n</ul>\n"),
        ("a[^1]\n\n[^1]: note", None),
        ("$x^2$ costs $5 and $6", '<p><span class="math">x²</span> costs $5 and $6</p>\n'),
        (r"\(a_1\) \[b\]", '<p><span class="math">a₁</span> <span class="math">b</span></p>\n'),
        ("$$\nx\n$$", '<p align="center"><span class="math">x</span></p>\n'),
    ],
)
def test_markdown_becomes_html_that_holds_no_foreign_html_and_no_picture(source: str, html: str | None) -> None:
    rendered = render(source)

    assert "<img" not in rendered
    if html is not None:
        assert rendered == html


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("[x](javascript:alert)", '<p><a href="javascript:alert">x</a></p>\n'),
        ("[x](file:///etc/passwd)", '<p><a href="file:///etc/passwd">x</a></p>\n'),
        ('[x][1]\n\n[1]: file:///a"b', '<p><a href="file:///a%22b">x</a></p>\n'),
        (r"[x](C:\a) [y](docs/a.md)", "<p>x y</p>\n"),
        ("![x](file:///etc/passwd)", "<p>x</p>\n"),
    ],
)
def test_where_somebody_asks_first_every_address_with_a_scheme_is_a_link(source: str, html: str) -> None:
    references = References()
    find_blocks(source, references)

    assert render_html(source, references, any_scheme=True) == html


def test_footnotes_and_references_are_found_from_another_block() -> None:
    references = References()
    find_blocks("[1]: http://one.example\n[^n]: why", references)

    assert render_html("[a][1] b[^n]", references) == '<p><a href="http://one.example">a</a> b<sup>n</sup></p>\n'
    assert "<b>n.</b> why" in render_html("[^n]: why", references)
    assert references.footnotes == {":n": -1}


def test_cells_of_a_table_keep_their_alignment() -> None:
    html = render("|a|b|\n|--:|---|\n|1|2|")

    assert '<td align="right">1</td>' in html
    assert '<th align="left">b</th>' in html


@pytest.mark.parametrize(
    ("info", "language"), [("python", "python"), ("{.js .x}", "js"), ("c++ title=x", "c++"), ("", ""), ("  ", "")]
)
def test_a_fence_names_its_language(info: str, language: str) -> None:
    assert fence_language(info) == language


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\alpha + \beta", "α + β"),
        (r"x^{n+1}", "xⁿ⁺¹"),
        (r"a_{ij}", "aᵢⱼ"),
        (r"\sum_{i=0}^n i", "∑ᵢ₌₀ⁿ i"),
        (r"\frac{a}{b}", "a/b"),
        (r"e^{i\pi}", "e^(iπ)"),
        (r"\sqrt{2} \leq \infty", "√(2) ≤ ∞"),
        (r"\unknown{", None),
        ("{" * 500, "{" * 500),
        ("x" * 5_000, "x" * 5_000),
        (r"\left(" * 100, r"\left(" * 100),
        ("", ""),
    ],
)
def test_mathematics_is_readable_or_left_as_it_is(tex: str, text: str | None) -> None:
    shown = readable_math(tex)

    if text is not None:
        assert shown == text


def test_plain_text_keeps_its_lines_and_links_its_addresses() -> None:
    html = plain_html("a <b>\n\n see https://x.example/a_(b), or http://y")

    assert html.count("<p") == 3
    assert "a &lt;b&gt;" in html
    assert '<a href="https://x.example/a_(b">' in html or '<a href="https://x.example/a_(b)">' in html
    assert "http://y<" in html


def test_code_is_never_read_as_html() -> None:
    block = Block(BlockKind.CODE, "```\n</code><b>\n```", code="</code><b>")

    assert block_html(block, References()) == "<pre><code>&lt;/code&gt;&lt;b&gt;</code></pre>\n"


def test_code_has_colours_where_the_language_is_known() -> None:
    colours = load_theme(dark=False).code
    code = "def f():\n    return 'x'  # why"

    spans = highlight(code, "python", colours)

    shown = {code[span.start : span.start + span.length]: span.colour for span in spans}
    assert shown["def"] == colours["Keyword"]
    assert shown["f"] == colours["Name.Function"]
    assert shown["# why"] == colours["Comment"]


@pytest.mark.parametrize(
    ("code", "language"), [("x", ""), ("x", "no such language"), ("x" * 50_000, "python"), ("x = 1 " * 500, "python")]
)
def test_code_without_a_known_language_or_too_long_stays_plain(code: str, language: str) -> None:
    assert highlight(code, language, load_theme(dark=False).code) == []
