"""The configured Markdown parser and its HTML rules. Importing this imports markdown-it: only `markdown` does."""

# ruff: noqa: ARG002 (rules share one signature)
import re
from collections.abc import Sequence
from html import escape
from typing import Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import math_inline_dollar
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from app.ui.chat.math_text import readable_math

_BRACKET_MATH_CHARS: Final = 2_000
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""Of two letters or more: `C:` is a drive."""
_COMMON_SCHEMES: Final = ("http:", "https:", "mailto:")


def build_parser(*, max_nesting: int) -> MarkdownIt:
    """Return a parser of the transcript's dialect; it never passes HTML through."""
    options = {"html": False, "linkify": True, "breaks": True, "maxNesting": max_nesting}
    parser = _Parser("commonmark", options, renderer_cls=_Renderer)
    parser.enable(["linkify", "table", "strikethrough"])
    parser.use(footnote_plugin, inline=False, move_to_end=False)
    parser.use(tasklists_plugin)
    parser.use(
        dollarmath_plugin,
        allow_space=False,
        allow_digits=False,
        double_inline=True,
        allow_labels=False,
        allow_blank_lines=False,
    )
    parser.inline.ruler.at("math_inline", _dollar_math)
    parser.inline.ruler.before("escape", "bracket_math", _bracket_math)
    for name in ("footnote_ref", "math_inline", "math_inline_double", "math_block"):
        parser.add_render_rule(name, getattr(_Renderer, name))  # the plugins brought their own
    if parser.linkify is not None:
        # Only addresses with a scheme: "main.py" is a file, not a host in Paraguay.
        parser.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    return parser


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        """Take every link for one: the renderer decides."""
        return True


_math_inline_dollar: Final = math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True)


def _dollar_math(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """Read `$…$`. At the very start the plugin looks at the last letter for the one before: that is a blank here."""
    if state.pos:
        return _math_inline_dollar(state, silent)
    state.src += " "
    try:
        return _math_inline_dollar(state, silent)
    finally:
        state.src = state.src[:-1]


def _bracket_math(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    r"""Read `\(…\)` and `\[…\]`, which many models write in place of dollars."""
    opening = state.src[state.pos : state.pos + 2]
    if opening not in {"\\(", "\\["}:
        return False
    closing = "\\)" if opening == "\\(" else "\\]"
    end = state.src.find(closing, state.pos + 2, min(state.posMax, state.pos + _BRACKET_MATH_CHARS))
    if end < 0 or not state.src[state.pos + 2 : end].strip():
        return False
    if not silent:
        token = state.push("math_inline" if opening == "\\(" else "math_inline_double", "math", 0)
        token.content = state.src[state.pos + 2 : end]
    state.pos = end + 2
    return True


class _Renderer(RendererHTML):
    """Each method is the rule of the token type it is named after."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        if not _is_link(tokens[idx], env):
            return ""
        return self.renderToken(tokens, idx, options, env)

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        opening = next(token for token in reversed(tokens[:idx]) if token.type == "link_open")
        return "</a>" if _is_link(opening, env) else ""

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        source = str(token.attrGet("src") or "")
        alt = self.renderInlineAsText(token.children, options, env).strip() or "image"
        shown = escape(f"{alt} ({_host(source)})" if _host(source) else alt)
        if not source.startswith(("http://", "https://")) or _is_in_link(tokens, idx):
            return shown
        return f'<a href="{escape(source)}">{shown}</a>'

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        code = tokens[idx].content.removesuffix("\n")
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.fence(tokens, idx, options, env)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<table border="1" cellspacing="0" cellpadding="5">\n'

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<th{_alignment(tokens[idx])}>"

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<td{_alignment(tokens[idx])}>"

    def html_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # With html=False the only such tokens are the boxes that the task list plugin made.
        return "☑" if "checked=" in tokens[idx].content else "☐"

    def bullet_list_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<ul style="list-style-type: none">\n' if _has_only_tasks(tokens, idx) else "<ul>\n"

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "<li>"

    def footnote_ref(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<sup>{escape(str(tokens[idx].meta['label']))}</sup>"

    def footnote_reference_open(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: EnvType,
    ) -> str:
        # The number stands in the first paragraph, if the note begins with one.
        has_words = idx + 1 < len(tokens) and tokens[idx + 1].type == "paragraph_open"
        return '<div class="footnote">\n' if has_words else f'<div class="footnote"><p>{_number(tokens[idx])}</p>\n'

    def paragraph_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        if idx and tokens[idx - 1].type == "footnote_reference_open":
            return f"<p>{_number(tokens[idx - 1])} "
        return self.renderToken(tokens, idx, options, env)

    def footnote_reference_close(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,
        env: EnvType,
    ) -> str:
        return "</div>\n"

    def math_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<span class="math">{escape(readable_math(tokens[idx].content))}</span>'

    def math_inline_double(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.math_inline(tokens, idx, options, env)

    def math_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<p align="center">{self.math_inline(tokens, idx, options, env)}</p>\n'


def _is_link(opening: Token, env: EnvType) -> bool:
    address = str(opening.attrGet("href") or "")
    if env.get("any_scheme"):
        return _SCHEME.match(address) is not None
    return address.lower().startswith(_COMMON_SCHEMES)


def _number(footnote: Token) -> str:
    return f"<b>{escape(str(footnote.meta['label']))}.</b>"


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_in_link(tokens: Sequence[Token], place: int) -> bool:
    depth = 0
    for token in tokens[:place]:
        depth += (token.type == "link_open") - (token.type == "link_close")
    return depth > 0


def _has_only_tasks(tokens: Sequence[Token], opening: int) -> bool:
    if "contains-task-list" not in str(tokens[opening].attrGet("class") or ""):
        return False
    level = tokens[opening].level
    for token in tokens[opening + 1 :]:
        if token.level == level:
            return True
        is_item = token.type == "list_item_open" and token.level == level + 1
        if is_item and "task-list-item" not in str(token.attrGet("class") or ""):
            return False
    return True


def _alignment(cell: Token) -> str:
    style = str(cell.attrGet("style") or "")
    _, _, side = style.partition("text-align:")
    return f' align="{escape(side.strip() or "left")}"'
