"""The button above the lower edge that brings the reader back to the latest words."""

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.ui.theme import Theme


class JumpButton(QPushButton):
    """Says how many items are new."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()
        self.show_count(0)

    def show_count(self, count: int) -> None:
        """Say that `count` items are new."""
        text = self.tr("Jump to latest")
        if count:
            text = self.tr("Jump to latest (%1 new)").replace("%1", QLocale().toString(count))
        self.setText("↓  " + text)
        self.setAccessibleName(text)
        self.adjustSize()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of `theme`."""
        px = theme.px
        self.setStyleSheet(
            f"QPushButton {{ background: {theme.surface.name()}; color: {theme.text.name()};"
            f" border: 1px solid {theme.border.name()}; border-radius: {px(13)}px; padding: {px(6)}px {px(16)}px }}"
            f"QPushButton:hover {{ background: {theme.hover.name()} }}"
            f"QPushButton:focus {{ border: 2px solid {theme.accent.name()}; padding: {px(6) - 1}px {px(16) - 1}px }}"
        )
        self.adjustSize()

    def place(self, *, width: int, bottom: int) -> None:
        """Stand centred in that width, above `bottom`."""
        self.adjustSize()
        wide = min(self.width(), width - 16)
        self.setGeometry((width - wide) // 2, bottom - self.height() - 12, wide, self.height())
