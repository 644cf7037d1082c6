"""Where a message is written: grows with its text, sends with Enter, keeps the draft otherwise."""

from typing import Final

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.domain.text import is_blank
from app.ui.chat.safe_document import SafeDocument
from app.ui.theme import Theme, tinted_icon

MOST_HEIGHT: Final = 0.4
"""Share of the window's height the field may grow to."""
MAX_COLUMN: Final = 784
"""Width in pixels of the column the transcript is set in, before any zoom."""


class ComposerField(QPlainTextEdit):
    """A plain text field in which Enter submits."""

    submitted = Signal()
    focus_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerField")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        # A second bar that comes and goes makes the first one come and go, without end.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.document().documentLayout().documentSizeChanged.connect(self.updateGeometry)
        self.enter_sends = True
        """Off: Ctrl+Enter submits and Enter starts a new line."""
        self._is_composing = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        held = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        sends = Qt.KeyboardModifier.NoModifier if self.enter_sends else Qt.KeyboardModifier.ControlModifier
        if is_enter and not self._is_composing and held == sends:
            event.accept()
            self.submitted.emit()
            return
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            # Qt would put in U+2028 here, which no model expects.
            self.insertPlainText("\n")
            self.ensureCursorVisible()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.insertPlainText(source.text())
        elif source.hasHtml():
            document = SafeDocument()
            document.setHtml(source.html())
            self.insertPlainText(document.toPlainText())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText() or source.hasHtml()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit(self.hasFocus())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit(self.hasFocus())

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().lineSpacing()
        lines = max(1, int(self.document().size().height()))
        wanted = lines * line + 2 * int(self.document().documentMargin()) + 2
        window = self.window()
        most = max(3 * line, int(window.height() * MOST_HEIGHT)) if window is not None else 10 * line
        return QSize(120, min(wanted, most))

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())


