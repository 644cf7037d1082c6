"""An export is on disk before it takes the place of what was there."""

from pathlib import Path

import pytest

from app.domain.exports import ExportKind
from app.domain.windows import WindowInfo
from app.exchange.window_file import write_window
from app.exchange.window_rows import Heading
from app.history.files import ChatFiles
from app.history.reader import HistoryReader
from tests.fakes.disk_log import DiskLog
from tests.unit.exchange.test_window_export import CHAT, NOW
from tests.unit.history.rows import open_store, text_row

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux for the name of an open file")


@pytest.mark.parametrize("kind", ["markdown", "json"])
def test_an_export_is_on_disk_before_it_replaces_an_older_one(tmp_path: Path, kind: ExportKind) -> None:
    files = ChatFiles(tmp_path / "chat")
    open_store(files).append([text_row("a")], expected_last_seq=0)
    size = files.chat.stat().st_size
    window = WindowInfo(id="w:0", number=1, kind="first", start=0, end=size, rows=1, is_active=True)
    folder = tmp_path / "exports"
    folder.mkdir()
    path = folder / "window"
    path.write_text("the older one")
    disk = DiskLog(folder)
    with disk.watching():
        write_window(path, kind, HistoryReader(files), Heading(CHAT, window, NOW), lambda: None)
    assert "text of a" in path.read_text("utf-8")
    assert "the new content" not in disk.loose_before("replace", "window")
    assert not disk.loose
