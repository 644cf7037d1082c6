"""Contrast of every pair of colours that meet, by the formula of WCAG 2.1."""

import pytest
from PySide6.QtGui import QColor

from app.ui.theme import Theme, load_theme, style_sheet


def luminance(colour: QColor) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_on_everything_it_stands_on(*, dark: bool) -> None:
    theme: Theme = load_theme(dark=dark)
    backgrounds = [theme.window, theme.surface, theme.hover, theme.user_background, theme.code_background]
    pairs = [(text, on) for text in (theme.text, theme.muted) for on in (*backgrounds, theme.code_header)]
    pairs += [(theme.text, on) for on in (theme.added, theme.removed)]
    pairs += [(theme.link, on) for on in (theme.surface, theme.user_background)]
    pairs += [(theme.error, theme.surface), (theme.error, theme.window)]
    pairs += [(theme.found_text, theme.found), (theme.found_here_text, theme.found_here)]
    pairs += [(theme.accent_text, theme.accent), (theme.selection_text, theme.selection)]
    # Where much is found it lies below the text in its own colours.
    pairs += [(text, theme.found_below) for text in (theme.text, theme.muted, theme.link, *theme.code.values())]
    pairs += [(colour, theme.code_background) for colour in theme.code.values()]
    weak = [(one.name(), on.name(), round(contrast(one, on), 2)) for one, on in pairs if contrast(one, on) < 4.5]
    assert weak == []


@pytest.mark.parametrize("dark", [False, True])
def test_rings_and_handles_stand_out(*, dark: bool) -> None:
    theme = load_theme(dark=dark)
    assert contrast(theme.accent, theme.surface) >= 3
    assert contrast(theme.accent, theme.window) >= 3
    assert contrast(theme.scroll, theme.surface) >= 3
    assert contrast(theme.found_here, theme.surface) >= 3
    assert contrast(theme.found_here, theme.found) >= 3


@pytest.mark.parametrize("dark", [False, True])
def test_every_name_in_the_style_sheet_is_a_colour(*, dark: bool) -> None:
    assert "@" not in style_sheet(load_theme(dark=dark))
