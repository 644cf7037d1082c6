from pathlib import Path

import pytest

from tests.unit.tools.history_chat import HistoryChat


@pytest.fixture
def chat(tmp_path: Path) -> HistoryChat:
    return HistoryChat(tmp_path)
