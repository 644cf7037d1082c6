"""What every page of the settings is made of: sections of rows, each with words the search finds."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.settings.schema import Settings
from app.ui.settings.choices import Choices
from app.ui.settings.tick_box import TickBox

_STACKED_BELOW: Final = 62
"""Width in average letters below which a row's control stands under its words."""


class SettingRow(QFrame):
    """A setting: its name, what it means, and what it is set with."""

    def __init__(
        self, label: str, control: QWidget | None = None, *, note: str = "", words: str = "", is_stacked: bool = False
    ) -> None:
        """`words` are found by the search though they are not shown."""
        super().__init__()
        self.setObjectName("settingRow")
        self._is_stacked = is_stacked
        self._hidden_words = words
        self.label = plain_label(label)
        self.label.setVisible(bool(label))
        self.note = plain_label(note, name="mutedText")
        self.note.setVisible(bool(note))
        texts = QVBoxLayout()
        texts.setSpacing(2)
        # Both stand together beside a control that is higher.
        texts.addStretch(1)
        texts.addWidget(self.label)
        texts.addWidget(self.note)
        texts.addStretch(1)
        self._box = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._box.setContentsMargins(8, 10, 8, 10)
        self._box.setSpacing(8)
        self._box.addLayout(texts, 3)
        if control is not None:
            self._box.addWidget(control, 2)
            self.label.setBuddy(control)
            if not control.accessibleName():
                control.setAccessibleName(label)
            if note and not control.accessibleDescription():
                control.setAccessibleDescription(note)

    @property
    def words(self) -> str:
        """Everything that is said here."""
        return " ".join((self.label.text(), self.note.text(), self._hidden_words))

    def set_note(self, text: str) -> None:
        """Say something else below the name."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def show_problem(self, *, on: bool) -> None:
        """Show the note as something that is wrong, or no longer."""
        self.note.setProperty("isError", on)
        self.note.style().polish(self.note)

    def mark(self, *, on: bool) -> None:
        """Show that this is what was searched for."""
        self.setProperty("isHit", on)
        self.style().polish(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < self.fontMetrics().averageCharWidth() * _STACKED_BELOW
        is_stacked = is_narrow or self._is_stacked
        direction = QBoxLayout.Direction
        self._box.setDirection(direction.TopToBottom if is_stacked else direction.LeftToRight)
        self._box.setStretch(0, 0 if is_stacked else 3)


class SettingsPage(QWidget):
    """A page: shows settings and asks for their change; knows no other page."""

    title = ""
    link_wanted = Signal(str)
    """A web address to be opened."""
    scroll_wanted = Signal(QWidget)
    """This is to be brought into view."""

    def __init__(self, choices: Choices) -> None:
        super().__init__()
        self.setObjectName("settingsPage")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.choices = choices
        self.rows: list[SettingRow] = []
        outer = QVBoxLayout(self)
        outer.setContentsMargins(16, 12, 16, 24)
        self.column = QVBoxLayout()
        self.column.setSpacing(0)
        outer.addLayout(self.column)
        outer.addStretch(1)

    def add_heading(self, text: str) -> QLabel:
        """Add the name of a section."""
        label = heading_label(text)
        self.column.addWidget(label)
        return label

    def add_row(
        self, label: str, control: QWidget | None = None, *, note: str = "", words: str = "", is_stacked: bool = False
    ) -> SettingRow:
        """Add a setting that the search finds."""
        row = SettingRow(label, control, note=note, words=words, is_stacked=is_stacked)
        self.rows.append(row)
        self.column.addWidget(row)
        return row

    def shown_rows(self) -> list[SettingRow]:
        """Return every setting the search may find here now."""
        return self.rows

    def enter(self) -> None:
        """The page is shown now: ask for what is only needed then."""

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        """Show what holds; a control that is being edited is left alone unless `is_forced`."""


class CommitField(QLineEdit):
    """A line that tells its text when the person has finished it."""

    committed = Signal(str)

    def __init__(self, name: str, *, placeholder: str = "") -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self._shown = ""
        self.editingFinished.connect(self.commit)

    def show_text(self, text: str, *, is_forced: bool = False) -> None:
        """Show a text, unless another is being typed."""
        if self.text() == text:
            self._shown = text
        elif is_forced or not (self.hasFocus() and self.isModified()):
            self._shown = text
            self.setText(text)
            self.setCursorPosition(0)

    def commit(self) -> None:
        """Tell what was typed, if it has not been told yet."""
        if self.text() != self._shown:
            self._shown = self.text()
            self.setModified(False)
            self.committed.emit(self.text())


class QuietCombo(QComboBox):
    """A list to choose from that scrolling a page does not change; as narrow as need be."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        if name:
            self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        # The style sheet's frame leaves no arrow.
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().text().color(), 1.5))
        size = self.fontMetrics().height() / 4
        middle = QPointF(self.width() - 3.5 * size, self.height() / 2)
        points = [QPointF(-size, -size / 2), QPointF(0, size / 2), QPointF(size, -size / 2)]
        painter.drawPolyline([middle + point for point in points])
        painter.end()

    def choose(self, data: object) -> None:
        """Show the entry with this data, without telling anybody."""
        at = self.findData(data)
        blocked = self.blockSignals(True)
        self.setCurrentIndex(at)
        self.blockSignals(blocked)


def plain_label(text: str = "", *, name: str = "") -> QLabel:
    """Return a label of plain text that wraps."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setIndent(0)
    if name:
        label.setObjectName(name)
    return label


def heading_label(text: str = "") -> QLabel:
    """Return the name of a section."""
    label = plain_label(text, name="settingsHeading")
    label.setContentsMargins(8, 16, 8, 4)
    return label


def choice_combo(name: str, entries: list[tuple[str, object]], chosen: Callable[[object], None]) -> QuietCombo:
    """Return a list of `(text, data)`; `chosen` hears of what the person chooses."""
    combo = QuietCombo(name)
    for text, data in entries:
        combo.addItem(text, data)
    combo.activated.connect(lambda index: chosen(combo.itemData(index)))
    return combo


def check_box(text: str, toggled: Callable[[bool], None]) -> TickBox:
    """Return a box to tick; `toggled` hears of what the person does."""
    box = TickBox(text)
    box.clicked.connect(toggled)
    return box
