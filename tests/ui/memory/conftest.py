"""The window with its memory dock, on real files."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.domain.events import MemoriesChanged
from app.domain.memories import MemoryEntry, MemoryScope
from app.memory.memories import global_store, workspace_store
from app.memory.paths import parse_path
from app.memory.store import MemoryStore
from app.ui.memory.naming import NameDialog
from app.ui.memory.panel import MemoryPanel
from tests.ui.conftest import Desk

HERE = "/memories/workspace"
EVERYWHERE = "/memories/global"


class MemoryDesk:
    """What a person sees of memory, and what a model does to it meanwhile."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def panel(self) -> MemoryPanel:
        panel = self.desk.window.sides.memory
        assert panel is not None
        return panel

    def store(self, path: str, session: str = "") -> MemoryStore:
        root: Path = self.desk.root
        if parse_path(path).scope is MemoryScope.GLOBAL:
            return global_store(root)
        return workspace_store(root / "sessions" / (session or self.desk.session))

    def write(self, path: str, text: str, *, tells: bool = True) -> None:
        """Write as a model would."""
        self.store(path).put(parse_path(path), text, expected=None)
        if tells:
            self.tell(path)

    def remove(self, path: str) -> None:
        self.store(path).delete(parse_path(path))
        self.tell(path)

    def tell(self, path: str) -> None:
        is_global = parse_path(path).scope is MemoryScope.GLOBAL
        self.desk.program._buffer.put(MemoriesChanged("" if is_global else self.desk.session))

    def text(self, path: str, session: str = "") -> str:
        return self.store(path, session).read(parse_path(path)).text

    def open(self) -> MemoryPanel:
        """Open the dock with its keys."""
        self.desk.press(Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        self.desk.until(lambda: self.desk.window.sides.memory is not None and bool(self.panel.listings))
        return self.panel

    def listed(self) -> list[str]:
        """Return everything the list says, top to bottom."""
        model = self.panel.list.model()
        lines: list[str] = []
        for at in range(model.rowCount()):
            group = model.index(at, 0)
            lines.append(str(group.data()))
            lines += [f"  {model.index(number, 0, group).data()}" for number in range(model.rowCount(group))]
        return lines

    def entry(self, path: str) -> MemoryEntry:
        found = [each for listing in self.panel.listings.values() for each in listing.entries if each.path == path]
        assert found, path
        return found[0]

    def edit(self, path: str) -> None:
        """Open a memory with the keyboard."""
        self.panel.list.select(path)
        self.desk.qtbot.keyClick(self.panel.list, Qt.Key.Key_Return)
        self.desk.until(lambda: self.opened() == path)

    def opened(self) -> str:
        memory = self.panel.editing.memory
        return memory.base.path if memory is not None else ""

    def type(self, text: str) -> None:
        self.desk.qtbot.keyClicks(self.panel.editor.field, text)

    def name(self, text: str) -> None:
        """Answer the question for a name."""
        self.desk.until(lambda: bool(self.panel.findChildren(NameDialog)))
        dialog = self.panel.findChildren(NameDialog)[-1]
        dialog.field.setText(text)
        self.desk.qtbot.keyClick(dialog.field, Qt.Key.Key_Return)


@pytest.fixture
def memory(desk: Desk) -> MemoryDesk:
    return MemoryDesk(desk)
