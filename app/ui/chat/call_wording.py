"""What one call does, in a sentence: “Read notes.txt” rather than a name and a list of arguments."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.text import one_line
from app.domain.tool_names import EDIT_FILE, LIST_FILES, MEMORY, READ_FILE, SEARCH_FILES, WRITE_FILE
from app.domain.windows import SESSION_HISTORY
from app.ui.chat.blocks import clean

_VALUE_CHARS: Final = 80
_HERE: Final = frozenset({"", ".", "./", "/"})
"""Paths that mean the whole folder."""


def call_sentence(name: str, arguments: object) -> str:
    """Return what a call does, with its main argument; empty of a tool or an argument that nobody knows."""
    given = arguments if isinstance(arguments, Mapping) else {}
    match name:
        case _ if name == SESSION_HISTORY:
            return _look_back(given)
        case _ if name == MEMORY:
            return _memory(given)
        case _ if name == SEARCH_FILES:
            return _search(given)
        case _ if name == LIST_FILES:
            return _list(given)
        case _ if name == READ_FILE:
            return _read(given)
        case _ if name in (WRITE_FILE, EDIT_FILE) and (path := _text(given, "path")):
            sentence = _tr("Write {path}") if name == WRITE_FILE else _tr("Change {path}")
            return sentence.format(path=path)
        case _:
            return ""


def _look_back(given: Mapping[object, object]) -> str:
    query, item, window = (_text(given, key) for key in ("query", "item_id", "window_id"))
    match _text(given, "action"):
        case "search" if query:
            return _tr("Search the chat for “{query}”").format(query=query)
        case "list_windows":
            return _tr("List the context windows of the chat")
        case "list_items" if window:
            return _tr("List the messages of window {window}").format(window=window.removeprefix("w:"))
        case "list_items":
            return _tr("List the messages of the chat")
        case "read_item" if item.startswith("#"):
            return _tr("Read message {number}").format(number=item)
        case "read_item":
            return _tr("Read a message of the chat")
        case _:
            return ""


def _memory(given: Mapping[object, object]) -> str:
    path = _text(given, "path")
    match _text(given, "command"):
        case "rename":
            old, new = _memory_name(_text(given, "old_path")), _memory_name(_text(given, "new_path"))
            return _tr("Rename {old} to {new}").format(old=old, new=new) if old and new else ""
        case "view" if scope := _memory_folder(path):
            return scope
        case "view" if path:
            return _tr("Read {path}").format(path=_memory_name(path))
        case "create" if path:
            return _tr("Write {path}").format(path=_memory_name(path))
        case "str_replace" | "insert" if path:
            return _tr("Change {path}").format(path=_memory_name(path))
        case "delete" if path:
            return _tr("Delete {path}").format(path=_memory_name(path))
        case _:
            return ""


def _memory_folder(path: str) -> str:
    """Return what a look at all memories of one kind is called; empty if the path leads to one of them."""
    match path.rstrip("/"):
        case "/memories":
            return _tr("List the memories")
        case "/memories/workspace":
            return _tr("List the memories of this chat")
        case "/memories/global":
            return _tr("List the memories for all chats")
        case _:
            return ""


def _memory_name(path: str) -> str:
    """Return what a memory is called in a sentence: by its name in the list beside the chat, not by its path."""
    _, root, scope, name = path.split("/", 3) if path.count("/") > 2 else ("", "", "", "")
    if root != "memories" or not name:
        return path
    match scope:
        case "workspace":
            return _tr("the memory {name}").format(name=name)
        case "global":
            return _tr("the memory {name} for all chats").format(name=name)
        case _:
            return path


def _list(given: Mapping[object, object]) -> str:
    path, pattern = _text(given, "path"), _text(given, "pattern")
    if path in _HERE:
        return _tr("List {names} in the folder").format(names=pattern) if pattern else _tr("List the folder")
    if pattern:
        return _tr("List {names} in {path}").format(names=pattern, path=path)
    return _tr("List {path}").format(path=path)


def _read(given: Mapping[object, object]) -> str:
    path, line, page = _text(given, "path"), given.get("start_line"), given.get("page")
    if path and isinstance(page, int) and page > 1:
        return _tr("Read {path} from page {number}").format(path=path, number=QLocale().toString(page))
    if path and isinstance(line, int) and line > 1:
        return _tr("Read {path} from line {number}").format(path=path, number=QLocale().toString(line))
    return _tr("Read {path}").format(path=path) if path else ""


def _search(given: Mapping[object, object]) -> str:
    query, names, path = (_text(given, key) for key in ("query", "glob", "path"))
    where = names or ("" if path in _HERE else path)
    if query and where:
        return _tr("Search {where} for “{query}”").format(where=where, query=query)
    return _tr("Search the files for “{query}”").format(query=query) if query else ""


def _text(given: Mapping[object, object], key: str) -> str:
    value = given.get(key)
    return one_line(clean(value[: 4 * _VALUE_CHARS]), most_chars=_VALUE_CHARS) if isinstance(value, str) else ""


def _tr(text: str) -> str:
    return QCoreApplication.translate("ToolCard", text)
