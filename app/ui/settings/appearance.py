"""Appearance: light or dark, and how large everything is."""

from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSlider, QWidget

from app.settings.schema import MAX_ZOOM_PERCENT, MIN_ZOOM_PERCENT, Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_part
from app.ui.settings.page import SettingsPage, choice_combo

_STEP_PERCENT: Final = 10
_REST_MS: Final = 250
"""How long the slider must rest before its value is saved and everything is laid out anew."""


class AppearancePage(SettingsPage):
    """How the program looks."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("Appearance")
        self.theme = choice_combo(
            self.tr("Colours"),
            [(self.tr("As the system"), "system"), (self.tr("Light"), "light"), (self.tr("Dark"), "dark")],
            lambda theme: self.choices.change(change_part("appearance", theme=theme)),
        )
        self.add_row(self.tr("Colours"), self.theme, words=self.tr("theme dark mode light night"))
        self.zoom = _QuietSlider()
        self.zoom.setAccessibleName(self.tr("Size of text"))
        self.zoom.valueChanged.connect(self._slid)
        self.percent = QLabel()
        self.percent.setTextFormat(Qt.TextFormat.PlainText)
        widest = self.percent.fontMetrics().horizontalAdvance("300 %") + 4
        self.percent.setMinimumWidth(widest)
        self.percent.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.reset = QPushButton(self.tr("Reset"))
        self.reset.setAccessibleName(self.tr("Reset the size to 100 %"))
        self.reset.clicked.connect(lambda: self.zoom.setValue(100))
        holder = QWidget()
        line = QHBoxLayout(holder)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.zoom, 1)
        line.addWidget(self.percent)
        line.addWidget(self.reset)
        row = self.add_row(
            self.tr("Size of text"),
            holder,
            note=self.tr("From {least} to {most} % of the system's size.").format(
                least=MIN_ZOOM_PERCENT, most=MAX_ZOOM_PERCENT
            ),
            words=self.tr("zoom font larger smaller scale"),
        )
        row.label.setBuddy(self.zoom)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST_MS)
        self._rest.timeout.connect(self._save_zoom)

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        self.theme.choose(settings.appearance.theme)
        if is_forced or not (self._rest.isActive() or self.zoom.isSliderDown()):
            blocked = self.zoom.blockSignals(True)
            self.zoom.setValue(settings.appearance.zoom_percent)
            self.zoom.blockSignals(blocked)
            self._show_percent()

    def commit(self) -> None:
        """Save what is on its way."""
        if self._rest.isActive():
            self._rest.stop()
            self._save_zoom()

    def _slid(self) -> None:
        self._show_percent()
        self._rest.start()

    def _show_percent(self) -> None:
        self.percent.setText(self.tr("{percent} %").format(percent=self.zoom.value()))
        self.reset.setEnabled(self.zoom.value() != 100)

    def _save_zoom(self) -> None:
        if self.zoom.isSliderDown():
            self._rest.start()
        else:
            self.choices.change(change_part("appearance", zoom_percent=self.zoom.value()))


class _QuietSlider(QSlider):
    """Scrolling the page does not move it."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setRange(MIN_ZOOM_PERCENT, MAX_ZOOM_PERCENT)
        self.setSingleStep(_STEP_PERCENT)
        self.setPageStep(5 * _STEP_PERCENT)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
