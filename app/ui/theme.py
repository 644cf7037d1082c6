"""Colours of the interface, read from `resources/themes`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.assets import resource


@dataclass(frozen=True, slots=True)
class Theme:
    """Every colour the interface paints with; text on its background keeps 4.5:1."""

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
    link: QColor
    error: QColor
    scroll: QColor
    """Handles of scroll bars; 3:1 on `surface`."""
    user_background: QColor
    code_background: QColor
    code_header: QColor
    code: Mapping[str, QColor]
    """Pygments token type ("Keyword", "Comment.Single", ...) to colour; the nearest parent type counts."""


def load_theme(*, dark: bool) -> Theme:
    """Return the light or the dark theme."""
    raw = json.loads(resource("themes", "dark.json" if dark else "light.json").read_text("utf-8"))
    plain = {field.name: QColor(raw[field.name]) for field in fields(Theme) if field.name != "code"}
    return Theme(**plain, code={name: QColor(value) for name, value in raw["code"].items()})


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
    """Return the rules for what a palette can't say: frames, corners, focus rings."""
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
    return text


def tinted_icon(name: str, colour: QColor, *, disabled: QColor | None = None, size: int = 20) -> QIcon:
    """Return an icon of `resources/icons` drawn in `colour`, sharp up to three times its size in pixels.

    Without `disabled` Qt greys it by itself.
    """
    source = resource("icons", f"{name}.svg").read_text("utf-8")
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
