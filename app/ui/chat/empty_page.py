"""What an empty chat shows: who one is talking to, and three ways to begin."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFontInfo, QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.assets import resource
from app.ui.theme import Theme

COLUMN_WIDTH = 460
"""In pixels, before any zoom."""
_LOGO = 56
_HEADING_SCALE = 1.5


class EmptyPage(QScrollArea):
    """Offers sample prompts; `prompt_chosen` carries the text to send."""

    prompt_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._column = QWidget()
        layout = QVBoxLayout(self._column)
        layout.setContentsMargins(16, 24, 16, 24)
        layout.setSpacing(10)
        self._column_width = COLUMN_WIDTH
        self._logo = QLabel()
        self._logo.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self._logo)
        self._heading = _label(self.tr("What would you like to try?"))
        layout.addWidget(self._heading)
        about = _label(
            self.tr(
                "You are talking to the Practice model: a small rule-based assistant inside Muntin. "
                "It works offline, needs no key, and everything you write stays on this computer."
            )
        )
        about.setObjectName("mutedText")
        layout.addWidget(about)
        layout.addSpacing(8)
        for prompt in (self.tr("What is Muntin?"), self.tr("help"), self.tr("write 300 words")):
            layout.addWidget(self._prompt_button(prompt))
        holder = QWidget()
        holder.setObjectName("emptyPage")
        holder.setMinimumWidth(1)
        across = QHBoxLayout()
        across.addStretch(1)
        across.addWidget(self._column)
        across.addStretch(1)
        outer = QVBoxLayout(holder)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(2)
        outer.addLayout(across)
        outer.addStretch(3)
        self.setWidget(holder)

    def set_theme(self, theme: Theme) -> None:
        """Show everything with the zoom of `theme`."""
        size = theme.px(_LOGO)
        self._logo.setPixmap(QIcon(str(resource("icons", "muntin.svg"))).pixmap(QSize(size, size)))
        font = QApplication.font()
        font.setPointSizeF(QFontInfo(font).pointSizeF() * _HEADING_SCALE)
        font.setBold(True)
        self._heading.setFont(font)
        self._column_width = theme.px(COLUMN_WIDTH)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._column.setFixedWidth(min(self._column_width, self.viewport().width()))

    def _prompt_button(self, prompt: str) -> QPushButton:
        button = QPushButton(prompt)
        button.setObjectName("prompt")
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.setToolTip(self.tr("Send “{prompt}”").format(prompt=prompt))
        button.clicked.connect(lambda: self.prompt_chosen.emit(prompt))
        return button


def _label(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    label.setWordWrap(True)
    return label
