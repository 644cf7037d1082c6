"""What this program is, and whose work it stands on."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from app import APP_NAME, VERSION
from app.assets import resource


class AboutDialog(QDialog):
    """Version, licence, and the notices of the libraries."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About Muntin"))
        logo = QLabel()
        logo.setPixmap(QIcon(str(resource("icons", "muntin.svg"))).pixmap(QSize(48, 48)))
        name = QLabel(f"{APP_NAME} {VERSION}")
        font = name.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        font.setBold(True)
        name.setFont(font)
        purpose = QLabel(self.tr("A desktop chat with AI models. MIT licence."))
        for label in (name, purpose):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        words = QVBoxLayout()
        words.addWidget(name)
        words.addWidget(purpose)
        top = QHBoxLayout()
        top.addWidget(logo)
        top.addLayout(words, 1)
        notices = QPlainTextEdit(resource("notices.txt").read_text("utf-8"))
        notices.setReadOnly(True)
        notices.setAccessibleName(self.tr("Notices of the libraries"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addLayout(top)
        layout.addWidget(notices, 1)
        layout.addWidget(buttons)
        self.resize(min(620, max(320, parent.width() - 40)), 460)
