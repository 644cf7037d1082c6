"""A box to tick whose frame, tick and focus can be seen in every theme."""

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy

_GAP = 8


class TickBox(QCheckBox):
    """As Qt's own; only drawn otherwise."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        side = self._side()
        width = side + _GAP + self.fontMetrics().horizontalAdvance(self.text()) + 8
        return QSize(width, max(side, self.fontMetrics().height()) + 10)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:  # noqa: N802 - Qt's name
        return pos.x() < self.sizeHint().width()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, side = self.palette(), self._side()
        group = QPalette.ColorGroup.Normal if self.isEnabled() else QPalette.ColorGroup.Disabled
        box = QRectF(4, (self.height() - side) / 2, side, side).adjusted(0.75, 0.75, -0.75, -0.75)
        accent = palette.color(QPalette.ColorRole.Accent)
        if self.isChecked():
            painter.setPen(QPen(accent, 1.5))
            painter.setBrush(accent)
        else:
            painter.setPen(QPen(palette.color(QPalette.ColorRole.PlaceholderText), 1.5))
            painter.setBrush(palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(box, 3, 3)
        if self.isChecked():
            pen = QPen(palette.color(QPalette.ColorRole.Base), max(1.5, side / 8))
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            points = [(0.24, 0.52), (0.43, 0.71), (0.77, 0.31)]
            painter.drawPolyline([QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in points])
        painter.setPen(palette.color(group, QPalette.ColorRole.WindowText))
        left = 4 + side + _GAP
        words = QRect(left, 0, self.width() - left, self.height())
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.text())
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(accent, 2))
            painter.drawRoundedRect(
                QRectF(1, 1, min(self.width(), self.sizeHint().width()) - 2, self.height() - 2), 5, 5
            )
        painter.end()

    def _side(self) -> int:
        return round(self.fontMetrics().height() * 0.95)
