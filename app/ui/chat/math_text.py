"""Readable mathematics: LaTeX turned into Unicode text."""

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

_SUPERSCRIPTS: Final = str.maketrans(
    "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW−βγδθφ",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ⁻ᵝᵞᵟᶿᵠ",
)
_SUBSCRIPTS: Final = str.maketrans("0123456789+-=()aehijklmnoprstuvx−βγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₋ᵦᵧᵨᵩᵪ")
_SCRIPT: Final = re.compile(r"([\^_])\s*(?:\{([^{}]*)\}|(\\[A-Za-z]+|[^\s\\{}^_]))")
_RELATION: Final = re.compile(r"\s*([=≤≥≠≈≡∈∉⊂⊆→⇒⇔↦∝])\s*")
_MAX_CHARS: Final = 2_000
_MAX_DEPTH: Final = 60


def readable_math(tex: str) -> str:
    """Return `tex` as plain Unicode text; the source itself where it can't be read or is too long or too deep."""
    tex = tex.strip()
    if len(tex) > _MAX_CHARS or tex.count("{") > _MAX_DEPTH or tex.count("\\left") > _MAX_DEPTH:
        return tex
    return _RELATION.sub(r" \1 ", _to_text(_SCRIPT.sub(_raise_or_lower, tex))).strip() or tex


def _raise_or_lower(match: re.Match[str]) -> str:
    content = _to_text(match[2] if match[2] is not None else match[3])
    table = _SUPERSCRIPTS if match[1] == "^" else _SUBSCRIPTS
    if content and all(ord(char) in table for char in content):
        return "{}" + content.translate(table)  # the braces end a macro's name before it
    return match[0] if len(content) <= 1 else f"{match[1]}({content})"


def _to_text(tex: str) -> str:
    from pylatexenc.latexwalker import LatexWalkerError

    try:
        return str(_converter().latex_to_text(tex))
    except (LatexWalkerError, ValueError, IndexError, KeyError, AttributeError, TypeError, RecursionError):
        return tex


@cache
def _converter() -> "LatexNodes2Text":
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text", keep_comments=True, strict_latex_spaces="based-on-source")
