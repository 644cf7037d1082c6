"""The transcript for screen readers: a list whose items are the chat's items.

Never override `interface_cast` here: PySide6 crashes. Qt keeps no reference to these objects, so they keep each other.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleEvent,
    QAccessibleInterface,
    QWindow,
)
from PySide6.QtWidgets import QAbstractScrollArea, QAccessibleWidget, QWidget

from app.ui.chat.furniture import header_text
from app.ui.chat.items import Speaker
from app.ui.chat.selection import item_text
from app.ui.chat.transcript_model import Node

_MAX_CHARS: Final = 10_000
_MAX_SAID: Final = 300
_MOST_GONE: Final = 100


class AccessibleView(QAbstractScrollArea):
    """What a screen reader needs of the transcript; the transcript derives from it."""

    @property
    def nodes(self) -> Sequence[Node]:
        """The chat's items in order."""
        raise NotImplementedError

    def rect_of(self, node: Node) -> QRect:
        """Return where an item is, in the viewport's pixels."""
        raise NotImplementedError

    def version_of(self, node: Node) -> str:
        """Return which of several versions begins with an item, in words; empty if none does."""
        raise NotImplementedError


@cache
def register() -> None:
    """Teach Qt about the transcript, once."""
    QAccessible.installFactory(_Factory())


def announce(view: QWidget, text: str) -> None:
    """Have a screen reader say `text`, if one is running."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(view, text))


def tell_reading_place(view: AccessibleView, node: Node) -> None:
    """Tell a screen reader which item is read now, if one is running."""
    if QAccessible.isActive() and node in view.nodes:
        focused = QAccessibleEvent(view, QAccessible.Event.Focus)
        focused.setChild(list(view.nodes).index(node))
        QAccessible.updateAccessibility(focused)
        announce(view, accessible_name(node)[:_MAX_SAID])


def accessible_name(node: Node) -> str:
    """Return who speaks, when, and what."""
    name, time = header_text(node.item)
    text = item_text(node)[:_MAX_CHARS]
    if node.item.speaker is Speaker.NOTICE:
        return text
    head = f"{name}, {time}" if time else name
    tail = f"\n{node.item.note}" if node.item.note else ""
    files = "".join(f"{file.name}, {file.detail}\n" for file in node.item.files)
    return f"{head}: {files}{text}{tail}"


class _Factory:
    def __init__(self) -> None:
        self._lists: WeakKeyDictionary[QObject, AccessibleTranscript] = WeakKeyDictionary()

    def __call__(self, key: str, thing: QObject) -> "QAccessibleInterface | None":  # noqa: ARG002
        if not isinstance(thing, AccessibleView):
            return None
        made = self._lists[thing] = AccessibleTranscript(thing)
        thing.destroyed.connect(made.forget_all)
        return made


class AccessibleTranscript(QAccessibleWidget):
    """The list."""

    def __init__(self, view: AccessibleView) -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self._view = view
        self._items: dict[int, AccessibleItem] = {}
        self._ids: dict[int, int] = {}

    def childCount(self) -> int:
        return len(self._view.nodes)

    def child(self, index: int) -> "QAccessibleInterface | None":  # type: ignore[override]
        nodes = self._view.nodes
        if not 0 <= index < len(nodes):
            return None
        node = nodes[index]
        made = self._items.get(node.order)
        if made is None or made.node is not node:
            self._forget_gone(nodes)
            made = self._items[node.order] = AccessibleItem(self, self._view, node)
            self._ids[node.order] = QAccessible.registerAccessibleInterface(made)
        return made

    def forget_all(self) -> None:
        """Have Qt drop every item: it keeps what is registered for ever."""
        for identity in self._ids.values():
            QAccessible.deleteAccessibleInterface(identity)
        self._ids.clear()
        self._items.clear()

    def _forget_gone(self, nodes: Sequence[Node]) -> None:
        """Drop items of a chat that is shown no longer, once they are many."""
        if len(self._items) <= 2 * len(nodes) + _MOST_GONE:
            return
        shown = {id(node) for node in nodes}
        for order, item in list(self._items.items()):
            if id(item.node) not in shown:
                QAccessible.deleteAccessibleInterface(self._ids.pop(order))
                del self._items[order]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        if isinstance(child, AccessibleItem) and child.node in self._view.nodes:
            return list(self._view.nodes).index(child.node)
        return -1


class AccessibleItem(QAccessibleInterface):
    """One item of the list; its name is what it says."""

    def __init__(self, parent: AccessibleTranscript, view: AccessibleView, node: Node) -> None:
        super().__init__()
        self.node = node
        self._parent = parent
        self._view = view

    def isValid(self) -> bool:
        return True

    def object(self) -> QObject | None:  # type: ignore[override]
        return None

    def window(self) -> QWindow | None:  # type: ignore[override]
        return self._parent.window()

    def parent(self) -> QAccessibleInterface:
        return self._parent

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]  # noqa: ARG002
        return None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]  # noqa: ARG002
        return None

    def childCount(self) -> int:
        return 0

    def indexOfChild(self, child: QAccessibleInterface) -> int:  # noqa: ARG002
        return -1

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = 1
        state.multiLine = 1
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind is not QAccessible.Text.Name:
            return ""
        return "\n".join(filter(None, [accessible_name(self.node), self._view.version_of(self.node)]))

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Nothing here can be edited."""

    def rect(self) -> QRect:
        rect = self._view.rect_of(self.node)
        return rect.translated(self._view.viewport().mapToGlobal(QPoint(0, 0)))
