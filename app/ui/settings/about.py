"""About: what this program is, and whose work it stands on."""

from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout

from app import APP_NAME, VERSION
from app.assets import resource
from app.ui.settings.choices import Choices
from app.ui.settings.page import SettingsPage, plain_label

_NOTICES_LINES: Final = 18


class AboutPage(SettingsPage):
    """Version, licence, and the notices of the libraries."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("About")
        logo = QLabel()
        logo.setPixmap(QIcon(str(resource("icons", "muntin.svg"))).pixmap(QSize(48, 48)))
        name = plain_label(f"{APP_NAME} {VERSION}", name="settingsTitle")
        purpose = plain_label(self.tr("A desktop chat with AI models whose context windows roll over. MIT licence."))
        words = QVBoxLayout()
        words.addWidget(name)
        words.addWidget(purpose)
        top = QHBoxLayout()
        top.setContentsMargins(8, 8, 8, 8)
        top.setSpacing(12)
        top.addWidget(logo)
        top.addLayout(words, 1)
        self.column.addLayout(top)
        notices = QPlainTextEdit(resource("notices.txt").read_text("utf-8"))
        notices.setReadOnly(True)
        notices.setTabChangesFocus(True)
        notices.setAccessibleName(self.tr("Notices of the libraries"))
        notices.setMinimumHeight(notices.fontMetrics().lineSpacing() * _NOTICES_LINES)
        self.add_row(
            self.tr("Libraries"),
            notices,
            note=self.tr("Muntin stands on the work of others. These are their licences."),
            words=self.tr("version licence open source"),
            is_stacked=True,
        )
