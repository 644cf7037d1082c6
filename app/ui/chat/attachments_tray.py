"""The files that go with the next message, as chips above the field."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from app.ui.chat.one_line import OneLine
from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

_CHIP_WIDTH: Final = 240
_LEAST_WIDTH: Final = 200
_GAP: Final = 6
_MOST_ROWS: Final = 3
_MOST_HEIGHT: Final = 0.3
"""Share of the page's height that the rows may take; one row is always shown."""
_THUMBNAIL: Final = 36


class AttachmentTray(QScrollArea):
    """Chips in rows; hidden while there is none. Shows; decides nothing."""

    removed = Signal(object)
    """The key of a chip whose file the person takes out again."""
    text_wanted = Signal(object)
    """The key of a chip whose text the person wants in the field instead."""
    changed = Signal()
    left = Signal()
    """The keyboard was on the last chip, which is gone."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("attachmentTray")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Attached files"))
        self._theme = theme
        self._page_height = 0
        self._inner = QWidget()
        self._inner.setObjectName("attachmentTray")
        self.setWidget(self._inner)
        self.chips: list[Chip] = []
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        for chip in self.chips:
            chip.set_theme(theme)
        self._lay_out()

    def fit(self, *, page_height: int) -> None:
        """Leave enough of a page of that height to the chat."""
        if page_height != self._page_height:
            self._page_height = page_height
            self._lay_out()

    def add(self, chip: Chip, *, instead_of: Chip | None = None) -> None:
        """Show one more chip, at the end or in the place of another."""
        at = self.chips.index(instead_of) if instead_of in self.chips else len(self.chips)
        if instead_of in self.chips:
            self._drop(instead_of)
        self.chips.insert(at, chip)
        chip.setParent(self._inner)
        chip.set_theme(self._theme)
        chip.removed.connect(self.removed)
        chip.text_wanted.connect(self.text_wanted)
        chip.show()
        self._lay_out()
        if instead_of is None:
            self.ensureWidgetVisible(chip)
        self.changed.emit()

    def take(self, chip: Chip) -> None:
        """Show a chip no longer; the keyboard goes on with the one that takes its place."""
        if chip not in self.chips:
            return
        at, had_focus = self.chips.index(chip), chip.has_focus
        self._drop(chip)
        self._lay_out()
        self.changed.emit()
        if had_focus and self.chips:
            self.chips[min(at, len(self.chips) - 1)].remove_button.setFocus()
        elif had_focus:
            self.left.emit()

    def chip_of(self, key: object) -> Chip | None:
        """Return the chip with that very key."""
        return next((chip for chip in self.chips if chip.key is key), None)

    def clear(self) -> None:
        """Show none."""
        for chip in list(self.chips):
            self._drop(chip)
        self._lay_out()
        self.changed.emit()

    @property
    def is_reading(self) -> bool:
        """Whether one of the files is not there yet."""
        return any(chip.is_reading for chip in self.chips)

    def set_enabled(self, *, on: bool) -> None:
        """Say whether files may be taken out."""
        self._inner.setEnabled(on)

    def stops(self) -> list[QWidget]:
        """Return what the Tab key stops at, in order."""
        return [stop for chip in self.chips for stop in chip.stops()]

    def _drop(self, chip: Chip) -> None:
        self.chips.remove(chip)
        chip.hide()
        chip.setParent(None)
        chip.deleteLater()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        """Put the chips side by side in as many rows as they need, of which at most three are shown."""
        gap, room = self._theme.px(_GAP), max(80, self.viewport().width())
        columns = max(1, (room + gap) // (self._theme.px(_LEAST_WIDTH) + gap))
        width = (room + gap) // columns - gap
        if columns > 1:
            width = min(width, self._theme.px(_CHIP_WIDTH))
        height = max((chip.sizeHint().height() for chip in self.chips), default=0)
        for at, chip in enumerate(self.chips):
            row, column = divmod(at, columns)
            chip.setGeometry(column * (width + gap), row * (height + gap), width, height)
        rows = -(-len(self.chips) // columns)
        self._inner.resize(room, max(0, rows * (height + gap) - gap))
        most = max(1, min(_MOST_ROWS, int(self._page_height * _MOST_HEIGHT) // (height + gap)))
        shown = min(rows, most)
        self.setFixedHeight(max(0, shown * (height + gap) - gap) + (height // 3 if rows > most else 0))
        self.setVisible(bool(self.chips))


class Chip(QFrame):
    """One file: a small picture, its name, what it is, and a button that takes it out again."""

    removed = Signal(object)
    text_wanted = Signal(object)

    def __init__(
        self,
        key: object,
        name: str,
        detail: str,
        *,
        is_picture: bool = False,
        is_reading: bool = False,
        offers_text: bool = False,
    ) -> None:
        super().__init__()
        self.setObjectName("chip")
        self.key = key
        self.is_reading = is_reading
        self._face = _Face(is_picture=is_picture)
        mode = Qt.TextElideMode.ElideRight if offers_text else Qt.TextElideMode.ElideMiddle
        self._name = OneLine(name, mode)
        self._detail = OneLine(detail, Qt.TextElideMode.ElideRight)
        self._detail.setObjectName("mutedText")
        self.remove_button = _RemoveButton()
        self.remove_button.setObjectName("remove")
        self.remove_button.setAccessibleName(_tr("Remove {name}").format(name=name))
        self.remove_button.setAccessibleDescription(detail)
        self.remove_button.setToolTip(_tr("Remove (Delete)"))
        self.remove_button.clicked.connect(self._remove)
        self.remove_button.delete_pressed.connect(self._remove)
        self._text_button: QPushButton | None = None
        layout = QGridLayout(self)
        layout.setContentsMargins(5, 4, 3, 4)
        layout.setHorizontalSpacing(6)
        layout.setVerticalSpacing(0)
        layout.addWidget(self._face, 0, 0, 2, 1)
        layout.addWidget(self._name, 0, 1, Qt.AlignmentFlag.AlignBottom)
        layout.addWidget(self.remove_button, 0, 2, 2, 1, Qt.AlignmentFlag.AlignVCenter)
        if offers_text:
            self._text_button = QPushButton(_tr("Insert as text"))
            self._text_button.setObjectName("link")
            self._text_button.clicked.connect(self._want_text)
            layout.addWidget(self._text_button, 1, 1, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        else:
            layout.addWidget(self._detail, 1, 1, Qt.AlignmentFlag.AlignTop)
        self.setToolTip(plain_tooltip(f"{name}\n{detail}" if detail else name))
        self.setAccessibleName(f"{name}, {detail}" if detail else name)
        # A screen reader would read the tags of the tooltip.
        self.setAccessibleDescription(detail or name)

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._face.set_theme(theme)
        self.remove_button.setIcon(tinted_icon("x", theme.muted, size=theme.px(14)))
        self.remove_button.setIconSize(QSize(theme.px(14), theme.px(14)))
        self.remove_button.setFixedSize(theme.px(24), theme.px(24))

    def set_thumbnail(self, image: QImage) -> None:
        """Show a small square of the picture."""
        self._face.set_image(image)

    @property
    def has_focus(self) -> bool:
        """Whether the keyboard is on one of its buttons."""
        return any(stop.hasFocus() for stop in self.stops())

    def stops(self) -> list[QWidget]:
        """Return what the Tab key stops at, in order."""
        return [*([self._text_button] if self._text_button is not None else []), self.remove_button]

    @Slot()
    def _remove(self) -> None:
        self.removed.emit(self.key)

    @Slot()
    def _want_text(self) -> None:
        self.text_wanted.emit(self.key)


class _RemoveButton(QToolButton):
    delete_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_pressed.emit()
            return
        super().keyPressEvent(event)


class _Face(QWidget):
    """The square at the left of a chip: the picture, or an icon of what it is."""

    def __init__(self, *, is_picture: bool) -> None:
        super().__init__()
        self._icon_name = "image" if is_picture else "file-text"
        self._image: QImage | None = None
        self._theme: Theme | None = None

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setFixedSize(theme.px(_THUMBNAIL), theme.px(_THUMBNAIL))
        self.update()

    def set_image(self, image: QImage) -> None:
        self._image = None if image.isNull() else image
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        if self._theme is None:
            return
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        frame = QRectF(self.rect())
        shape = QPainterPath()
        shape.addRoundedRect(frame, self._theme.px(6), self._theme.px(6))
        painter.fillPath(shape, self._theme.hover)
        if self._image is not None:
            painter.setClipPath(shape)
            painter.drawImage(frame, self._image)
        else:
            edge = self._theme.px(20)
            icon = tinted_icon(self._icon_name, self._theme.muted, size=edge)
            icon.paint(painter, (self.width() - edge) // 2, (self.height() - edge) // 2, edge, edge)
        painter.end()


def _tr(text: str) -> str:
    return QCoreApplication.translate("Attachments", text)
