"""The reader's text: pieces that come and go at either end, while what is read stays where it is."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from app.ui.theme import Theme

_CONTROL: Final = dict.fromkeys((0, 64976, 64977, 65532), "�")
"""Qt's text takes these for signs of its own."""


class ReaderText(QPlainTextEdit):
    """Plain text made of pieces, of which some come and go at either end; what is read stays where it is."""

    escaped = Signal()
    stepped = Signal(int)
    jumped = Signal(bool)
    accepted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._lengths: list[int] = []
        self._headings: list[int] = []
        self.has_gone = False
        """Whether the view has gone to the hit."""

    def clear_pieces(self) -> None:
        """Show nothing."""
        self._lengths, self._headings = [], []
        self.has_gone = False
        self.setExtraSelections([])
        self.clear()

    def piece_start(self, number: int) -> int:
        """Return where the text of a piece begins, in UTF-16 units, behind its heading."""
        return sum(self._lengths[:number]) + self._headings[number]

    def add_piece(self, text: str, heading: str, *, at_start: bool, closes: bool) -> None:
        """Put a piece before or behind all others; `closes` leaves a blank line behind it."""
        place, caret = self._top(), self.textCursor()
        ends = [caret.anchor(), caret.position()]
        cursor = QTextCursor(self.document())
        if not at_start:
            cursor.movePosition(QTextCursor.MoveOperation.End)
        begin = cursor.position()
        cursor.beginEditBlock()
        if heading:
            bold = QTextCharFormat()
            bold.setFontWeight(QFont.Weight.Bold)
            cursor.insertText(heading + "\n", bold)
        head = cursor.position() - begin
        cursor.insertText(text + ("\n\n" if closes else ""), QTextCharFormat())
        cursor.endEditBlock()
        length = cursor.position() - begin
        at = 0 if at_start else len(self._lengths)
        self._lengths.insert(at, length)
        self._headings.insert(at, head)
        # Qt takes a caret at the place of an insertion along.
        self._set_caret(*[end + length if at_start and at + 1 < len(self._lengths) else end for end in ends])
        self._go_top(place + length if at_start else place)

    def _set_caret(self, anchor: int, position: int) -> None:
        caret = self.textCursor()
        caret.setPosition(anchor)
        caret.setPosition(position, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(caret)

    def drop_pieces(self, count: int, *, at_start: bool) -> None:
        """Take pieces away."""
        place = self._top()
        total = sum(self._lengths)
        gone = sum(self._lengths[:count]) if at_start else sum(self._lengths[len(self._lengths) - count :])
        cursor = QTextCursor(self.document())
        cursor.setPosition(0 if at_start else total - gone)
        cursor.setPosition(gone if at_start else total, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        kept = slice(count, None) if at_start else slice(0, len(self._lengths) - count)
        self._lengths, self._headings = self._lengths[kept], self._headings[kept]
        self._go_top(max(0, place - gone) if at_start else place)

    def emphasise(self, span: tuple[int, int] | None, theme: Theme) -> None:
        """Mark a stretch, or none."""
        if span is None:
            self.setExtraSelections([])
            return
        mark = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(span[0])
        cursor.setPosition(span[1], QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        look.setBackground(theme.accent)
        look.setForeground(theme.accent_text)
        mark.cursor, mark.format = cursor, look
        self.setExtraSelections([mark])

    def go_to(self, position: int) -> None:
        """Bring a place into the middle of the view."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(position)
        self.setTextCursor(cursor)
        self.centerCursor()
        self.has_gone = True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        modifiers, key = event.modifiers(), event.key()
        if key == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.accepted.emit()
        elif modifiers == Qt.KeyboardModifier.AltModifier and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1)
        elif modifiers == Qt.KeyboardModifier.ControlModifier and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.jumped.emit(key == Qt.Key.Key_End)
        else:
            super().keyPressEvent(event)

    def _top(self) -> int:
        """Return the position of the first letter in view."""
        block = self.firstVisibleBlock()
        line = self.verticalScrollBar().value() - block.firstLineNumber()
        layout = block.layout()
        if 0 < line < layout.lineCount():
            return block.position() + layout.lineAt(line).textStart()
        return block.position()

    def _go_top(self, position: int) -> None:
        """Bring the line of a position to the top."""
        block = self.document().findBlock(position)
        # A block that was not laid out yet has no lines.
        self.document().documentLayout().blockBoundingRect(block)
        line = block.layout().lineForTextPosition(position - block.position())
        number = line.lineNumber() if line.isValid() else 0
        self.verticalScrollBar().setValue(block.firstLineNumber() + number)


def shown(text: str) -> str:
    """Return a text as Qt's document takes it: one sign for each end of line, none that it would take for its own."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n").translate(_CONTROL)
