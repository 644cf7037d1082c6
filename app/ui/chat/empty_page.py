"""What an empty chat shows: who one is talking to, and three ways to begin."""

from PySide6.QtCore import QEvent, QSize, Qt, Signal
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
_PROMPTS = 3


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
        self._about = _label("")
        self._about.setObjectName("mutedText")
        layout.addWidget(self._about)
        layout.addSpacing(8)
        self.prompts = [self._prompt_button() for _ in range(_PROMPTS)]
        for button in self.prompts:
            layout.addWidget(button)
        self.show_practice()
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
        points = QFontInfo(QApplication.font()).pointSizeF() * _HEADING_SCALE
        # A font that is set is lost where the style sheet of the program takes over.
        self._heading.setStyleSheet(f"font-size: {points:.1f}pt; font-weight: 700")
        self._column_width = theme.px(COLUMN_WIDTH)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._column.setFixedWidth(min(self._column_width, self.viewport().width()))

    def show_practice(self) -> None:
        """Say that the built-in model answers, and offer what it can do."""
        about = self.tr(
            "You are talking to the Practice model: a small rule-based assistant inside Muntin. "
            "It works offline, needs no key, and everything you write stays on this computer. "
            "Other models are at the top right."
        )
        self._offer(about, self.tr("What is Muntin?"), self.tr("help"), self.tr("write 300 words"))

    def show_model(self, name: str, provider: str) -> None:
        """Say which model answers and who gets what is written."""
        about = self.tr("You are talking to {name}. What you write is sent to {provider}.")
        self._offer(
            about.format(name=name, provider=provider),
            self.tr("Suggest ten titles for a story set on an island"),
            self.tr("What should I ask myself before I begin a research project?"),
            self.tr("Show me how to outline a long article"),
        )

    def _offer(self, about: str, *prompts: str) -> None:
        self._about.setText(about)
        for button, prompt in zip(self.prompts, prompts, strict=True):
            button.show_prompt(prompt)

    def _prompt_button(self) -> "_PromptButton":
        button = _PromptButton()
        button.clicked.connect(lambda: self.prompt_chosen.emit(button.prompt))
        return button


class _PromptButton(QPushButton):
    """Offers a message, in as many lines as it takes."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = ""
        self.setObjectName("prompt")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_prompt(self, prompt: str) -> None:
        self.prompt = prompt
        self.setToolTip(self.tr("Send “{prompt}”").format(prompt=prompt))
        self.setAccessibleName(prompt)
        self._wrap()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._wrap()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._wrap()

    def _wrap(self) -> None:
        """Break the lines where they end: Qt's own buttons cut them."""
        metrics = self.fontMetrics()
        frame = super().sizeHint().width() - metrics.size(0, self.text() or "XXXX").width()
        lines = [""]
        for word in self.prompt.split():
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and metrics.horizontalAdvance(longer) > self.width() - frame:
                lines.append(word)
            else:
                lines[-1] = longer
        self.setText("\n".join(lines))


def _label(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    label.setWordWrap(True)
    return label
