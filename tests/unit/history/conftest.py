from pathlib import Path

import pytest

from app.history.files import ChatFiles


@pytest.fixture
def files(tmp_path: Path) -> ChatFiles:
    return ChatFiles(tmp_path / "chat")
