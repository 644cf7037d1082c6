"""Colours and distances of the interface, read from `resources/themes`."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.assets import resource

_PIXELS: Final = re.compile(r"(\bborder(?:-(?:top|right|bottom|left))?: )?\b(\d+)px")
_LESS: Final = re.compile(r"less\((\d+)px, (\d+)px\)")


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour the interface paints with, and its zoom; text on its background keeps 4.5:1."""

    window: QColor
    """Side panels, menus, bars."""
    surface: QColor
    """Transcript and text fields."""
    text: QColor
    muted: QColor
    border: QColor
    accent: QColor
    """Buttons that act, focus ring, marks; `accent_text` is readable on it."""
    accent_text: QColor
    hover: QColor
    selection: QColor
    selection_text: QColor
    found: QColor
    """The ground of what find in chat has found; `found_text` is readable on it."""
    found_text: QColor
    found_below: QColor
    """The same where much is found: the text above it keeps its own colours."""
    found_here: QColor
    """The one of them that is meant; 3:1 on `surface`."""
    found_here_text: QColor
    link: QColor
    error: QColor
    scroll: QColor
    """Handles of scroll bars; 3:1 on `surface`."""
    user_background: QColor
    code_background: QColor
    code_header: QColor
    added: QColor
    """The ground of lines that a change adds."""
    removed: QColor
    code: Mapping[str, QColor]
    """Pygments token type ("Keyword", "Comment.Single", ...) to colour; the nearest parent type counts."""
    zoom: float = 1.0
    """How much larger everything is than the desktop's font would have it."""

    def px(self, pixels: float) -> int:
        """Return a distance with the zoom applied, at least one pixel."""
        return max(1, round(pixels * self.zoom))


def load_theme(*, dark: bool, zoom: float = 1.0) -> Theme:
    """Return the light or the dark theme."""
    raw = json.loads(resource("themes", "dark.json" if dark else "light.json").read_text("utf-8"))
    plain = {field.name: QColor(raw[field.name]) for field in fields(Theme) if field.name not in ("code", "zoom")}
    return Theme(**plain, code={name: QColor(value) for name, value in raw["code"].items()}, zoom=zoom)


def palette_of(theme: Theme) -> QPalette:
    """Return `theme` as the palette of every standard control."""
    palette = QPalette()
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.window,
        role.Text: theme.text,
        role.PlaceholderText: theme.muted,
        role.Button: theme.window,
        role.ButtonText: theme.text,
        role.ToolTipBase: theme.surface,
        role.ToolTipText: theme.text,
        role.Highlight: theme.selection,
        role.HighlightedText: theme.selection_text,
        role.Link: theme.link,
        role.LinkVisited: theme.link,
        role.Accent: theme.accent,
        role.Light: theme.hover,
        role.Midlight: theme.hover,
        role.Mid: theme.border,
        role.Dark: theme.border,
        role.Shadow: theme.border,
        role.BrightText: theme.error,
    }
    for name, colour in colours.items():
        palette.setColor(name, colour)
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, theme.muted)
    return palette


def style_sheet(theme: Theme) -> str:
    """Return the rules for what a palette can't say: frames, corners, focus rings.

    Distances grow with the zoom, lines don't. `less(5px, 1px)` stands for 5 px, zoomed, less 1 px: what is left
    beside a line that is one pixel thicker.
    """
    colours = {
        "window": theme.window,
        "surface": theme.surface,
        "text": theme.text,
        "muted": theme.muted,
        "border": theme.border,
        "accent": theme.accent,
        "accent_text": theme.accent_text,
        "hover": theme.hover,
        "selection": theme.selection,
        "selection_text": theme.selection_text,
        "error": theme.error,
        "scroll": theme.scroll,
    }
    text = resource("themes", "style.css").read_text("utf-8")
    for name, colour in colours.items():
        text = text.replace(f"@{name};", f"{colour.name()};").replace(f"@{name} ", f"{colour.name()} ")
    text = _LESS.sub(lambda found: f"{theme.px(int(found[1])) - int(found[2])}PX", text)
    text = _PIXELS.sub(lambda found: found[0] if found[1] else _zoomed(theme, int(found[2])), text)
    return text.replace("PX", "px")


def _zoomed(theme: Theme, pixels: int) -> str:
    return f"{theme.px(pixels) if pixels else 0}px"


def tinted_icon(
    name: str, colour: QColor, *, disabled: QColor | None = None, size: int = 20, is_full: bool = False
) -> QIcon:
    """Return an icon of `resources/icons` drawn in `colour`, sharp up to three times its size in pixels.

    Without `disabled` Qt greys it by itself. `is_full` fills its outline.
    """
    source = resource("icons", f"{name}.svg").read_text("utf-8")
    if is_full:
        source = source.replace('fill="none"', 'fill="currentColor"')
    icon = QIcon()
    for mode, tint in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        if tint is not None:
            for scale in (1, 2, 3):
                icon.addPixmap(_drawn(source.replace("currentColor", tint.name()), size, scale), mode)
    return icon


def _drawn(source: str, size: int, scale: int) -> QPixmap:
    pixmap = QPixmap(size * scale, size * scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(source.encode())).render(painter, QRectF(0, 0, size * scale, size * scale))
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap
