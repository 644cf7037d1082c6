"""What the pictures are taken in front of: the program's real lower half, a key store in memory, an Ollama that is
played, and some files to attach."""

import random
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPolygonF

from app.aio import SystemClock, TaskSet
from app.bootstrap import report
from app.domain.ids import new_id
from tests.fakes.farend import FarEndThread, Model
from tests.fakes.pdf import make_pdf

if TYPE_CHECKING:
    from app.domain.events import Emit
    from app.history.files import ChatFiles
    from app.session.manager import SessionManager
    from app.tools.base import Tool

OLLAMA_PORT: Final = 11434
"""Where everybody's Ollama listens."""
MODELS: Final = (
    Model("gemma3:12b", context=131_072, num_ctx=16_384, capabilities=("completion", "vision")),
    Model("qwen3:8b", context=40_960, num_ctx=8_192, capabilities=("completion", "tools", "thinking")),
    Model("llama3.2:3b", context=131_072),
)
WORDS_PER_SECOND: Final = 60


def play_ollama() -> FarEndThread:
    """Return an Ollama that says what it is told; where a real one runs it listens elsewhere."""
    with socket.socket() as probe:
        is_taken = probe.connect_ex(("127.0.0.1", OLLAMA_PORT)) == 0
    return FarEndThread(port=0 if is_taken else OLLAMA_PORT, look="ollama", models=MODELS)


def make_manager(root: Path, ollama_port: int, emit: "Emit", *, environ: Mapping[str, str]) -> "SessionManager":
    """Return everything below the interface, with no server but the one that is played.

    `environ` are the variables in which it may find keys: none of this machine's.
    """
    from app.budget.tokens import TokenCounter
    from app.history.cursor import Cursors
    from app.history.cursor_key import CursorKey
    from app.history.library import Library
    from app.providers.discovery import Ports
    from app.providers.practice.provider import PracticeProvider
    from app.providers.registry import Registry
    from app.session.env import SessionEnv
    from app.session.manager import SessionManager
    from tests.fakes.connections import MemoryStore, make_connections

    store = MemoryStore()
    store.name = "Secret Service"
    tasks = TaskSet(report)
    counter, clock, cursors = TokenCounter(), SystemClock(), Cursors(CursorKey(root / "cursor.key"))

    def make_tools(files: "ChatFiles", session: str) -> "tuple[Tool, ...]":
        from app.domain.events import MemoriesChanged
        from app.domain.memories import MemoryScope
        from app.memory.memories import Memories, global_store
        from app.tools.folder_tools import make_folder_tools
        from app.tools.memory import MemoryTool
        from app.tools.session_history import SessionHistoryTool

        def told(scope: MemoryScope) -> None:
            emit(MemoriesChanged("" if scope is MemoryScope.GLOBAL else session))

        return (
            SessionHistoryTool(files, session=session, cursors=cursors, counter=counter, clock=clock),
            MemoryTool(Memories(global_store(root), files.folder), counter=counter, clock=clock, told=told),
            *make_folder_tools(counter, clock, root).values(),
        )

    env = SessionEnv(Registry(), emit, clock, new_id, tasks, random.random, counter, make_tools)
    connections = make_connections(
        root,
        env.providers,
        [PracticeProvider(counter, words_per_second=WORDS_PER_SECOND)],
        emit=emit,
        tasks=tasks,
        store=store,
        environ=environ,
        ports=Ports(ollama=ollama_port, lmstudio=9),
    )
    return SessionManager(env, Library(root), connections)


def make_files(folder: Path) -> list[str]:
    """Write a picture, a PDF and a text; return their paths."""
    picture, pdf, text = folder / "lighthouse.png", folder / "Harbour records 1904.pdf", folder / "notes.md"
    draw_lighthouse().save(str(picture))
    pdf.write_bytes(make_pdf(*(f"Harbour records, page {number}" for number in range(1, 13))))
    text.write_text("# Chapter 3\n\n- The keeper leaves at dawn.\n- Nobody saw the boat.\n", "utf-8")
    return [str(picture), str(pdf), str(text)]


def draw_lighthouse() -> QImage:
    """Return a picture of 1200 by 900 pixels."""
    image = QImage(1200, 900, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.fillRect(QRectF(0, 0, 1200, 620), QColor("#f3c98b"))
    painter.setBrush(QColor("#fff1c9"))
    painter.drawEllipse(QPointF(300, 330), 110, 110)
    painter.fillRect(QRectF(0, 600, 1200, 300), QColor("#2f6f86"))
    painter.setBrush(QColor("#3b3a36"))
    painter.drawEllipse(QRectF(620, 560, 560, 200))
    painter.setBrush(QColor("#f7f4ee"))
    painter.drawPolygon(QPolygonF([QPointF(830, 600), QPointF(860, 230), QPointF(960, 230), QPointF(990, 600)]))
    painter.setBrush(QColor("#b8412f"))
    painter.drawPolygon(QPolygonF([QPointF(840, 480), QPointF(848, 380), QPointF(972, 380), QPointF(980, 480)]))
    painter.drawPolygon(QPolygonF([QPointF(845, 180), QPointF(910, 120), QPointF(975, 180)]))
    painter.fillRect(QRectF(865, 180, 90, 50), QColor("#ffe27a"))
    painter.end()
    return image
