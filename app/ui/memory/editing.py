"""The memory that is open: its text, its version, and what is asked of the engine to keep both in step.

Nothing typed is ever lost: it is saved before another memory takes its place, and a newer version beside it is a
conflict that the person settles.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from PySide6.QtCore import QObject, Signal

from app.aio import TaskSet
from app.domain.errors import KnownError
from app.domain.memories import MAX_FILE_BYTES, MAX_FILES, MemoryConflict, MemoryScope, MemoryText
from app.domain.text import clean_text
from app.ui.bridge import Bridge

_SPARE_NAME: Final = "not saved.md"
_LINE_ENDS: Final = re.compile("[\r\u2029\ufdd0\ufdd1]")
"""What an editor shows, and gives back, as the end of a line."""


class SaveState(Enum):
    """How what is typed stands to what is on disk."""

    SAVED = auto()
    UNSAVED = auto()
    SAVING = auto()
    CONFLICT = auto()
    """Somebody else has written or deleted it meanwhile."""
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """A memory in the editor. `theirs` counts in a conflict; `reason` says why saving failed."""

    session: str
    base: MemoryText
    """As it was read or saved last."""
    state: SaveState = SaveState.SAVED
    theirs: MemoryText | None = None
    reason: str = ""


class Editing(QObject):
    """Holds the open memory; the text being typed is asked of the editor when it is needed."""

    shown = Signal(str, bool)
    """A text to be put into the editor, and whether it is another memory's (else the same one's, newer)."""
    changed = Signal()
    """State or name is another one."""
    left = Signal()
    """Nothing is open any more."""
    told = Signal(str)
    """A sentence for people."""

    def __init__(self, bridge: Bridge, tasks: TaskSet, parent: QObject, *, typed: Callable[[], str]) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = tasks
        self._typed = typed
        self._saving = asyncio.Lock()
        self.memory: OpenMemory | None = None

    @property
    def is_unsaved(self) -> bool:
        """Whether something typed is not on disk."""
        return self.memory is not None and self.memory.state is not SaveState.SAVED

    # What the person does

    def open(self, session: str, path: str) -> None:
        """Show a memory, once what is open has been saved."""
        self._tasks.spawn(self._open(session, path), name="open a memory")

    def close(self) -> None:
        """Leave the memory, once it has been saved; it stays if that fails."""
        self._tasks.spawn(self._close(), name="close a memory")

    def note_typing(self) -> None:
        """Compare what is typed with what was read."""
        memory = self.memory
        if memory is None or memory.state in (SaveState.CONFLICT, SaveState.SAVING):
            return
        is_same = self._typed() == _as_shown(memory.base.text)
        self._set(replace(memory, state=SaveState.SAVED if is_same else SaveState.UNSAVED, reason=""))

    def save(self) -> None:
        """Put what is typed on disk."""
        self._tasks.spawn(self._save(), name="save a memory")

    def keep_mine(self) -> None:
        """Settle a conflict: what is typed takes the place of the newer version."""
        memory = self.memory
        if memory is not None and memory.state is SaveState.CONFLICT:
            base = memory.theirs or replace(memory.base, text="", version="")
            self._set(replace(memory, base=base, state=SaveState.UNSAVED, theirs=None))
            self.save()

    def take_theirs(self) -> None:
        """Settle a conflict: the newer version takes the place of what is typed, which Undo brings back."""
        memory = self.memory
        if memory is None or memory.state is not SaveState.CONFLICT:
            return
        if memory.theirs is None:
            self._leave()
            return
        self._set(OpenMemory(memory.session, memory.theirs))
        self.shown.emit(memory.theirs.text, False)

    def discard(self) -> None:
        """Go back to the text as it was read or saved last; Undo brings back what was typed."""
        memory = self.memory
        if memory is not None and memory.state is not SaveState.SAVING:
            self._set(OpenMemory(memory.session, memory.base))
            self.shown.emit(memory.base.text, False)
            self.refresh()

    def note_renamed(self, session: str, old: str, new: str) -> None:
        """Follow a memory of a chat, or of all, to its new path."""
        if self.memory is not None and self._is_open(session, old):
            self._set(replace(self.memory, base=replace(self.memory.base, path=new)))

    def note_deleted(self, session: str, path: str) -> None:
        """Leave a memory that the person has deleted."""
        if self._is_open(session, path):
            self._leave()

    # What others do

    def note_change(self, session: str) -> None:
        """Look whether the open memory was written: one of a chat, or of all chats for an empty id."""
        memory = self.memory
        if memory is not None and session == ("" if is_global(memory) else memory.session):
            self.refresh()

    def refresh(self) -> None:
        """Look whether the open memory is another one on disk by now."""
        self._tasks.spawn(self._refresh(), name="look after a memory")

    async def keep_unsaved(self) -> None:
        """Put on disk what is typed before the program ends: under a name of its own if need be."""
        memory, text = self.memory, self._typed()
        if memory is None or not self.is_unsaved:
            return
        # Nothing is told from here on: whoever could hear it is going.
        async with self._saving:
            if not await self._is_kept(memory, text):
                await self._save_copies(memory, text)

    async def save_if_open(self, session: str, path: str) -> bool:
        """Put on disk what is typed into this memory if it is open; return whether nothing of it is unsaved by now."""
        return not self._is_open(session, path) or await self._save_first()

    # Coroutines

    async def _open(self, session: str, path: str) -> None:
        found: MemoryText | None = None
        while found is None or self.is_unsaved:
            # What is typed while the other one is read is saved as well.
            if not await self._save_first():
                return
            try:
                found = await self._bridge.read_memory(session, path)
            except KnownError as error:
                self.told.emit(str(error))
                return
            if found is None:
                break
        if found is None:
            self.told.emit(self.tr("This memory is not there any more."))
            return
        self._set(OpenMemory(session, found))
        self.shown.emit(found.text, True)

    async def _close(self) -> None:
        if await self._save_first():
            self._leave()

    async def _save_first(self) -> bool:
        """Return whether nothing typed is unsaved by now."""
        return not self.is_unsaved or await self._save()

    async def _save(self) -> bool:
        """Return whether what is typed is on disk by now."""
        async with self._saving:
            return await self._save_now()

    async def _save_now(self) -> bool:
        memory = self.memory
        if memory is None or memory.state in (SaveState.SAVED, SaveState.CONFLICT):
            return memory is None or memory.state is SaveState.SAVED
        text = self._typed()
        self._set(replace(memory, state=SaveState.SAVING))
        try:
            saved = await self._bridge.save_memory(memory.session, memory.base.path, text, version=memory.base.version)
        except KnownError as error:
            self._set(replace(memory, state=SaveState.FAILED, reason=str(error)))
            return False
        if isinstance(saved, MemoryConflict):
            if saved.theirs is not None and saved.theirs.text == text:
                # Both wrote the same.
                saved = saved.theirs
            else:
                self._set(replace(memory, state=SaveState.CONFLICT, theirs=saved.theirs))
                return False
        self._set(replace(memory, base=saved, state=SaveState.SAVED, reason=""))
        self.note_typing()
        return not self.is_unsaved

    async def _refresh(self) -> None:
        memory = self.memory
        if memory is None or memory.state is SaveState.SAVING:
            return
        try:
            found = await self._bridge.read_memory(memory.session, memory.base.path)
        except KnownError:
            # Saving it will say what is wrong.
            return
        if self.memory is not memory or (found is not None and found.version == memory.base.version):
            return
        if memory.state is not SaveState.SAVED:
            self._set(replace(memory, state=SaveState.CONFLICT, theirs=found))
        elif found is None:
            self._leave()
            self.told.emit(self.tr("The memory that was open is not there any more."))
        else:
            self._set(OpenMemory(memory.session, found))
            self.shown.emit(found.text, False)

    async def _is_kept(self, memory: OpenMemory, text: str) -> bool:
        """Return whether `text` is in its own memory by now."""
        if memory.state is SaveState.CONFLICT:
            return False
        try:
            saved = await self._bridge.save_memory(memory.session, memory.base.path, text, version=memory.base.version)
        except KnownError:
            return False
        theirs = saved.theirs if isinstance(saved, MemoryConflict) else saved
        return theirs is not None and theirs.text == text

    async def _save_copies(self, memory: OpenMemory, text: str) -> None:
        """Put `text` beside its memory, in pieces if it is too long for one. Raises KnownError."""
        for piece in _pieces(text):
            try:
                await self._save_copy(memory.session, memory.base.path, piece)
            except KnownError:
                # The name is too long with what is added to it.
                scope = memory.base.path.split("/")[2]
                await self._save_copy(memory.session, f"/memories/{scope}/{_SPARE_NAME}", piece)

    async def _save_copy(self, session: str, path: str, text: str) -> None:
        stem, dot, ending = path.rpartition(".")
        if not dot or "/" in ending:
            stem, dot, ending = path, "", ""
        for number in range(1, MAX_FILES + 1):
            path = f"{stem} (yours{f' {number}' if number > 1 else ''}){dot}{ending}"
            saved = await self._bridge.save_memory(session, path, text, version="")
            if isinstance(saved, MemoryText):
                return

    def _is_open(self, session: str, path: str) -> bool:
        memory = self.memory
        return memory is not None and memory.base.path == path and (is_global(memory) or memory.session == session)

    def _leave(self) -> None:
        self._set(None)
        self.left.emit()

    def _set(self, memory: OpenMemory | None) -> None:
        self.memory = memory
        self.changed.emit()


def _as_shown(text: str) -> str:
    return _LINE_ENDS.sub("\n", text)


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that a memory takes; none for an empty one."""
    rest = clean_text(text)
    while rest:
        piece = rest.encode()[:MAX_FILE_BYTES].decode(errors="ignore")
        yield piece
        rest = rest[len(piece) :]


def is_global(memory: OpenMemory) -> bool:
    """Whether all chats share it."""
    return memory.base.path.startswith(f"/memories/{MemoryScope.GLOBAL}/")
