"""How the interface looks: theme and zoom, as the settings say, from the first paint on."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication
from PySide6.QtWidgets import QApplication

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.ui.bridge import Bridge
from app.ui.theme import Theme, load_theme, palette_of, style_sheet

if TYPE_CHECKING:  # It loads pydantic, which must wait for the first paint.
    from app.settings.schema import Settings

STEPS: Final[tuple[int, ...]] = (*range(50, 200, 10), *range(200, 301, 25))
"""Percent that the keys and the wheel stop at."""
NO_ZOOM: Final = 100
SAVE_MS: Final = 400
"""A zoom is saved once it has stood still for so long."""
_THEMES: Final = ("system", "light", "dark")
_MAX_BYTES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """What can be chosen: `system`, `light` or `dark`, and a zoom in percent."""

    theme: str = "system"
    zoom_percent: int = NO_ZOOM


def read_look(path: Path) -> Look:
    """Return the look that a settings file asks for; what can't be read is as if it was not there.

    Plain JSON: whoever validates the settings comes too late for the first paint.
    """
    try:
        with path.open("rb") as file:
            raw = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return Look()
    chosen = raw.get("appearance") if isinstance(raw, dict) else None
    if not isinstance(chosen, dict):
        return Look()
    theme, zoom = chosen.get("theme"), chosen.get("zoom_percent")
    if not isinstance(zoom, int) or isinstance(zoom, bool) or not STEPS[0] <= zoom <= STEPS[-1]:
        zoom = NO_ZOOM
    return Look(theme if theme in _THEMES else "system", zoom)


def next_step(percent: int, *, larger: bool) -> int:
    """Return the zoom one step on; the last step stays."""
    if larger:
        return STEPS[min(bisect_right(STEPS, percent), len(STEPS) - 1)]
    return STEPS[max(bisect_left(STEPS, percent) - 1, 0)]


class Appearance(QObject):
    """Keeps palette, fonts and style sheet of the program as they were chosen."""

    changed = Signal()
    """`theme` is another one now."""
    zoomed = Signal(int)
    """The person has chosen this zoom, in percent, by keys or wheel."""
    failed = Signal(str)
    """A sentence for people: the zoom could not be saved."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, settings_path: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._look = read_look(settings_path)
        self._saver = QTimer(self)
        self._saver.setSingleShot(True)
        self._saver.setInterval(SAVE_MS)
        self._saver.timeout.connect(self.save)
        self._saves = 0
        hints = QGuiApplication.styleHints()
        self._request_scheme()
        self._scheme = hints.colorScheme()
        self._scale_font(to=points_of(system_font()) * self.zoom_percent / 100)
        self.theme = self._apply()
        hints.colorSchemeChanged.connect(self._follow)

    @property
    def zoom_percent(self) -> int:
        """How large everything is."""
        return self._look.zoom_percent

    def use(self, settings: Settings) -> None:
        """Look as the settings say; a zoom that is not saved yet stays."""
        chosen = settings.appearance
        is_saved = not self._saver.isActive() and not self._saves
        self._show(Look(chosen.theme, chosen.zoom_percent if is_saved else self._look.zoom_percent))

    @Slot()
    def reset_zoom(self) -> None:
        """Show everything as large as the desktop's font has it."""
        self._zoom(NO_ZOOM)

    @Slot(int)
    def zoom_by(self, steps: int) -> None:
        """Show everything that many steps larger, smaller if negative."""
        percent = self.zoom_percent
        for _ in range(abs(steps)):
            percent = next_step(percent, larger=steps > 0)
        self._zoom(percent)

    @Slot()
    def save(self) -> None:
        """Put a zoom that is not saved yet on disk now."""
        self._saver.stop()
        self._saves += 1
        self._tasks.spawn(self._save(self.zoom_percent), name="save the zoom")

    def save_pending(self) -> None:
        """Save now what was to be saved soon."""
        if self._saver.isActive():
            self.save()

    def _zoom(self, percent: int) -> None:
        if percent != self.zoom_percent:
            self._show(replace(self._look, zoom_percent=percent))
            self._saver.start()
        self.zoomed.emit(percent)

    async def _save(self, percent: int) -> None:
        def edit(settings: Settings) -> Settings:
            appearance = settings.appearance.model_copy(update={"zoom_percent": percent})
            return settings.model_copy(update={"appearance": appearance})

        try:
            await self._bridge.change_settings(edit)
        except KnownError as error:
            self.failed.emit(str(error))
        finally:
            self._saves -= 1

    def _show(self, look: Look) -> None:
        if look == self._look:
            return
        had, self._look = self._look, look
        if look.theme != had.theme:
            self._request_scheme()
            self._scheme = QGuiApplication.styleHints().colorScheme()
        if look.zoom_percent != had.zoom_percent:
            self._scale_font(to=points_of(QApplication.font()) * look.zoom_percent / had.zoom_percent)
        self.theme = self._apply()
        self.changed.emit()

    def _request_scheme(self) -> None:
        """Have the system draw frames and its own dialogs alike, where it can."""
        schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
        QGuiApplication.styleHints().setColorScheme(schemes.get(self._look.theme, Qt.ColorScheme.Unknown))

    @Slot(Qt.ColorScheme)
    def _follow(self, scheme: Qt.ColorScheme) -> None:
        if self._look.theme == "system" and scheme is not self._scheme:
            self._scheme = scheme
            self.theme = self._apply()
            self.changed.emit()

    def _apply(self) -> Theme:
        is_dark = self._look.theme == "dark" or (self._look.theme == "system" and self._scheme is Qt.ColorScheme.Dark)
        theme = load_theme(dark=is_dark, zoom=self.zoom_percent / 100)
        QApplication.setPalette(palette_of(theme))
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.setStyleSheet(style_sheet(theme))
        return theme

    @staticmethod
    def _scale_font(*, to: float) -> None:
        """Give the interface's font a size in points; one that has it already stays the desktop's own."""
        font = QApplication.font()
        if not math.isclose(points_of(font), to, rel_tol=0.001):
            font.setPointSizeF(to)
            QApplication.setFont(font)


def system_font() -> QFont:
    """Return the desktop's font for interfaces."""
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)


def points_of(font: QFont) -> float:
    """Return the size of a font in points, also of one whose size is set in pixels."""
    return font.pointSizeF() if font.pointSizeF() > 0 else QFontInfo(font).pointSizeF()
