"""The field and the filters over the list."""

from collections.abc import Iterable
from typing import Final, cast

from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app.domain.windows import Filters, Role, WindowInfo
from app.ui.history.wording import kind_words, window_name

TYPING_MS: Final = 300
"""The search begins once nothing was typed for so long."""
_LEAST_CHARS: Final = 2
"""A single letter is searched for at Enter only: it is found nearly everywhere."""
MAX_QUERY_CHARS: Final = 1_024


class SearchBar(QWidget):
    """Asks for searches; says nothing of what is found."""

    wanted = Signal(str, object)
    """A query, empty for none, and the `Filters`."""
    list_wanted = Signal()
    """The person wants to go on among what is found."""

    def __init__(self) -> None:
        super().__init__()
        self.field = _Field()
        self.field.setObjectName("historySearch")
        self.field.setPlaceholderText(self.tr("Search all windows"))
        self.field.setAccessibleName(self.tr("Search all windows"))
        self.field.setClearButtonEnabled(True)
        self.field.setMaxLength(MAX_QUERY_CHARS)
        self.role = _FilterCombo(self.tr("Who said it"))
        self.tool = _FilterCombo(self.tr("Which tool was called"))
        self.window_ = _FilterCombo(self.tr("Which window"))
        self._filters = QWidget()
        line = QHBoxLayout(self._filters)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        for combo in (self.role, self.tool, self.window_):
            line.addWidget(combo, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.field)
        layout.addWidget(self._filters)
        self._filters.hide()
        self._asked: tuple[str, Filters] = ("", Filters())
        self._fill()
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self._ask_soon)
        self.field.textChanged.connect(self._text_changed)
        self.field.accepted.connect(self._accept)
        self.field.moved_down.connect(self.list_wanted)
        self.field.escaped.connect(self.field.clear)
        for combo in (self.role, self.tool, self.window_):
            combo.activated.connect(self.ask)

    def show_windows(self, windows: Iterable[WindowInfo]) -> None:
        """Offer these windows to search in."""
        chosen = self.window_.currentData()
        self.window_.clear()
        self.window_.addItem(self.tr("All windows"), "")
        for window in windows:
            self.window_.addItem(f"{window_name(window)} · {kind_words(window)}", window.id)
        self.window_.choose(chosen)
        if self.window_.currentIndex() < 0:
            self.window_.choose("")

    def add_tools(self, names: Iterable[str]) -> None:
        """Offer these tools too."""
        known = {self.tool.itemData(at) for at in range(self.tool.count())}
        for name in sorted(set(names) - known):
            self.tool.addItem(name, name)
        self.tool.setEnabled(self.tool.count() > 1)

    def reset(self) -> None:
        """Search for nothing, in another chat; asks nobody."""
        self._fill()
        self._asked = ("", self.filters())
        self.field.clear()
        self._typing.stop()

    def filters(self) -> Filters:
        """Return what is chosen."""
        role = cast("Role | None", self.role.currentData() or None)
        return Filters(window_id=self.window_.currentData(), role=role, tool_name=self.tool.currentData())

    @Slot()
    def ask(self) -> None:
        """Ask for what stands here now, unless that was asked for already."""
        self._typing.stop()
        asked = (self.field.text(), self.filters())
        if asked != self._asked:
            self._asked = asked
            self.wanted.emit(*asked)

    def _fill(self) -> None:
        self.role.clear()
        for words, role in ((self.tr("Everyone"), ""), (self.tr("You"), "user"), (self.tr("Assistant"), "assistant")):
            self.role.addItem(words, role)
        self.tool.clear()
        self.tool.addItem(self.tr("All tools"), "")
        self.tool.setEnabled(False)
        self.show_windows(())

    @Slot(str)
    def _text_changed(self, text: str) -> None:
        self._filters.setVisible(bool(text))
        if text:
            self._typing.start()
        else:
            self.ask()

    @Slot()
    def _ask_soon(self) -> None:
        if len(self.field.text()) >= _LEAST_CHARS:
            self.ask()

    @Slot()
    def _accept(self) -> None:
        """Search at once; a second Enter goes to what is found."""
        if (self.field.text(), self.filters()) == self._asked:
            self.list_wanted.emit()
        else:
            self.ask()


class _FilterCombo(QComboBox):
    """A list to choose from, as narrow as need be, with an arrow that the style sheet's frame leaves room for."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def choose(self, data: object) -> None:
        """Show the entry with this data."""
        self.setCurrentIndex(self.findData(data))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().text().color(), 1.5))
        size = self.fontMetrics().height() / 5
        middle = QPointF(self.width() - 3 * size, self.height() / 2)
        points = [QPointF(-size, -size / 2), QPointF(0, size / 2), QPointF(size, -size / 2)]
        painter.drawPolyline([middle + point for point in points])
        painter.end()


class _Field(QLineEdit):
    accepted = Signal()
    moved_down = Signal()
    escaped = Signal()

    def event(self, event: QEvent) -> bool:
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() is QEvent.Type.ShortcutOverride and self.text():
            # Else it would stop the reply that is being written.
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.accepted.emit()
            case Qt.Key.Key_Down:
                self.moved_down.emit()
            case Qt.Key.Key_Escape if self.text():
                self.escaped.emit()
            case _:
                super().keyPressEvent(event)
