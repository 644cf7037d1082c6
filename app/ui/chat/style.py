"""Fonts, distances and the style sheet of the transcript, made from a theme and the interface font."""

from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetricsF

from app.ui.theme import Theme

COLUMN_WIDTH: Final = 760
_QUOTE_INDENT: Final = 16
_CELL_PADDING: Final = 8
_CELL_ROOM: Final = 3
_CELL_LINE_HEIGHT: Final = 120
_CODE_FAMILY: Final = "JetBrains Mono"
_MATH_FAMILIES: Final = "'STIX Two Math', 'STIX Two Text', 'STIX', 'STIXGeneral', 'Cambria Math', serif"


@dataclass(frozen=True, slots=True)
class Style:
    """How text looks; made anew when the theme or the font changes."""

    theme: Theme
    body: QFont
    code: QFont
    small: QFont
    name: QFont

    @property
    def column(self) -> int:
        """The greatest width of the column of text."""
        return self.px(COLUMN_WIDTH)

    @property
    def quote_indent(self) -> int:
        """The only left margin that a document has: bars are drawn by it."""
        return self.px(_QUOTE_INDENT)

    def px(self, pixels: float) -> int:
        """Return a distance with the zoom applied."""
        return self.theme.px(pixels) if pixels else 0

    @property
    def line_height(self) -> int:
        """A line of body text with its spacing."""
        return round(QFontMetricsF(self.body).height() * 1.35)

    @property
    def small_height(self) -> int:
        """A line of a header or a note."""
        return round(QFontMetricsF(self.small).height() * 1.3)

    def for_notices(self) -> "Style":
        """Return the same style with the body as small as a note."""
        return replace(self, body=self.small)

    def sheet(self, *, muted: bool) -> str:
        """Return the style sheet of a document."""
        theme, size, px = self.theme, self.body.pointSizeF(), self.px
        text = (theme.muted if muted else theme.text).name()
        headings = "".join(
            f".h{level} {{ font-size: {size * scale:.1f}pt; font-weight: 700; margin: {px(above)}px 0 {px(4)}px 0; "
            "line-height: 120% }"
            for level, scale, above in ((1, 1.35, 14), (2, 1.2, 12), (3, 1.1, 10), (4, 1, 8), (5, 1, 8), (6, 1, 8))
        )
        above, below = self._cell_padding()
        code = f"font-family: {_families(self.code)}; font-size: {self.code.pointSizeF():.1f}pt"
        return (
            f"body, p, li, td, th, div {{ color: {text}; line-height: 135% }}"
            f"p {{ margin: 0 0 {px(8)}px 0 }} ul {{ list-style-type: none }} ul, ol {{ margin: 0 }}"
            f"li {{ margin: 0 0 {px(3)}px 0 }} .loose, li p {{ margin: 0 0 {px(6)}px 0 }}"
            f"{headings}"
            f"a {{ color: {theme.link.name()}; text-decoration: underline }}"
            f"code {{ {code}; background-color: {theme.code_background.name()} }}"
            f"pre {{ {code}; background-color: {theme.code_background.name()}; margin: 0; line-height: 125%;"
            " white-space: pre-wrap }"
            f"blockquote {{ margin: {px(4)}px 0 {px(4)}px {self.quote_indent}px; color: {theme.muted.name()} }}"
            f"blockquote p, blockquote li {{ color: {theme.muted.name()} }}"
            f"table {{ border-collapse: collapse; border-color: {theme.border.name()};"
            f" margin: {px(2)}px 0 {px(2)}px 0 }}"
            f"td, th {{ border: 1px solid {theme.border.name()}; line-height: {_CELL_LINE_HEIGHT}%;"
            f" padding: {above}px {px(_CELL_PADDING)}px {below}px {px(_CELL_PADDING)}px }}"
            f"th {{ background-color: {theme.code_header.name()}; font-weight: 600 }}"
            f".math {{ font-family: {_MATH_FAMILIES}; font-style: italic; font-size: {size * 1.08:.1f}pt }}"
            f".footnote p {{ color: {theme.muted.name()}; font-size: {self.small.pointSizeF():.1f}pt }}"
        )

    def _cell_padding(self) -> tuple[int, int]:
        """Return the room above and below a table cell's text that leaves its letters in the middle.

        Qt adds the spacing of lines below them.
        """
        metrics = QFontMetricsF(self.body)
        spacing = metrics.height() * (_CELL_LINE_HEIGHT - 100) / 100
        more = spacing + metrics.descent() - (metrics.ascent() - metrics.capHeight())
        room = self.px(_CELL_ROOM)
        return max(0, round(room + more)), room


def make_style(theme: Theme, interface: QFont) -> Style:
    """Return the style for a theme and the interface's font, which the body is slightly larger than."""
    points = QFontInfo(interface).pointSizeF() if interface.pointSizeF() <= 0 else interface.pointSizeF()
    body = QFont(interface)
    body.setPointSizeF(max(10.5 * theme.zoom, points * 1.1))
    code = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    if QFontDatabase.hasFamily(_CODE_FAMILY):
        code.setFamilies([_CODE_FAMILY, *code.families()])
    code.setStyleHint(QFont.StyleHint.Monospace)
    code.setFixedPitch(True)
    code.setPointSizeF(body.pointSizeF() * 0.9)
    small = QFont(interface)
    small.setPointSizeF(body.pointSizeF() * 0.88)
    name = QFont(small)
    name.setWeight(QFont.Weight.DemiBold)
    return Style(theme, body, code, small, name)


def _families(font: QFont) -> str:
    return ", ".join(f"'{family}'" for family in font.families()) + ", monospace"
