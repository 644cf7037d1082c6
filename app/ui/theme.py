"""Colours of the interface, read from `resources/themes`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields

from PySide6.QtGui import QColor

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
