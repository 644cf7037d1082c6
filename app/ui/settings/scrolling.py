"""The area a page of the settings is scrolled in."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea

from app.ui.settings.page import SettingsPage


def scrolled(page: SettingsPage) -> QScrollArea:
    """Return an area with `page` in it."""
    area = QScrollArea()
    area.setObjectName("settingsArea")
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    # A bar that comes and goes would change the width, and with it the height, without end.
    area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    bar = area.verticalScrollBar()
    bar.setEnabled(False)
    bar.rangeChanged.connect(lambda least, most: bar.setEnabled(most > least))
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    return area
