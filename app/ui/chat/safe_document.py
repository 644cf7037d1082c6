"""A text document that reads no file and asks no host, whatever the text says."""

from PySide6.QtCore import QByteArray, QUrl
from PySide6.QtGui import QImage, QTextDocument


class SafeDocument(QTextDocument):
    """Shows foreign HTML. Qt's own document would load `file:`, relative paths and style sheets from it."""

    def __init__(self) -> None:
        super().__init__()
        self.setUndoRedoEnabled(False)
        self.setDocumentMargin(0)

    def loadResource(self, kind: int, name: QUrl | str) -> object:  # noqa: ARG002
        """Return nothing, in the type that Qt expects of this kind."""
        if kind == QTextDocument.ResourceType.ImageResource.value:
            return QImage(1, 1, QImage.Format.Format_ARGB32)
        return QByteArray()
