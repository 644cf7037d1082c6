import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtGui import QAccessible

from app.ui.chat.items import Item, Section, Speaker
from app.ui.chat.safe_document import SafeDocument
from app.ui.chat.transcript_view import TranscriptView
from tests.ui.chat.conftest import asked, many, reply


def names(view: TranscriptView) -> list[str]:
    tree = QAccessible.queryAccessibleInterface(view)
    return [tree.child(at).text(QAccessible.Text.Name) for at in range(tree.childCount())]


def test_the_transcript_is_a_list_of_what_was_said(view: TranscriptView) -> None:
    moment = datetime(2020, 2, 3, 4, 5, tzinfo=UTC)
    view.set_items(
        [
            Item("n", Speaker.NOTICE, sections=[Section("text", "Rolled over")]),
            asked("q", "Why?"),
            replace(reply("a", "Because.", reasoning="secret", note="Stopped."), created=moment),
        ],
        more_above=False,
    )

    tree = QAccessible.queryAccessibleInterface(view)
    notice, question, answer = names(view)

    assert tree.role() is QAccessible.Role.List
    assert tree.text(QAccessible.Text.Name) == "Transcript"
    assert notice == "Rolled over"
    assert question == "You: Why?"
    assert answer.startswith("Model, ")
    assert "2020" in answer or "20" in answer
    assert answer.endswith(": Because.\nStopped.")
    assert "secret" not in answer


def test_items_know_their_place_and_their_list(view: TranscriptView) -> None:
    view.set_items(many(30), more_above=False)
    tree = QAccessible.queryAccessibleInterface(view)

    child = tree.child(29)

    assert child.role() is QAccessible.Role.ListItem
    assert tree.indexOfChild(child) == 29
    assert child.parent().role() is QAccessible.Role.List
    assert child.childCount() == 0
    assert child.rect().intersects(tree.rect())
    assert not tree.child(0).rect().intersects(tree.rect())
    assert tree.child(30) is None


def test_the_list_follows_what_is_shown(view: TranscriptView) -> None:
    view.set_items([asked("a", "one")], more_above=False)
    assert names(view) == ["You: one"]

    view.append_item(asked("b", "two"))
    view.prepend_items([asked("c", "zero")], more_above=False)
    view.update_item(asked("a", "changed"))
    view.remove_item("b")

    assert names(view) == ["You: zero", "You: changed"]


def test_a_safe_document_opens_no_file(tmp_path: Path, view: TranscriptView) -> None:
    pipe = tmp_path / "pipe"
    subprocess.run(["mkfifo", str(pipe)], check=True)
    document = SafeDocument()

    # Reading the pipe would wait for a writer for ever.
    document.setHtml(f'<style>@import url("{pipe}");</style><p>x<img src="file://{pipe}"><img src="{pipe}"></p>')
    document.setTextWidth(100)
    view.set_items([reply("a", f"![x](file://{pipe}) ![y]({pipe}) <img src='{pipe}'>")], more_above=False)

    assert document.size().height() > 0
    assert not view.grab().isNull()
