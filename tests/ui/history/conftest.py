"""Chats with several windows, written straight to disk, and the window that shows them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import qasync
from pytestqt.qtbot import QtBot

from app.aio import TaskSet
from app.domain.rows import Boundary, RequestInfo, Role, Row, TextPart, ToolPart
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.sidecars import SessionMeta, write_sidecar
from app.ui.history.panel import HistoryPanel
from app.ui.theme import load_theme
from tests.fakes.history import PlayedHistory
from tests.fakes.scripted import ScriptedProvider
from tests.ui.conftest import Desk

MODEL = "scripted/model"
BEGUN = datetime(2026, 5, 3, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Written:
    """A window to be written: the kind of its boundary (empty for the first), and what was said."""

    kind: str
    said: Sequence[tuple[Role, str]]
    tokens: int | None = None
    tool: str = ""


class ChatWriter:
    """Writes rows of one chat, numbered from 1, into its active file."""

    def __init__(self, root: Path, title: str = "Kyoto") -> None:
        library = Library(root)
        self.session = library.create(model=MODEL, now=datetime.now(UTC)).id
        self.files: ChatFiles = library.files(self.session)
        self._seq = 0
        write_sidecar(self.files.meta, SessionMeta(title=title, model=MODEL))

    def write(self, *windows: Written) -> None:
        lines = []
        for window in windows:
            if window.kind:
                boundary = Boundary(kind=window.kind, context_tokens=window.tokens)
                lines.append(self._line("user", "", window, boundary))
            lines += [self._line(role, text, window) for role, text in window.said]
        with self.files.chat.open("ab") as file:
            file.writelines(lines)

    def write_bytes(self, data: bytes) -> None:
        with self.files.chat.open("ab") as file:
            file.write(data)

    def _line(self, role: Role, text: str, window: Written, boundary: Boundary | None = None) -> bytes:
        self._seq += 1
        parts: list[TextPart | ToolPart] = [TextPart(text=text)] if text else []
        if window.tool and role == "assistant":
            call = {"query": "temples"}
            parts.append(ToolPart(call_id=f"c{self._seq}", name=window.tool, input=call, state="done", output="found"))
        row = Row(
            id=f"{self._seq:024x}",
            session=self.session,
            seq=self._seq,
            role=role,
            created=BEGUN + timedelta(minutes=self._seq),
            kind=boundary.kind if boundary is not None else "message",
            boundary=boundary,
            request=RequestInfo(provider="scripted", model="model") if role == "assistant" else None,
            parts=tuple(parts),
        )
        return encode_row(row) + b"\n"


def talk(count: int, about: str) -> list[tuple[Role, str]]:
    """Return questions and answers about something."""
    said: list[tuple[Role, str]] = []
    for number in range(count):
        said.append(("user", f"Question {number} about {about}"))
        said.append(("assistant", f"Answer {number}: much could be said about {about}. " + "And more. " * 20))
    return said


@pytest.fixture
def writer(tmp_path: Path) -> ChatWriter:
    return ChatWriter(tmp_path / "data")


@pytest.fixture
def four_windows(writer: ChatWriter) -> ChatWriter:
    """A chat that rolled over, started afresh, and was summarised."""
    writer.write(
        Written("", talk(20, "hotels")),
        Written(
            "rollover", [("user", "Which temples?"), ("assistant", "Only the quiet ones."), *talk(5, "temples")], 96_000
        ),
        Written("reset", talk(10, "food"), 50_000, tool="session_history"),
        Written("compaction", talk(3, "trains"), 40_000),
    )
    return writer


class HistoryDesk(Desk):
    """The program with its history open."""

    @property
    def panel(self) -> HistoryPanel:
        assert self.window.sides.history is not None
        return self.window.sides.history

    def open_history(self) -> HistoryPanel:
        """Open the history by its action, once the chat is there, and wait for the list."""
        self.until(lambda: bool(self.session) and not self.window.page.composer.field.isReadOnly())
        self.window.actions_.show_history.trigger()
        self.until(lambda: self.panel.listing.state.status == "ready")
        return self.panel


@pytest.fixture
def history(
    qtbot: QtBot, gui_loop: qasync.QEventLoop, tmp_path: Path, provider: ScriptedProvider
) -> Iterator[HistoryDesk]:
    made = HistoryDesk(qtbot, tmp_path / "data", provider)
    yield made
    if made.program.engine.is_running:
        made.close()
    assert made.failures == []


@pytest.fixture
def played() -> PlayedHistory:
    return PlayedHistory()


@pytest.fixture
def panel(qtbot: QtBot, gui_loop: qasync.QEventLoop, played: PlayedHistory) -> Iterator[HistoryPanel]:
    """The panel alone, on a played history."""
    failures: list[BaseException] = []
    tasks = TaskSet(lambda _name, error: failures.append(error))
    made = HistoryPanel(played, tasks, load_theme(dark=False), lambda _ref: "Practice model")  # type: ignore[arg-type]
    qtbot.addWidget(made)
    made.resize(340, 760)
    made.show()
    made.activateWindow()
    yield made
    made.hide()
    qtbot.waitUntil(lambda: len(tasks) == 0)
    assert failures == []
