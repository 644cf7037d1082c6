"""The panel over the window in which a model is looked for and chosen; asks for things, does nothing itself."""

from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.picker.entries import EntryKind, Offer, list_entries
from app.ui.picker.levels import LevelRow
from app.ui.picker.model import EntriesModel, can_choose
from app.ui.picker.parts import EntryList, Panel, SearchField
from app.ui.theme import Theme

WIDTH: Final = 420
"""In pixels, before any zoom."""
MARGIN: Final = 8
_PAGE_ROWS: Final = 8
_FAVOURITE_KEY: Final = "Ctrl+D"


class ModelPicker(QWidget):
    """Lies over the whole of its window, so that a click beside the panel closes it."""

    chosen = Signal(str)
    """`provider/model`."""
    level_chosen = Signal(str)
    """A level of the chat's model, empty for its default."""
    favourite_toggled = Signal(str, bool)
    """`provider/model`, and whether it is to be a favourite."""
    settings_wanted = Signal(str)
    """`models` or `providers`: the page of the settings."""
    closed = Signal()
    """The person has finished with it: the focus may go back."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._host = window
        self._anchor: QWidget | None = None
        self._offer = Offer()
        self._current = ""
        self._theme = theme
        self._panel = Panel(self)
        self.search = SearchField()
        self.search.setPlaceholderText(self.tr("Search models"))
        self.search.setAccessibleName(self.tr("Search models"))
        self.model = EntriesModel(self)
        self.list = EntryList(self.model, theme)
        self.levels = LevelRow()
        self._hint = QLabel(self.tr("Enter chooses · {key} favourite · Esc closes").format(key=_FAVOURITE_KEY))
        self._manage = QPushButton(self.tr("Manage models…"))
        self._build()
        self._connect()
        self.set_theme(theme)
        window.installEventFilter(self)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        self.list.delegate.set_theme(theme)
        self.list.scheduleDelayedItemsLayout()
        if self.isVisible():
            self._place()

    def show_offer(self, offer: Offer, current: str) -> None:
        """List these models; `current` is the chat's."""
        self._offer, self._current = offer, current
        if self.isVisible():
            index = self.list.currentIndex()
            card = self.model.entries[index.row()].card if index.isValid() else None
            self._list_entries(stay_on=card.ref if card else "")

    def show_levels(self, levels: tuple[str, ...], current: str) -> None:
        """Offer these levels of the chat's model; `current` holds."""
        was_shown = self.levels.isVisibleTo(self._panel)
        self.levels.show_levels(levels, current)
        if self.isVisible() and was_shown != bool(levels):
            self._place()

    def open_at(self, anchor: QWidget, *, note: str = "") -> None:
        """Come up below `anchor`; `note` is said above the keys."""
        self._anchor = anchor
        keys = self.tr("Enter chooses · {key} favourite · Esc closes").format(key=_FAVOURITE_KEY)
        self._hint.setText(f"{note}\n{keys}" if note else keys)
        self.search.clear()
        self._list_entries(stay_on=self._current)
        self._place()
        self.show()
        self.raise_()
        self.search.setFocus(Qt.FocusReason.PopupFocusReason)
        self._announce()

    @Slot()
    def close_up(self) -> None:
        """Go away; nothing is chosen."""
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if not self._panel.geometry().contains(event.position().toPoint()):
            self.close_up()

    def _build(self) -> None:
        self._panel.setObjectName("modelPicker")
        self.search.setObjectName("modelSearch")
        self.list.setAccessibleName(self.tr("Models"))
        self._hint.setObjectName("mutedText")
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        self._hint.setWordWrap(True)
        self._manage.setObjectName("newChat")
        layout = QVBoxLayout(self._panel)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        layout.addWidget(self.search)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.levels)
        layout.addWidget(self._manage)
        layout.addWidget(self._hint)
        self._panel.keep_focus(lambda: [self.search, *filter(None, [self.levels.stop]), self._manage])

    def _connect(self) -> None:
        self.search.textEdited.connect(lambda _text: self._list_entries())
        self.search.moved.connect(self._move)
        self.search.jumped.connect(self._jump)
        self.search.accepted.connect(self._accept)
        self.search.star_pressed.connect(self._toggle_current)
        self.search.escaped.connect(self._escape)
        self._panel.escaped.connect(self.close_up)
        self.list.clicked.connect(self._accept_row)
        self.list.selectionModel().currentChanged.connect(lambda *_rows: self._announce())
        self.list.star_clicked.connect(lambda card: self.favourite_toggled.emit(card.ref, not card.is_favourite))
        self.levels.chosen.connect(self.level_chosen)
        self._manage.clicked.connect(lambda: self._want_settings("models"))
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]

    def _list_entries(self, *, stay_on: str = "") -> None:
        self.model.show_entries(list_entries(self._offer, self.search.text()), self._current)
        row = self.model.row_of(stay_on) if stay_on else None
        if row is None:
            row = next((at for at, entry in enumerate(self.model.entries) if can_choose(entry)), -1)
        self._go_to(row)

    @Slot(int)
    def _move(self, steps: int) -> None:
        """Go on by rows that can be chosen; beyond an end, to that end."""
        rows = [at for at, entry in enumerate(self.model.entries) if can_choose(entry)]
        if rows:
            at = self.list.currentIndex().row()
            place = rows.index(at) + steps if at in rows else 0
            self._go_to(rows[min(max(place, 0), len(rows) - 1)])

    @Slot(int)
    def _jump(self, pages: int) -> None:
        self._move(pages * _PAGE_ROWS)

    def _go_to(self, row: int) -> None:
        index = self.model.index(row) if row >= 0 else QModelIndex()
        self.list.setCurrentIndex(index)
        if index.isValid():
            above = self.model.index(row - 1) if row else index
            is_below_heading = row and self.model.entries[row - 1].kind is EntryKind.HEADING
            self.list.scrollTo(above if is_below_heading else index)
            self.list.scrollTo(index)

    @Slot()
    def _accept(self) -> None:
        self._accept_row(self.list.currentIndex())

    @Slot(QModelIndex)
    def _accept_row(self, index: QModelIndex) -> None:
        entry = self.model.entries[index.row()] if index.isValid() else None
        if entry is not None and entry.kind is EntryKind.KEYLESS:
            self._want_settings("providers")
            return
        if entry is None or entry.card is None or not can_choose(entry):
            return
        ref = entry.card.ref
        self.close_up()
        self.chosen.emit(ref)

    def _want_settings(self, page: str) -> None:
        self.close_up()
        self.settings_wanted.emit(page)

    @Slot()
    def _toggle_current(self) -> None:
        index = self.list.currentIndex()
        entry = self.model.entries[index.row()] if index.isValid() else None
        if entry is not None and entry.card is not None and entry.kind is EntryKind.MODEL:
            self.favourite_toggled.emit(entry.card.ref, not entry.card.is_favourite)

    @Slot()
    def _escape(self) -> None:
        if self.search.text():
            self.search.clear()
            self._list_entries(stay_on=self._current)
        else:
            self.close_up()

    @Slot(QWidget, QWidget)
    def _focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        """Go away when the focus has gone elsewhere in the window; it stays there."""
        if self.isVisible() and now is not None and now.window() is self._host and not self.isAncestorOf(now):
            self.hide()

    def _announce(self) -> None:
        """Have a screen reader say the row that Enter would choose: the focus stays in the field."""
        index = self.list.currentIndex()
        if self.isVisible() and index.isValid():
            text = str(index.data(Qt.ItemDataRole.AccessibleTextRole))
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.search, text))

    def _place(self) -> None:
        """Stand below the anchor, as high as the list is, within the window."""
        self.setGeometry(self._host.rect())
        anchor = self._anchor
        corner = anchor.mapTo(self._host, QPoint(anchor.width(), anchor.height())) if anchor else QPoint()
        width = min(self._theme.px(WIDTH), self.width() - 2 * MARGIN)
        left = min(max(MARGIN, corner.x() - width), self.width() - MARGIN - width)
        self._panel.setFixedWidth(width)
        self.list.setMinimumHeight(0)
        rows = sum(self.list.sizeHintForRow(row) for row in range(min(self.model.rowCount(), 200)))
        hint = self._hint.heightForWidth(width - 18)
        others = self.search.sizeHint().height() + self._manage.sizeHint().height() + hint + 4 * 8 + 16
        if self.levels.isVisibleTo(self._panel):
            others += self.levels.sizeHint().height() + 6
        room = self.height() - MARGIN
        wanted = others + rows + 8
        top = corner.y() + 2
        if room - top < min(wanted, room // 2):
            top = max(MARGIN, room - min(wanted, room))
        self._panel.setGeometry(QRect(left, top, width, min(wanted, room - top)))
