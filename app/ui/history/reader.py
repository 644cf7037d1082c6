"""The reader below the list: the whole text of an item or a window, as much of it as is near."""

from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.domain.text import Utf16Text, utf16_units
from app.domain.windows import HistoryItem
from app.ui.history.reader_text import ReaderText, shown
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
        self.text = ReaderText()
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
            self.previous: "chevron-up",
            self.next: "chevron-down",
            self.copy: "copy",
            self.quote: "text-quote",
            self.menu: "ellipsis",
        }
        for button, name in names.items():
            button.setIcon(tinted_icon(name, theme.muted, size=size))
            button.setIconSize(QSize(size, size))
        self._tint_back()
        self.text.document().setDocumentMargin(theme.px(_MARGIN))
        self._show_emphasis()

    def set_covering(self, *, on: bool) -> None:
        """Say whether the reader stands in the place of the list, rather than below it."""
        if on != self._covers:
            self._covers = on
            self._tint_back()

    def _tint_back(self) -> None:
        size = self._theme.px(_ICON)
        name = "arrow-left" if self._covers else "x"
        self.back.setIcon(tinted_icon(name, self._theme.muted, size=size))
        self.back.setIconSize(QSize(size, size))

    def selected_text(self) -> str:
        """Return what is selected, with line feeds."""
        return self.text.textCursor().selectedText().replace("\u2029", "\n")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go back from any of the buttons."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

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
            self.text.piece_start(number) + utf16_units(shown(_head(piece, edge)))
            for edge in (mark.offset, mark.offset + mark.length)
            for number, piece in enumerate(pieces)
            if piece.offset <= edge <= piece.offset + utf16_units(piece.text)
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


def _head(piece: Piece, edge: int) -> str:
    """Return what of a piece stands before `edge`, in UTF-16 units of the item's text."""
    return Utf16Text(piece.text).piece(0, edge - piece.offset)[0] if edge > piece.offset else ""
