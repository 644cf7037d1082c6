"""The files of a message in the transcript: a chip each, beside and below each other, painted."""

from collections import OrderedDict
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QIcon, QImage, QPainter, QPainterPath, QPen

from app.ui.chat.items import AttachedFile, Item, Speaker
from app.ui.chat.style import Style
from app.ui.theme import tinted_icon

_CHIP_WIDTH: Final = 240
_LEAST_WIDTH: Final = 200
_THUMBNAIL: Final = 36
_PADDING: Final = 5
_GAP: Final = 6
_KEPT_THUMBNAILS: Final = 100


class FileChips:
    """Lays out and paints the files of items; holds small squares of their pictures."""

    def __init__(self) -> None:
        self._thumbnails: OrderedDict[str, QImage] = OrderedDict()
        self._asked: set[str] = set()
        self._wanted: list[str] = []
        self._icons: dict[str, QIcon] = {}

    def forget(self) -> None:
        """Drop all pictures: the chat is another one."""
        self._thumbnails.clear()
        self._asked.clear()
        self._wanted.clear()

    def restyle(self) -> None:
        """Draw the icons anew, in other colours."""
        self._icons.clear()

    def take_wanted(self) -> tuple[str, ...]:
        """Return the SHA-256 of the pictures that were painted without being there, each once."""
        wanted, self._wanted = tuple(self._wanted), []
        return wanted

    def set_thumbnail(self, sha256: str, image: QImage) -> None:
        """Paint this small square for that picture from now on."""
        self._thumbnails[sha256] = image
        while len(self._thumbnails) > _KEPT_THUMBNAILS:
            self._asked.discard(self._thumbnails.popitem(last=False)[0])

    def height(self, style: Style, item: Item, width: float) -> int:
        """Return how high the files of an item are."""
        return int(max((rect.bottom() for rect in self._rects(style, item, width)), default=0)) + 1

    def paint(self, painter: QPainter, style: Style, item: Item, rect: QRectF) -> None:
        """Paint the files of an item."""
        for file, place in zip(item.files, self._rects(style, item, rect.width()), strict=True):
            self._paint_chip(painter, style, file, place.translated(rect.topLeft()))

    def _rects(self, style: Style, item: Item, width: float) -> list[QRectF]:
        """Return where the chips are; those of the person stand at the right."""
        gap, chip_height = style.px(_GAP), style.px(_THUMBNAIL) + 2 * style.px(_PADDING)
        columns = max(1, int((width + gap) // (style.px(_LEAST_WIDTH) + gap)))
        chip_width = min(float(style.px(_CHIP_WIDTH)), (width + gap) // columns - gap)
        rects = []
        for at in range(len(item.files)):
            row, column = divmod(at, columns)
            in_row = min(columns, len(item.files) - row * columns)
            left = column * (chip_width + gap)
            if item.speaker is Speaker.USER:
                left += width - in_row * (chip_width + gap) + gap
            rects.append(QRectF(left, row * (chip_height + gap), chip_width, chip_height))
        return rects

    def _paint_chip(self, painter: QPainter, style: Style, file: AttachedFile, rect: QRectF) -> None:
        theme, padding, edge = style.theme, style.px(_PADDING), style.px(_THUMBNAIL)
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(theme.window)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), style.px(8), style.px(8))
        face = QRectF(rect.left() + padding, rect.top() + padding, edge, edge)
        self._paint_face(painter, style, file, face)
        left = face.right() + style.px(8)
        room = QRectF(left, face.top(), rect.right() - left - padding, edge / 2)
        self._paint_line(painter, style, room, file.name, Qt.TextElideMode.ElideMiddle, muted=False)
        room.translate(QPointF(0, edge / 2))
        self._paint_line(painter, style, room, file.detail, Qt.TextElideMode.ElideRight, muted=True)

    def _paint_face(self, painter: QPainter, style: Style, file: AttachedFile, face: QRectF) -> None:
        shape = QPainterPath()
        shape.addRoundedRect(face, style.px(6), style.px(6))
        painter.fillPath(shape, style.theme.hover)
        image = self._thumbnails.get(file.picture)
        if image is not None and not image.isNull():
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
            painter.drawImage(face, image)
            painter.restore()
            return
        if file.picture and file.picture not in self._asked:
            self._asked.add(file.picture)
            self._wanted.append(file.picture)
        edge = style.px(20)
        name = "image" if file.picture else "file-text"
        if name not in self._icons:
            self._icons[name] = tinted_icon(name, style.theme.muted, size=edge)
        left, top = round(face.center().x() - edge / 2), round(face.center().y() - edge / 2)
        self._icons[name].paint(painter, left, top, edge, edge)

    @staticmethod
    def _paint_line(
        painter: QPainter, style: Style, room: QRectF, text: str, mode: Qt.TextElideMode, *, muted: bool
    ) -> None:
        painter.setFont(style.small)
        painter.setPen(style.theme.muted if muted else style.theme.text)
        shown = QFontMetricsF(style.small).elidedText(text, mode, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
