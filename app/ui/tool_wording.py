"""What the tools are called for people, and what each does, in one sentence."""

from PySide6.QtCore import QCoreApplication

from app.domain.tool_names import EDIT_FILE, LIST_FILES, MEMORY, READ_FILE, SEARCH_FILES, WRITE_FILE
from app.domain.windows import SESSION_HISTORY


def tool_label(name: str) -> str:
    """Return a tool's name in plain words; of one that is not built in, the name models call it by."""
    labels = {
        SESSION_HISTORY: _tr("Look back in this chat"),
        MEMORY: _tr("Memory"),
        LIST_FILES: _tr("List files"),
        READ_FILE: _tr("Read a file"),
        SEARCH_FILES: _tr("Search files"),
        WRITE_FILE: _tr("Write a file"),
        EDIT_FILE: _tr("Change a file"),
    }
    return labels.get(name, name)


def tool_sentence(name: str) -> str:
    """Return what a tool does; empty for one that is not built in."""
    sentences = {
        SESSION_HISTORY: _tr("Finds and reads what was said earlier in the same chat."),
        MEMORY: _tr("Reads and keeps notes that outlast a chat; asks before it changes notes that all chats share."),
        LIST_FILES: _tr("Shows what is in the folder of the chat."),
        READ_FILE: _tr("Reads a text or a PDF in the folder of the chat."),
        SEARCH_FILES: _tr("Finds files by name, or by words in them, in the folder of the chat."),
        WRITE_FILE: _tr("Writes a whole file in the folder of the chat, after asking."),
        EDIT_FILE: _tr("Replaces a passage of a file in the folder of the chat, after asking."),
    }
    return sentences.get(name, "")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Tools", text)
