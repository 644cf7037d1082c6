"""Memories in words: for the eye, and for a screen reader."""

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.memories import MemoryEntry, MemoryScope
from app.ui.chat.furniture import time_text


def scope_name(scope: MemoryScope) -> str:
    """Return where memories hold."""
    return _tr("Everywhere") if scope is MemoryScope.GLOBAL else _tr("This chat")


def scope_words(scope: MemoryScope) -> str:
    """Return in a sentence where memories hold."""
    if scope is MemoryScope.GLOBAL:
        return _tr("Every chat can read these. A model asks you before it changes one.")
    return _tr("Only this chat can read these.")


def size_text(size_bytes: int) -> str:
    """Return `1.2 kB`."""
    return QLocale().formattedDataSize(size_bytes, 1, QLocale.DataSizeFormat.DataSizeSIFormat)


def entry_words(entry: MemoryEntry) -> str:
    """Return what is known of a memory beside its name, in one line."""
    pieces = [size_text(entry.size_bytes), _tr("changed {time}").format(time=time_text(entry.changed))]
    if entry.uses == 1:
        pieces.append(_tr("used once by a model"))
    elif entry.uses:
        pieces.append(_tr("used {count} times by models").format(count=QLocale().toString(entry.uses)))
    if entry.is_pinned:
        pieces.append(_tr("pinned"))
    return " · ".join(pieces)


def empty_words() -> str:
    """Return what memory is, for whoever has none yet."""
    return _tr(
        "Memory is where models keep short notes that outlast a chat’s context, and where you can leave them some."
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("Memory", text)
