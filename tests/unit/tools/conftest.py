from pathlib import Path

import pytest

from tests.unit.tools.folder_desk import FolderDesk
from tests.unit.tools.history_chat import HistoryChat


@pytest.fixture
def chat(tmp_path: Path) -> HistoryChat:
    return HistoryChat(tmp_path)


@pytest.fixture
def desk(tmp_path: Path) -> FolderDesk:
    return FolderDesk(tmp_path)
