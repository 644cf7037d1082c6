"""Where files may be dropped: a hint over the whole chat while they are held above it."""

from PySide6.QtCore import QEvent, QMimeData, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from app.ui.chat.attachments_mime import may_carry
from app.ui.theme import Theme


class DropZone(QWidget):
    """Covers its parent while something that can be attached is held above it."""

    dropped = Signal(QMimeData)

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_entered = False
        self.setAcceptDrops(True)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        self.update()

    def cover(self, event: QDragEnterEvent) -> None:
        """Take what is held above the parent, if it can be attached."""
        if not may_carry(event.mimeData()):
            event.ignore()
            return
        parent = self.parentWidget()
        assert parent is not None
        _accept_copy(event)
        self._is_entered = False
        self.setGeometry(parent.rect())
        self.show()
        self.raise_()

    def uncover(self) -> None:
        """What was held above the parent has left it, unless it is above this now."""
        QTimer.singleShot(0, self, self._hide_unless_entered)

    @Slot()
    def _hide_unless_entered(self) -> None:
        if not self._is_entered:
            self.hide()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._is_entered = True
        _accept_copy(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        _accept_copy(event)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:  # noqa: ARG002
        self._is_entered = False
        self.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._is_entered = False
        self.hide()
        # Never a move: the other program would delete its file.
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.dropped.emit(event.mimeData())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        veil = QColor(theme.surface)
        veil.setAlphaF(0.9)
        painter.fillRect(self.rect(), veil)
        inset = theme.px(12)
        frame = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.setPen(QPen(theme.accent, 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(frame, theme.px(12), theme.px(12))
        painter.setPen(theme.text)
        wrapped = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
        painter.drawText(frame.adjusted(inset, inset, -inset, -inset), wrapped, self.tr("Drop here to attach"))
        painter.end()


def _accept_copy(event: QDropEvent) -> None:
    """Take what is held or dropped, never as a move: the other program might delete its file."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()
