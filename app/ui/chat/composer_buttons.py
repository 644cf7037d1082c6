"""The buttons beside the field: Send, or Stop and Queue while a reply is written."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app.ui.theme import Theme, tinted_icon


class Moment(StrEnum):
    """When a message is sent that is written while a reply comes."""

    AFTER_STEP = "after_step"
    AFTER_TURN = "after_turn"
    NOW = "now"
    """At once: the reply ends."""


class ComposerButtons(QWidget):
    """Stop stands where Send was; Queue comes beside it as soon as there is something to queue."""

    submit_pressed = Signal()
    stop_pressed = Signal()
    queue_pressed = Signal(object)
    """The `Moment` that the person chose."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._is_streaming = False
        self._is_saving = False
        self.main = QToolButton()
        self.main.setObjectName("sendButton")
        self.main.setProperty("isPrimary", "true")
        self.queue = QToolButton()
        self.queue.setObjectName("flat")
        self.queue.setAccessibleName(self.tr("Queue the message"))
        self.queue.setToolTip(self.tr("Queue it for after this reply (Ctrl+Enter)"))
        self.when = QToolButton()
        self.when.setObjectName("queueWhen")
        self.when.setAccessibleName(self.tr("When to send the message"))
        self.when.setToolTip(self.tr("When to send it"))
        self.when.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.when.setMenu(self._make_menu())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.queue)
        layout.addWidget(self.when)
        layout.addSpacing(2)
        layout.addWidget(self.main)
        self.queue.clicked.connect(self._queue)
        self.main.clicked.connect(self._press)
        self.set_theme(theme)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        for moment, text in (
            (Moment.AFTER_STEP, self.tr("After this &step")),
            (Moment.AFTER_TURN, self.tr("After this &turn")),
            (Moment.NOW, self.tr("&Now (ends the reply)")),
        ):
            action = QAction(text, menu)
            action.triggered.connect(lambda _on=False, moment=moment: self.queue_pressed.emit(moment))
            menu.addAction(action)
        return menu

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        size = theme.px(18)
        for button in (self.main, self.queue):
            button.setFixedSize(theme.px(32), theme.px(32))
            button.setIconSize(QSize(size, size))
        self.when.setFixedSize(theme.px(14), theme.px(32))
        self.when.setIconSize(QSize(theme.px(12), theme.px(12)))
        self.queue.setIcon(tinted_icon("list-plus", theme.accent, size=size))
        self.when.setIcon(tinted_icon("chevron-down", theme.muted, size=theme.px(12)))
        self._send_icon = tinted_icon("arrow-up", theme.accent_text, disabled=theme.muted, size=size)
        self._save_icon = tinted_icon("check", theme.accent_text, disabled=theme.muted, size=size)
        self._stop_icon = tinted_icon("stop", theme.accent_text, size=size)
        self._show_icon()

    def show_for(
        self, *, is_streaming: bool, is_editing: bool, may_send: bool, send_keys: str, saves: bool | None = None
    ) -> None:
        """Offer what can be done now; `may_send` says whether there is something, and a place for it.

        `saves` says whether what is being edited is saved rather than sent; it is unless that is said.
        """
        saves = is_editing if saves is None else saves
        self._is_streaming, self._is_saving = is_streaming, saves and not is_streaming
        for button in (self.queue, self.when):
            button.setVisible(is_streaming and may_send and not is_editing)
        name, keys = self.tr("Send"), send_keys
        if is_streaming:
            name, keys = self.tr("Stop the reply"), self.tr("Esc")
        elif saves:
            name = self.tr("Save the change")
        self.main.setAccessibleName(name)
        self.main.setToolTip(self.tr("Stop the reply") if is_streaming and is_editing else f"{name} ({keys})")
        self.main.setEnabled(is_streaming or may_send)
        self._show_icon()

    def stops(self) -> list[QWidget]:
        """Return what the Tab key stops at, in order."""
        return [self.queue, self.when, self.main]

    def _show_icon(self) -> None:
        idle = self._save_icon if self._is_saving else self._send_icon
        self.main.setIcon(self._stop_icon if self._is_streaming else idle)

    @Slot()
    def _queue(self) -> None:
        self.queue_pressed.emit(Moment.AFTER_TURN)

    @Slot()
    def _press(self) -> None:
        (self.stop_pressed if self._is_streaming else self.submit_pressed).emit()