class Composer(QWidget):
    """The field, its button and the line below it.

    While a reply is written the button stops it and Enter keeps the draft. While a message is being
    written to disk the field can't be changed.
    """

    send_requested = Signal(str)
    stop_requested = Signal()
    text_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composerArea")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._is_streaming = False
        self._may_write = True
        self._is_busy = False
        self._hint_is_error = False
        self.field = ComposerField()
        self.field.setPlaceholderText(self.tr("Write a message…"))
        self.field.setAccessibleName(self.tr("Message"))
        self._button = QToolButton()
        self._button.setObjectName("sendButton")
        self._button.setProperty("isPrimary", "true")
        self._hint = QLabel()
        self._hint.setObjectName("composerHint")
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        self._hint.setWordWrap(True)
        self._frame = QFrame()
        self._frame.setObjectName("composer")
        inner = QHBoxLayout(self._frame)
        inner.setContentsMargins(12, 8, 8, 8)
        inner.setSpacing(8)
        inner.addWidget(self.field, 1)
        inner.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
        self._column = QWidget()
        stack = QVBoxLayout(self._column)
        stack.setContentsMargins(12, 0, 12, 8)
        stack.setSpacing(4)
        stack.addWidget(self._frame)
        stack.addWidget(self._hint)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(0)
        outer.addWidget(self._column, 1)
        outer.addStretch(0)
        self.field.submitted.connect(self.submit)
        self.field.focus_changed.connect(self._show_focus)
        self.field.textChanged.connect(self._text_changed)
        self._button.clicked.connect(self._press_button)
        self.set_theme(theme)
        self.set_hint("")

    def set_theme(self, theme: Theme) -> None:
        """Draw the button in the colours of `theme`, and all of it with its zoom."""
        self._column.setMaximumWidth(theme.px(MAX_COLUMN))
        self._button.setFixedSize(theme.px(32), theme.px(32))
        self._button.setIconSize(QSize(theme.px(18), theme.px(18)))
        self._send_icon = tinted_icon("arrow-up", theme.accent_text, disabled=theme.muted)
        self._stop_icon = tinted_icon("stop", theme.accent_text)
        self._show_button()

    def leave_right(self, width: int) -> None:
        """Leave `width` pixels free at the right, so that the field stands below the transcript's column."""
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 0, width, 0)

    def text(self) -> str:
        """Return what stands in the field, to the character; only paragraph separators become line feeds.

        Qt's plain text would turn no-break spaces into spaces.
        """
        return self.field.document().toRawText().replace("\u2029", "\n")

    def set_text(self, text: str) -> None:
        """Replace what stands in the field; the cursor goes behind it."""
        self.field.setPlainText(text)
        cursor = self.field.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.field.setTextCursor(cursor)

    @Slot(str)
    def go_on_typing(self, text: str) -> None:
        """Take over what was typed elsewhere, as if it had been typed here."""
        if not self.field.isReadOnly():
            self.field.setFocus()
            self.field.insertPlainText(text)

    def set_streaming(self, *, on: bool) -> None:
        """Say whether a reply is being written, so that Send is Stop."""
        if on != self._is_streaming:
            self._is_streaming = on
            if on or not self._hint_is_error:
                self.set_hint("")
        self._show_button()

    def set_writable(self, *, on: bool) -> None:
        """Say whether messages may be written here at all."""
        self.field.setReadOnly(not on or self._is_busy)
        if on != self._may_write:
            self._may_write = on
            self.field.setPlaceholderText(self.tr("Write a message…") if on else self.tr("This chat can only be read"))
            self.set_hint("")
        self._show_button()

    def set_busy(self, *, on: bool) -> None:
        """Say whether a message is on its way to disk or another chat is being opened: the text stands still."""
        self._is_busy = on
        self.field.setReadOnly(on or not self._may_write)
        self._show_button()

    def set_enter_sends(self, *, on: bool) -> None:
        """Say whether Enter sends, or Ctrl+Enter."""
        if on != self.field.enter_sends:
            self.field.enter_sends = on
            if not self._hint_is_error:
                self.set_hint("")
            self._show_button()

    def set_hint(self, text: str, *, is_error: bool = False) -> None:
        """Show a line below the field; empty shows how to send."""
        self._hint_is_error = is_error
        self._hint.setText(text or self._usual_hint())
        self._hint.setProperty("isError", is_error)
        self._hint.style().polish(self._hint)

    def _usual_hint(self) -> str:
        if self._is_streaming:
            return self.tr("Esc stops the reply")
        if not self._may_write:
            return ""
        if self.field.enter_sends:
            return self.tr("Enter sends, Shift+Enter starts a new line")
        return self.tr("Ctrl+Enter sends, Enter starts a new line")

    @Slot()
    def submit(self) -> None:
        """Ask to send what stands in the field; while a reply is written, say that the draft stays."""
        if not self._may_write or self._is_busy or is_blank(self.text()):
            return
        if self._is_streaming:
            self.set_hint(self.tr("Your draft is kept. Send it when the reply has ended, or stop the reply first."))
            return
        self.send_requested.emit(self.text())

    @Slot()
    def _press_button(self) -> None:
        if self._is_streaming:
            self.stop_requested.emit()
        else:
            self.submit()

    @Slot()
    def _text_changed(self) -> None:
        self._show_button()
        self.text_changed.emit()

    @Slot(bool)
    def _show_focus(self, has_focus: bool) -> None:  # noqa: FBT001 - a Qt slot
        self._frame.setProperty("hasFocus", has_focus)
        self._frame.style().polish(self._frame)

    def _show_button(self) -> None:
        name = self.tr("Stop the reply") if self._is_streaming else self.tr("Send")
        send_keys = self.tr("Enter") if self.field.enter_sends else self.tr("Ctrl+Enter")
        keys = self.tr("Esc") if self._is_streaming else send_keys
        self._button.setIcon(self._stop_icon if self._is_streaming else self._send_icon)
        self._button.setAccessibleName(name)
        self._button.setToolTip(f"{name} ({keys})")
        self._button.setEnabled(self._is_streaming or (self._may_write and not is_blank(self.text())))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.field.updateGeometry()
