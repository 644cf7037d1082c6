"""What an empty chat shows: who one is talking to, and three ways to begin."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.assets import resource

COLUMN_WIDTH = 460


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
        logo = QLabel()
        logo.setPixmap(QIcon(str(resource("icons", "muntin.svg"))).pixmap(QSize(56, 56)))
        logo.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(logo)
        heading = _label(self.tr("What would you like to try?"))
        font = heading.font()
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        heading.setFont(font)
        layout.addWidget(heading)
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._column.setFixedWidth(min(COLUMN_WIDTH, self.viewport().width()))

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
