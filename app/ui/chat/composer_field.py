"""The field a message is typed into, and what becomes of what is pasted or dropped there."""

from typing import Final

from PySide6.QtCore import QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QFocusEvent,
    QImage,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.ui.chat.attachments_mime import carried, may_carry
from app.ui.chat.safe_document import SafeDocument

MOST_HEIGHT: Final = 0.4
"""Share of the window's height the field may grow to."""
LONG_PASTE_CHARS: Final = 10_000
"""A longer paste becomes a file."""


class ComposerField(QPlainTextEdit):
    """A plain text field in which Enter submits, or Ctrl+Enter. Files, pictures and long texts are handed on."""

    submitted = Signal()
    up_pressed = Signal()
    """Up was pressed while nothing stands here."""
    files_given = Signal(list)
    image_given = Signal(QImage)
    long_text_given = Signal(str)
    paste_undone = Signal()
    """Undo was asked for right after a long paste had become a file."""
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
        self.has_pasted_file = False
        """Whether nothing has happened since a long paste became a file, so that Undo is about that."""
        self._is_composing = False
        self.textChanged.connect(self._forget_paste)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        held = event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier)
        sends = Qt.KeyboardModifier.NoModifier if self.enter_sends else Qt.KeyboardModifier.ControlModifier
        # Ctrl+Enter sends whatever Enter does.
        if is_enter and not self._is_composing and held in (sends, Qt.KeyboardModifier.ControlModifier):
            event.accept()
            self.submitted.emit()
            return
        if event.matches(QKeySequence.StandardKey.Undo):
            event.accept()
            self.undo()
            return
        if self._is_lone_up(event):
            event.accept()
            self.up_pressed.emit()
            return
        if is_enter and held == Qt.KeyboardModifier.ShiftModifier:
            # Qt would put in U+2028 here, which no model expects.
            self.insertPlainText("\n")
            self.ensureCursorVisible()
            return
        super().keyPressEvent(event)

    def _is_lone_up(self, event: QKeyEvent) -> bool:
        is_up = event.key() == Qt.Key.Key_Up and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return is_up and not event.isAutoRepeat() and not self._is_composing and self.document().isEmpty()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._is_composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    @property
    def is_composing(self) -> bool:
        """Whether an input method has something in the field that is not text yet."""
        return self._is_composing

    def undo(self) -> None:
        """Undo the last change, or that a long paste became a file."""
        if self.has_pasted_file and not self.isReadOnly():
            self.has_pasted_file = False
            self.paste_undone.emit()
        else:
            super().undo()

    def insertFromMimeData(self, source: QMimeData) -> None:
        found = carried(source)
        if found.paths:
            self.files_given.emit(list(found.paths))
        elif found.image is not None:
            self.image_given.emit(found.image)
        elif source.hasText():
            self._insert(source.text())
        elif source.hasHtml():
            document = SafeDocument()
            document.setHtml(source.html())
            self._insert(document.toPlainText())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText() or source.hasHtml() or may_carry(source)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if may_carry(event.mimeData()):
            # The page shows where files may be dropped.
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def _insert(self, text: str) -> None:
        if len(text) <= LONG_PASTE_CHARS:
            self.insertPlainText(text)
            return
        self.has_pasted_file = True
        self.long_text_given.emit(text)

    @Slot()
    def _forget_paste(self) -> None:
        self.has_pasted_file = False

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
