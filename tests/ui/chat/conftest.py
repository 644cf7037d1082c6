"""A transcript on an offscreen window, and the words to drive it."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.ui.chat.items import Item, ItemAction, Section, SectionKind, Speaker
from app.ui.chat.targets import Target, TargetId, TargetKind
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme

LEFT = Qt.MouseButton.LeftButton


def reply(
    name: str,
    text: str = "",
    *,
    reasoning: str = "",
    streaming: bool = False,
    note: str = "",
    actions: tuple[ItemAction, ...] = (),
) -> Item:
    """Return an item of the assistant's."""
    kinds: list[tuple[SectionKind, str]] = [("reasoning", reasoning), ("text", text)]
    sections = [Section(kind, words) for kind, words in kinds if words]
    item = Item(name, Speaker.ASSISTANT, "Model", sections=sections, streaming=streaming)
    return replace(item, note=note, actions=actions)


def asked(name: str, text: str = "hi") -> Item:
    """Return an item of the person's."""
    return Item(name, Speaker.USER, "You", sections=[Section("text", text)])


def many(count: int, start: int = 0) -> list[Item]:
    """Return items high enough to scroll."""
    return [reply(f"i{number}", f"Item {number}\n\n" + "words " * 60) for number in range(start, start + count)]


class Driver:
    """Uses a transcript as a person would."""

    def __init__(self, view: TranscriptView, qtbot: QtBot) -> None:
        self.view = view
        self.qtbot = qtbot

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until the view shows what it should."""
        self.qtbot.waitUntil(condition, timeout=5_000)

    def stream(self, name: str, *pieces: str, kind: SectionKind = "text") -> None:
        """Let deltas arrive and be shown."""
        for piece in pieces:
            self.view.append_delta(name, kind, piece)
        last = "".join(pieces)[-5:]
        self.wait_for(lambda: last in self.sections(name) and not self.is_behind())

    def sections(self, name: str) -> str:
        """Return all text of an item as the view has it."""
        node = next(node for node in self.view.nodes if node.item.id == name)
        return "".join(section.text for section in node.sections)

    def is_behind(self) -> bool:
        """Return whether something is still to be laid out."""
        return any(section.is_pending for node in self.view.nodes if node.is_expanded for section in node.sections)

    def tops(self) -> dict[str, int]:
        """Return where the items on screen are."""
        height = self.view.viewport().height()
        rects = {node.item.id: self.view.rect_of(node) for node in self.view.nodes}
        return {name: rect.top() for name, rect in rects.items() if rect.bottom() > 0 and rect.top() < height}

    def target(self, kind: TargetKind, number: int = 0) -> tuple[TargetId, Target]:
        """Return the nth target of a kind on screen."""
        return [found for found in self.view.on_screen.targets() if found[1].kind is kind][number]

    def click(self, kind: TargetKind, number: int = 0) -> None:
        """Click a target."""
        QTest.mouseClick(self.view.viewport(), LEFT, pos=self.target(kind, number)[1].rect.center().toPoint())

    def point_of(self, words: str) -> QPoint:
        """Return a point in the first letter of some words on screen."""
        height, width = self.view.viewport().height(), self.view.viewport().width()
        for y in range(2, height, 4):
            for x in range(2, width, 4):
                place = self.view.on_screen.place_at(QPointF(x, y))
                if place is None:
                    continue
                bounds = self.view.on_screen.word_at(place)
                if self.view.on_screen.text_between(*bounds) == words and bounds[0].position <= place.position:
                    return QPoint(x + 2, y + 2)
        raise AssertionError(words)

    def select(self, start: QPoint, end: QPoint) -> None:
        """Drag from one point to another."""
        viewport = self.view.viewport()
        QTest.mousePress(viewport, LEFT, pos=start)
        QTest.mouseMove(viewport, end)
        self.wait_for(lambda: self.view.has_selection() or start == end)
        QTest.mouseRelease(viewport, LEFT, pos=end)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    made = TranscriptView(load_theme(dark=False))
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    qtbot.waitExposed(made)
    yield made
    QGuiApplication.clipboard().clear()


@pytest.fixture
def driver(view: TranscriptView, qtbot: QtBot) -> Driver:
    return Driver(view, qtbot)
