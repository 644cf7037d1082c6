"""The button in a chat's header that names its model."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from app.ui.level_wording import level_word
from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

_SIGN = "  ▾"


class ModelButton(QPushButton):
    """Shows a name, cut where it doesn't fit, and a warning sign if the model can't be asked."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("modelButton")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._name = self._level = self._warning = self._reason = ""
        self._warning_icon = QIcon()
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw the sign in the colours of `theme`, and with its zoom."""
        size = theme.px(16)
        self._warning_icon = tinted_icon("triangle-alert", theme.error, disabled=theme.error, size=size)
        self.setIconSize(QSize(size, size))
        self._show()

    def show_model(self, name: str, *, level: str = "", warning: str = "") -> None:
        """Show which model the chat has and how long it thinks; `warning` is a sentence.

        `level` is a `ThinkingLevel`, empty for the default. Without a name there is nothing to press.
        """
        self._name, self._level, self._warning = name, level_word(level), warning
        self.setVisible(bool(name))
        self._show()

    def allow(self, *, on: bool, reason: str = "") -> None:
        """Let a model be chosen or not; `reason` is a sentence about why not."""
        self.setEnabled(on)
        self._reason = "" if on else reason
        self._show()

    def sizeHint(self) -> QSize:
        width = self._frame_width() + self._text_width(self._name + self._end)
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance("mmmm" + _SIGN), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _show(self) -> None:
        self.setIcon(self._warning_icon if self._warning else QIcon())
        name = self.tr("Model: {name}").format(name=self._name)
        if self._level:
            name = self.tr("{model}, thinking: {level}").format(model=name, level=self._level)
        self.setAccessibleName(name)
        # A warning says by itself what can be done.
        usual = "" if self._warning else self.tr("Choose another model: it answers from the next message on.")
        said = " ".join(filter(None, [self._warning, self._reason or usual]))
        self.setAccessibleDescription(said)
        keys = self.tr("Ctrl+L")
        self.setToolTip(plain_tooltip(f"{name} ({keys})\n{said}"))
        self._elide()
        self.updateGeometry()

    def _elide(self) -> None:
        room = min(self.width(), self.maximumWidth()) - self._frame_width()
        shown = self._name + self._end
        if self._text_width(shown) > room:
            room -= self._text_width(self._end)
            shown = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideRight, max(room, 0)) + self._end
        self.setText(shown.replace("&", "&&"))

    @property
    def _sign(self) -> str:
        """That there is something to choose."""
        return _SIGN if self.isEnabled() else ""

    @property
    def _end(self) -> str:
        """What stands behind the name."""
        return (f" · {self._level}" if self._level else "") + self._sign

    def _frame_width(self) -> int:
        """Return what border, padding and sign take."""
        # Of an empty text Qt thinks that it was four letters.
        return super().sizeHint().width() - self._text_width(self.text().replace("&&", "&") or "XXXX")

    def _text_width(self, text: str) -> int:
        return self.fontMetrics().size(Qt.TextFlag.TextSingleLine, text).width()
