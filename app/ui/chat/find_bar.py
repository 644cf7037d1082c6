"""The slim bar above the transcript in which a text is looked for; asks for things, does nothing itself."""

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QSizePolicy, QToolButton, QWidget

from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

TYPING_MS = 150
"""How long the person must pause before what is typed is looked for."""
NARROW_PX = 560
"""Below this width, before any zoom, what was found stands below the field."""
_ICON_PX = 16


class FindBar(QWidget):
    """A field, what was found, and the ways to the next, the previous, and out."""

    text_changed = Signal(str)
    """What is to be looked for, once the person pauses."""
    next_wanted = Signal()
    previous_wanted = Signal()
    closed = Signal()
    """The person has finished with it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("findBar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(self.tr("Find in chat"))
        self._theme = theme
        self.field = QLineEdit()
        self.field.setObjectName("findField")
        self.field.setPlaceholderText(self.tr("Find in this chat"))
        self.field.setAccessibleName(self.tr("Find in this chat"))
        self.field.setMinimumWidth(90)
        self.count = _label("findCount")
        self.note = _label("mutedText")
        self.note.setWordWrap(True)
        self.previous = self._button(self.tr("Previous (Shift+Enter)"), self.tr("Previous occurrence"))
        self.next = self._button(self.tr("Next (Enter)"), self.tr("Next occurrence"))
        self.shut = self._button(self.tr("Close (Esc)"), self.tr("Close find in chat"))
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._grid = QGridLayout(self)
        self._grid.setSpacing(4)
        self._grid.setColumnStretch(0, 1)
        self._is_narrow: bool | None = None
        self._connect()
        self._place()
        self.set_theme(theme)
        self.show_state("", can_step=False)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        size = theme.px(_ICON_PX)
        buttons = ((self.previous, "chevron-up"), (self.next, "chevron-down"), (self.shut, "x"))
        for button, icon in buttons:
            button.setIcon(tinted_icon(icon, theme.text, disabled=theme.border, size=size))
            button.setIconSize(QSize(size, size))
        self._grid.setContentsMargins(theme.px(12), theme.px(5), theme.px(8), theme.px(5))
        self._place()

    def stops(self) -> list[QWidget]:
        """Return what the Tab key stops at, in order."""
        return [self.field, self.previous, self.next, self.shut]

    def begin(self, text: str) -> None:
        """Let a text be typed over, or gone on with."""
        self._typing.stop()
        self.field.setText(text)
        self._typing.stop()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_state(self, count: str, *, note: str = "", can_step: bool, is_none: bool = False) -> None:
        """Say what was found so far, and something about it; `is_none` says that nothing was."""
        self.count.setText(count)
        self.count.setToolTip(plain_tooltip(note) if note else "")
        if self.count.property("isError") is not is_none:
            self.count.setProperty("isError", is_none)
            self.count.style().unpolish(self.count)
            self.count.style().polish(self.count)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.count.setVisible(bool(count) or not self._is_narrow)
        self.next.setEnabled(can_step)
        self.previous.setEnabled(can_step)

    def event(self, event: QEvent) -> bool:
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            # Else it would be taken for an action of the window.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match Qt.Key(event.key()):
            case Qt.Key.Key_Escape:
                self.closed.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self.focusWidget() is self.field:
                self._tell_text()
                (self.previous_wanted if is_shifted else self.next_wanted).emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                for button in (self.previous, self.next, self.shut):
                    if self.focusWidget() is button:
                        button.click()
            case _:
                super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _button(self, tooltip: str, name: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(tooltip)
        button.setAccessibleName(name)
        return button

    def _connect(self) -> None:
        self.field.textChanged.connect(self._wait_for_more)
        self._typing.timeout.connect(self._tell)
        self.next.clicked.connect(self.next_wanted)
        self.previous.clicked.connect(self.previous_wanted)
        self.shut.clicked.connect(self.closed)

    @Slot()
    def _wait_for_more(self) -> None:
        self._typing.start()

    @Slot()
    def _tell(self) -> None:
        self.text_changed.emit(self.field.text())

    def _tell_text(self) -> None:
        """Say at once what was typed: Enter doesn't wait."""
        if self._typing.isActive():
            self._typing.stop()
            self._tell()

    def _place(self) -> None:
        """Put what was found beside the field, or below it where there is no room."""
        is_narrow = self.width() < NARROW_PX * self._theme.zoom
        if is_narrow is self._is_narrow:
            return
        self._is_narrow = is_narrow
        grid = self._grid
        for widget in (self.field, self.count, self.previous, self.next, self.shut, self.note):
            grid.removeWidget(widget)
        grid.addWidget(self.field, 0, 0)
        buttons = (self.previous, self.next, self.shut)
        for column, button in enumerate(buttons, start=2):
            grid.addWidget(button, 0, column)
        if is_narrow:
            grid.addWidget(self.count, 1, 0, 1, 5)
        else:
            grid.addWidget(self.count, 0, 1)
        grid.addWidget(self.note, 2, 0, 1, 5)
        self.count.setVisible(bool(self.count.text()) or not is_narrow)


def _label(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
    return label
