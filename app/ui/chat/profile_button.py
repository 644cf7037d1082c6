"""The button in a chat's header that names its profile."""

from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

_SIGN: Final = "  ▾"


class ProfileButton(QPushButton):
    """Shows a name, cut where it doesn't fit; an icon where there is no room for names."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("modelButton")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._name = self._reason = ""
        self._is_missing = self._is_short = False
        self._most_width = self.maximumWidth()
        self._icon = self._warning_icon = QIcon()
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw the signs in the colours of `theme`, and with its zoom."""
        size = theme.px(16)
        self._icon = tinted_icon("person", theme.muted, disabled=theme.muted, size=size)
        self._warning_icon = tinted_icon("triangle-alert", theme.error, disabled=theme.error, size=size)
        self.setIconSize(QSize(size, size))
        self._show()

    def show_profile(self, name: str, *, is_missing: bool = False) -> None:
        """Show who answers in the chat; without a name there is nothing to press."""
        self._name, self._is_missing = name, is_missing
        self.setVisible(bool(name))
        self._show()

    def allow(self, *, on: bool, reason: str = "") -> None:
        """Let a profile be chosen or not; `reason` is a sentence about why not."""
        self.setEnabled(on)
        self._reason = "" if on else reason
        self._show()

    def shorten(self, *, on: bool) -> None:
        """Show an icon instead of the name, or the name again."""
        if on != self._is_short:
            self._is_short = on
            self._show()

    def leave_room(self, width: int) -> None:
        """Take no more than `width` pixels, but always what the icon or the first letters need."""
        self._most_width = width
        self._show()

    def sizeHint(self) -> QSize:
        width = self._frame_width() + self._text_width(self._whole)
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        least = self._sign if self._is_short else "mmm" + _SIGN
        return QSize(self._frame_width() + self._text_width(least), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _show(self) -> None:
        usual = self._icon if self._is_short else QIcon()
        self.setIcon(self._warning_icon if self._is_missing else usual)
        name = self.tr("Profile: {name}").format(name=self._name)
        self.setAccessibleName(name)
        if self._is_missing:
            said = self.tr("The profile of this chat is gone. Choose another one to go on.")
        else:
            said = self.tr("Who answers, and which tools may be used. Another one answers from the next message on.")
        said = f"{said} {self._reason}".strip()
        self.setAccessibleDescription(said)
        self.setToolTip(plain_tooltip(f"{name}\n{said}"))
        self.setMaximumWidth(max(self._most_width, self.minimumSizeHint().width()))
        self._elide()
        self.updateGeometry()

    def _elide(self) -> None:
        room = min(self.width(), self.maximumWidth()) - self._frame_width()
        shown = self._whole
        if not self._is_short and self._text_width(shown) > room:
            room -= self._text_width(self._sign)
            shown = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideRight, max(room, 0)) + self._sign
        self.setText(shown.replace("&", "&&"))

    @property
    def _whole(self) -> str:
        return self._sign.strip() if self._is_short else self._name + self._sign

    @property
    def _sign(self) -> str:
        """That there is something to choose."""
        return _SIGN if self.isEnabled() else ""

    def _frame_width(self) -> int:
        """Return what border, padding and icon take."""
        # Of an empty text Qt thinks that it was four letters.
        return super().sizeHint().width() - self._text_width(self.text().replace("&&", "&") or "XXXX")

    def _text_width(self, text: str) -> int:
        return self.fontMetrics().size(Qt.TextFlag.TextSingleLine, text).width()
