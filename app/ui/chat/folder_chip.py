"""The folder of a chat beside the field: a button that attaches one, a chip that names it. Show; decide nothing."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton

from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

_SIGN: Final = "  ▾"
_MOST_WIDTH: Final = 320


class FolderButton(QToolButton):
    """Asks for a folder; hidden while the chat has one."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("flat")
        self.setAccessibleName(self.tr("Attach a folder"))
        said = self.tr("The model may read the files in it and asks before it changes any.")
        self.setAccessibleDescription(said)
        self.setToolTip(plain_tooltip(f"{self.tr('Attach a folder (Ctrl+Shift+O)')}\n{said}"))

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        size = theme.px(18)
        self.setFixedSize(theme.px(32), theme.px(32))
        self.setIconSize(QSize(size, size))
        self.setIcon(tinted_icon("folder", theme.muted, size=size))


class FolderChip(QPushButton):
    """Names the folder, cut where it doesn't fit; pressed, it shows what can be done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("folderChip")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._folder = ""
        self._is_there = True
        self._theme: Theme | None = None
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        self.setMaximumWidth(theme.px(_MOST_WIDTH))
        self._show()

    def show_folder(self, folder: str, *, is_there: bool) -> None:
        """Name a folder by its path, nothing for an empty one; say so if it can't be found."""
        if (folder, is_there) != (self._folder, self._is_there):
            self._folder, self._is_there = folder, is_there
            self._show()
            self.setVisible(bool(folder))

    @property
    def label(self) -> str:
        """What is said of the folder, in full."""
        name = PurePath(self._folder).name or self._folder
        return name if self._is_there else self.tr("{name}: not there any more").format(name=name)

    def sizeHint(self) -> QSize:
        width = self._frame_width() + self._text_width(self.label + _SIGN)
        return QSize(min(width, self.maximumWidth()), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        width = self._frame_width() + self._text_width("mmmm" + _SIGN)
        return QSize(min(width, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _show(self) -> None:
        if self._theme is not None:
            size = self._theme.px(16)
            self.setIconSize(QSize(size, size))
            name, colour = ("folder", self._theme.muted) if self._is_there else ("triangle-alert", self._theme.error)
            self.setIcon(tinted_icon(name, colour, disabled=colour, size=size))
        if self._is_there:
            said = self.tr("The model may read the files in it and asks before it changes any.")
        else:
            said = self.tr("The model can't read anything in it. Choose another folder, or detach it.")
        self.setAccessibleName(self.tr("Folder of this chat: {name}").format(name=self.label))
        self.setAccessibleDescription(f"{self._folder} {said}")
        self.setToolTip(plain_tooltip(f"{self._folder}\n{said}"))
        self._elide()
        self.updateGeometry()

    def _elide(self) -> None:
        room = self.width() - self._frame_width()
        shown = self.label + _SIGN
        if self._text_width(shown) > room:
            room -= self._text_width(_SIGN)
            shown = self.fontMetrics().elidedText(self.label, Qt.TextElideMode.ElideMiddle, max(room, 0)) + _SIGN
        self.setText(shown.replace("&", "&&"))

    def _frame_width(self) -> int:
        """Return what border, padding and sign take."""
        # Of an empty text Qt thinks that it was four letters.
        return super().sizeHint().width() - self._text_width(self.text().replace("&&", "&") or "XXXX")

    def _text_width(self, text: str) -> int:
        return self.fontMetrics().size(Qt.TextFlag.TextSingleLine, text).width()
