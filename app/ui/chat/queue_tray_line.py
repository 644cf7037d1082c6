"""One waiting message as a line of the tray: its text, when it is sent, and what may be done with it."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QGridLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from app.domain.queue import QueuedMessage, When
from app.ui.chat.one_line import OneLine
from app.ui.chat.queue_tray_model import QueueModel, names_of
from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

if TYPE_CHECKING:
    from collections.abc import Callable

    Choose = Callable[["Wish"], None]


class Wish(Enum):
    """What a person may want of a waiting message."""

    SEND = auto()
    EDIT = auto()
    REMOVE = auto()
    MOVE_UP = auto()
    MOVE_DOWN = auto()
    AFTER_STEP = auto()
    AFTER_TURN = auto()


WHENS: Final = {Wish.AFTER_STEP: When.AFTER_STEP, Wish.AFTER_TURN: When.AFTER_TURN}
_BUTTONS: Final = {Wish.SEND: "arrow-up", Wish.EDIT: "pencil", Wish.REMOVE: "x"}
_MORE: Final = "ellipsis"
_NOTES_PX: Final = 260
"""Most width of what is said beside a text, before any zoom."""


class QueueLine(QWidget):
    """Presses on anything but a button are the list's: it chooses and drags. The keyboard is the list's too."""

    wished = Signal(str, object)
    """Id of the message, and a `Wish`."""

    def __init__(self, model: QueueModel, message: QueuedMessage, theme: Theme) -> None:
        super().__init__()
        self._model = model
        self._id = message.id
        self._is_narrow: bool | None = None
        self._may_change = True
        self._text = OneLine()
        self._notes = OneLine()
        self._notes.setObjectName("mutedText")
        self._moment_words = QLabel()
        self._moment_words.setTextFormat(Qt.TextFormat.PlainText)
        self._moment_words.setObjectName("mutedText")
        self.moment = self._make_button("", "queueMoment")
        self.moment.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.moment.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.buttons = {wish: self._make_button(name, "remove") for wish, name in wish_names().items()}
        for wish, button in self.buttons.items():
            button.clicked.connect(lambda _on=False, wish=wish: self.wished.emit(self._id, wish))
        self.more = self._make_button(_tr("More"), "remove")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        for child in (self._text, self._notes, self._moment_words):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._grid = QGridLayout(self)
        self._grid.setVerticalSpacing(0)
        self.show_message(message)
        self.set_theme(theme)

    def _make_button(self, name: str, style: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(style)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setToolTip(name)
        return button

    def show_message(self, message: QueuedMessage) -> None:
        """Show the message as it is now."""
        text = self._model.text_of(message)
        self._text.setText(text)
        files = self._model.files_words(message) if message.text.strip() else ""
        self._notes.setText(" · ".join(words for words in (files, self._model.describe(message)) if words))
        when = self._model.when_words(message.when)
        self._moment_words.setText(when)
        self.moment.setText(f"{when} ▾")
        self.moment.setAccessibleName(_tr("Sent {when}: {text}").format(when=when, text=text))
        self.moment.setMenu(_fresh(self.moment, moment_menu(self, message, self._wish)))
        self.moment.setToolTip(_tr("When it is sent"))
        self.more.setMenu(_fresh(self.more, wish_menu(self, message, self._wish)))
        self.more.setAccessibleName(_tr("What to do with: {text}").format(text=text))
        for wish, name in wish_names().items():
            self.buttons[wish].setAccessibleName(f"{name}: {text}")
        said = [message.text.strip()[:1_000], names_of(message.attachments), self._model.describe(message)]
        whole = "\n".join(each for each in said if each)
        self.setToolTip(plain_tooltip(whole))
        # A screen reader would read the tags of the tooltip.
        self.setAccessibleDescription(whole)

    def set_changeable(self, *, on: bool) -> None:
        """Say whether anything may be done with the message here."""
        self._may_change = on
        self._show_controls()

    def set_narrow(self, *, on: bool) -> None:
        """Stand in two lines, with one button for all there is to do."""
        if on == self._is_narrow:
            return
        self._is_narrow = on
        for at in reversed(range(self._grid.count())):
            self._grid.takeAt(at)
        for column in range(8):
            self._grid.setColumnStretch(column, 0)
        self._grid.setHorizontalSpacing(self._narrow_gap if on else self._wide_gap)
        if on:
            self._lay_out_narrow()
        else:
            self._lay_out_wide()
        self._show_controls()

    def _lay_out_wide(self) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        self._grid.addWidget(self._text, 0, 0)
        self._notes.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._grid.addWidget(self._notes, 0, 1)
        self._grid.addWidget(self._moment_words, 0, 2, middle)
        self._grid.addWidget(self.moment, 0, 2, middle)
        for column, button in enumerate(self.buttons.values(), start=3):
            self._grid.addWidget(button, 0, column, middle)
        self._grid.setColumnStretch(0, 1)

    def _lay_out_narrow(self) -> None:
        self._notes.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._grid.addWidget(self._text, 0, 0, 1, 2)
        self._grid.addWidget(self._moment_words, 1, 0)
        self._grid.addWidget(self.moment, 1, 0)
        self._grid.addWidget(self._notes, 1, 1)
        self._grid.addWidget(self.more, 0, 2, 2, 1, Qt.AlignmentFlag.AlignVCenter)
        self._grid.setColumnStretch(1, 1)

    def _show_controls(self) -> None:
        for button in self.buttons.values():
            button.setVisible(self._may_change and not self._is_narrow)
        self.more.setVisible(self._may_change and bool(self._is_narrow))
        self.moment.setVisible(self._may_change)
        self._moment_words.setVisible(not self._may_change)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._grid.setContentsMargins(theme.px(10), theme.px(2), theme.px(4), theme.px(2))
        self._wide_gap, self._narrow_gap = theme.px(6), theme.px(2)
        self._grid.setHorizontalSpacing(self._narrow_gap if self._is_narrow else self._wide_gap)
        self._notes.setMaximumWidth(theme.px(_NOTES_PX))
        size = theme.px(14)
        icons = {**{self.buttons[wish]: icon for wish, icon in _BUTTONS.items()}, self.more: _MORE}
        for button, icon in icons.items():
            button.setIcon(tinted_icon(icon, theme.muted, size=size))
            button.setIconSize(QSize(size, size))
            button.setFixedSize(theme.px(24), theme.px(24))

    def _wish(self, wish: Wish) -> None:
        self.wished.emit(self._id, wish)


def wish_names() -> dict[Wish, str]:
    """Return the names of what has a button of its own."""
    return {
        Wish.SEND: _tr("Send now"),
        Wish.EDIT: _tr("Change"),
        Wish.REMOVE: _tr("Remove"),
    }


def moment_menu(parent: QWidget, message: QueuedMessage, choose: Choose) -> QMenu:
    """Return a menu of the moments at which the message may be sent."""
    menu = QMenu(parent)
    _add_moments(menu, message, choose)
    return menu


def wish_menu(parent: QWidget, message: QueuedMessage, choose: Choose) -> QMenu:
    """Return a menu of all that may be done with the message."""
    menu = QMenu(parent)
    keys = {
        Wish.SEND: "Ctrl+Shift+Return",
        Wish.EDIT: "F2",
        Wish.REMOVE: "Del",
        Wish.MOVE_UP: "Alt+Up",
        Wish.MOVE_DOWN: "Alt+Down",
    }
    names = {**wish_names(), Wish.MOVE_UP: _tr("Move up"), Wish.MOVE_DOWN: _tr("Move down")}
    for wish, name in names.items():
        action = menu.addAction(name)
        # Shown only: the list knows its keys.
        action.setShortcut(QKeySequence(keys[wish]))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setShortcutVisibleInContextMenu(True)
        action.triggered.connect(lambda _on=False, wish=wish: choose(wish))
    menu.addSeparator()
    _add_moments(menu, message, choose)
    return menu


def _add_moments(menu: QMenu, message: QueuedMessage, choose: Choose) -> None:
    group = QActionGroup(menu)
    for wish, text in ((Wish.AFTER_STEP, _tr("After this step")), (Wish.AFTER_TURN, _tr("After this turn"))):
        action = QAction(text, menu)
        action.setCheckable(True)
        action.setChecked(WHENS[wish] is message.when)
        action.triggered.connect(lambda _on=False, wish=wish: choose(wish))
        group.addAction(action)
        menu.addAction(action)


def _fresh(button: QToolButton, menu: QMenu) -> QMenu:
    before = button.menu()
    if before is not None:
        before.deleteLater()
    return menu


def _tr(text: str) -> str:
    return QCoreApplication.translate("QueueTray", text)
