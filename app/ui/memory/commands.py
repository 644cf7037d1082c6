"""What can be done with a memory besides editing it: make, rename, pin, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.domain.memories import MemoryEntry, MemoryScope, RemovedMemory
from app.ui.bridge import Bridge
from app.ui.memory.naming import NameDialog


class MemoryCommands(QObject):
    """Does what a menu or a key of the panel asks for; tells how it went."""

    told = Signal(str)
    """A sentence for people about what could not be done."""
    undo_offered = Signal(str, object)
    """A sentence about what was done, and what undoes it."""
    created = Signal(str, str)
    """Chat and path of a new memory."""
    renamed = Signal(str, str, str)
    """Chat, and paths before and after."""
    deleted = Signal(str, str)
    """Chat and path."""

    def __init__(
        self, bridge: Bridge, tasks: TaskSet, parent: QWidget, *, saved_first: Callable[[str, str], Awaitable[bool]]
    ) -> None:
        """`saved_first` puts on disk what is typed into a memory, and tells whether nothing of it is unsaved."""
        super().__init__(parent)
        self._saved_first = saved_first
        self._bridge = bridge
        self._tasks = tasks
        self._host = parent

    def ask_for_new(self, session: str, scope: MemoryScope) -> None:
        """Ask for a name, without waiting, and make a memory of it."""
        is_global = scope is MemoryScope.GLOBAL
        dialog = NameDialog(
            self._host,
            title=self.tr("New memory for all chats") if is_global else self.tr("New memory for this chat"),
            words=self.tr("What is it to be called?"),
        )
        dialog.named.connect(lambda name: self._run(self._create(session, scope, name)))
        dialog.open()

    def ask_to_rename(self, session: str, entry: MemoryEntry) -> None:
        """Ask for another name, without waiting."""
        dialog = NameDialog(
            self._host,
            title=self.tr("Rename a memory"),
            words=self.tr("What is it to be called? A / puts it into a folder."),
            name=entry.name,
        )
        dialog.named.connect(lambda name: self._run(self._rename(session, entry, name)))
        dialog.open()

    def pin(self, session: str, entry: MemoryEntry, *, on: bool) -> None:
        """Put a memory before the others, or let it be one of them."""
        self._run(self._bridge.pin_memory(session, entry.path, on=on))

    def delete(self, session: str, entry: MemoryEntry) -> None:
        """Delete a memory and offer to undo it."""
        self._run(self._delete(session, entry))

    def _run(self, work: Coroutine[object, object, None]) -> None:
        self._tasks.spawn(self._tell_faults(work), name="change a memory")

    async def _tell_faults(self, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except KnownError as error:
            self.told.emit(str(error))

    async def _create(self, session: str, scope: MemoryScope, name: str) -> None:
        made = await self._bridge.create_memory(session, f"/memories/{scope}/{_with_ending(name)}")
        self.created.emit(session, made.path)

    async def _rename(self, session: str, entry: MemoryEntry, name: str) -> None:
        if name == entry.name:
            return
        renamed = await self._bridge.rename_memory(session, entry.path, f"/memories/{entry.scope}/{name}")
        self.renamed.emit(session, entry.path, renamed)

    async def _delete(self, session: str, entry: MemoryEntry) -> None:
        if not await self._saved_first(session, entry.path):
            # Undo could not bring that back.
            self.told.emit(self.tr("It isn't deleted: what you typed in it is not saved. Save or discard that first."))
            return
        removed = await self._bridge.delete_memory(session, entry.path)
        self.deleted.emit(session, entry.path)
        words = self.tr("“{name}” is deleted.").format(name=entry.name)
        self.undo_offered.emit(words, partial(self._undo, session, removed))

    def _undo(self, session: str, removed: RemovedMemory) -> None:
        self._run(self._bridge.put_back_memory(session, removed))


def _with_ending(name: str) -> str:
    """A name without an ending is one of a plain text."""
    return name if "." in name.rsplit("/", 1)[-1] else f"{name}.md"
