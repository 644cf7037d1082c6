from pathlib import Path

import pytest

from app.domain.memories import MemoryScope
from app.memory.store import MemoryStore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the memories of all chats lie."""
    return tmp_path / "memory"


@pytest.fixture
def store(root: Path) -> MemoryStore:
    return MemoryStore(root, MemoryScope.GLOBAL)
