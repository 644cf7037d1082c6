"""The reader below the list: the whole text of an item or a window, as much of it as is near."""

from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.domain.windows import HistoryItem
from app.ui.history.delegate import units
from app.ui.history.reading import Emphasis, Piece, Reading
from app.ui.history.wording import (
    ModelName,
    item_time,
    kind_words,
    marks,
    number_text,
    speaker,
    tools_text,
    window_name,
)
from app.ui.theme import Theme, tinted_icon

_NEAR_LINES: Final = 12
"""So near the end more is fetched."""
_ICON: Final = 16
_MARGIN: Final = 6
_CONTROL: Final = dict.fromkeys((0, 64976, 64977, 65532), "�")
"""Qt's text takes these for signs of its own."""


class Reader(QWidget):
    """Shows what a `Reading` has; asks it for more as the person scrolls."""

    closed = Signal()
    previous_wanted = Signal()
    next_wanted = Signal()
    go_wanted = Signal()
    copy_wanted = Signal()
    quote_wanted = Signal()
    menu_wanted = Signal(QWidget)
    """The menu of everything that can be done, below this button."""

    def __init__(self, reading: Reading, theme: Theme, model_name: ModelName) -> None:
        super().__init__()
        self.setObjectName("historyReader")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._reading = reading
        self._model_name = model_name
        self._theme = theme
        self._covers = False
        self.text = _ReaderText()
        self.text.setAccessibleName(self.tr("Text of the message"))
        self._title = QLabel()
        self._title.setObjectName("chatTitle")
        self._details = QLabel()
        self._place = QLabel()
        for label in (self._title, self._details, self._place):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._details.setObjectName("mutedText")
        self._place.setObjectName("mutedText")
        self.back = self._tool(self.tr("Back to the list (Esc)"))
        self.previous = self._tool(self.tr("Previous message (Alt+Up)"))
        self.next = self._tool(self.tr("Next message (Alt+Down)"))
        self.go = QPushButton(self.tr("Show in chat"))
        self.copy = self._tool(self.tr("Copy"))
        self.quote = self._tool(self.tr("Quote in your message"))
        self.menu = self._tool(self.tr("More"))
        self.retry = QPushButton(self.tr("Try again"))
        self._lay_out()
        self._connect()
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        size = theme.px(_ICON)
        names = {
            self.back: "arrow-left" if self._covers else "x",
            self.previous: "chevron-up",
            self.next: "chevron-down",
            self.copy: "copy",
            self.quote: "text-quote",
            self.menu: "ellipsis",
        }
        for button, name in names.items():
            button.setIcon(tinted_icon(name, theme.muted, size=size))
            button.setIconSize(QSize(size, size))
        self.text.document().setDocumentMargin(theme.px(_MARGIN))
        self._show_emphasis()

    def set_covering(self, *, on: bool) -> None:
        """Say whether the reader stands in the place of the list, rather than below it."""
        if on != self._covers:
            self._covers = on
            self.set_theme(self._theme)

    def selected_text(self) -> str:
        """Return what is selected, with line feeds."""
        return self.text.textCursor().selectedText().replace("\u2029", "\n")

    # Building

    def _tool(self, name: str) -> QToolButton:
        button = QToolButton()
        button.setObjectName("flat")
        button.setToolTip(name)
        button.setAccessibleName(name.split(" (", maxsplit=1)[0])
        return button

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._title)
        words.addWidget(self._details)
        head = QHBoxLayout()
        head.setSpacing(4)
        head.addWidget(self.back)
        head.addLayout(words, 1)
        head.addWidget(self.previous)
        head.addWidget(self.next)
        foot = QHBoxLayout()
        foot.setSpacing(4)
        foot.addWidget(self.go)
        foot.addStretch(1)
        for button in (self.copy, self.quote, self.menu):
            foot.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 8)
        layout.setSpacing(6)
        layout.addLayout(head)
        layout.addWidget(self.text, 1)
        layout.addWidget(self._place)
        layout.addWidget(self.retry)
        layout.addLayout(foot)

    def _connect(self) -> None:
        reading = self._reading
        reading.began.connect(self._begin)
        reading.added.connect(self._add)
        reading.dropped.connect(self._drop)
        reading.settled.connect(self._settle)
        reading.failed.connect(self._show_failure)
        self.back.clicked.connect(self.closed)
        self.text.escaped.connect(self.closed)
        self.text.stepped.connect(lambda by: self.next_wanted.emit() if by > 0 else self.previous_wanted.emit())
        self.text.jumped.connect(lambda to_end: reading.jump(to_end=to_end))
        self.text.accepted.connect(self.go_wanted)
        self.text.verticalScrollBar().valueChanged.connect(self._look_ahead)
        self.previous.clicked.connect(self.previous_wanted)
        self.next.clicked.connect(self.next_wanted)
        self.go.clicked.connect(self.go_wanted)
        self.copy.clicked.connect(self.copy_wanted)
        self.quote.clicked.connect(self.quote_wanted)
        self.menu.clicked.connect(lambda: self.menu_wanted.emit(self.menu))
        self.retry.clicked.connect(reading.try_again)

    # Showing

    @Slot()
    def _begin(self) -> None:
        self.text.clear_pieces()
        self.retry.hide()
        self._place.setText(self.tr("Loading…"))
        item, window = self._reading.item, self._reading.window
        for button in (self.go, self.copy, self.quote, self.previous, self.next):
            button.setVisible(item is not None)
        if item is not None:
            self._title.setText(speaker(item, self._model_name))
            self._details.setText(" · ".join(filter(None, [item_time(item), *marks(item), tools_text(item)])))
        elif window is not None:
            self._title.setText(f"{window_name(window)} · {kind_words(window)}")
            self._details.setText(self.tr("All messages of the window, in order"))
        self._details.setToolTip(self._details.text())

    @Slot(object, bool)
    def _add(self, piece: Piece, at_start: bool) -> None:  # noqa: FBT001 - a Qt slot
        heading = ""
        if self._reading.window is not None and piece.offset == 0:
            heading = self._heading(piece.item)
        closes = self._reading.window is not None and piece.next_offset is None
        self.text.add_piece(shown(piece.text), heading, at_start=at_start, closes=closes)

    def _heading(self, item: HistoryItem) -> str:
        return " · ".join(filter(None, [speaker(item, self._model_name), item_time(item), *marks(item)]))

    @Slot(int, bool)
    def _drop(self, count: int, at_start: bool) -> None:  # noqa: FBT001 - a Qt slot
        self.text.drop_pieces(count, at_start=at_start)

    @Slot()
    def _settle(self) -> None:
        self.retry.hide()
        self._show_place()
        self._show_emphasis(scroll=True)
        # A text that doesn't fill the view never scrolls.
        QTimer.singleShot(0, self, self._look_ahead)

    @Slot(str)
    def _show_failure(self, reason: str) -> None:
        self._place.setText(reason)
        self._place.setToolTip(reason)
        self.retry.show()

    def _show_place(self) -> None:
        """Say which part of a long text is there."""
        pieces = self._reading.pieces
        self._place.setToolTip("")
        if not pieces:
            self._place.setText(self.tr("Nothing was said here."))
        elif self._reading.is_cut and not self._reading.has_more:
            self._place.setText(self.tr("It goes on: export the window to read all of it."))
        elif self._reading.item is not None and not pieces[-1].total:
            self._place.setText(self.tr("No text"))
        elif self._reading.item is not None and (pieces[0].offset or pieces[-1].next_offset is not None):
            end = pieces[-1].offset + len(pieces[-1].text)
            words = self.tr("Characters {first} to {last} of {total}")
            numbers = [number_text(number) for number in (pieces[0].offset + 1, end, pieces[-1].total)]
            self._place.setText(words.format(first=numbers[0], last=numbers[1], total=numbers[2]))
        else:
            self._place.setText("")
        self._place.setVisible(bool(self._place.text()))

    def _show_emphasis(self, *, scroll: bool = False) -> None:
        """Mark the hit that led here; go to it once."""
        mark = self._reading.emphasis
        span = self._span(mark) if mark is not None else None
        self.text.emphasise(span, self._theme)
        if scroll and span is not None and not self.text.has_gone:
            self.text.go_to(span[0])

    def _span(self, mark: Emphasis) -> tuple[int, int] | None:
        """Return begin and end of a hit in the shown text, if it is there as a whole."""
        pieces = self._reading.pieces
        found = [
            self.text.piece_start(number) + units(shown(piece.text[: edge - piece.offset]))
            for edge in (mark.offset, mark.offset + mark.length)
            for number, piece in enumerate(pieces)
            if piece.offset <= edge <= piece.offset + len(piece.text)
        ]
        return (min(found), max(found)) if len(found) >= 2 else None

    @Slot()
    def _look_ahead(self) -> None:
        bar = self.text.verticalScrollBar()
        if not self.isVisible() or self.retry.isVisible():
            return
        if bar.maximum() - bar.value() <= _NEAR_LINES:
            self._reading.more()
        if bar.value() == 0 and bar.maximum() > 0:
            self._reading.earlier()


class _ReaderText(QPlainTextEdit):
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
