"""Branches of chats in the list."""

from app.ui.toast import Toast
from tests.fakes.scripted import reply
from tests.ui.conftest import Desk


def branch(desk: Desk, ref: str) -> None:
    """Ask for a branch as the panels do."""
    work = desk.program.bridge.branch_chat(desk.session, ref)
    desk.program.tasks.spawn(work, name="branch")


def test_a_branch_is_in_the_list_at_once_and_its_chat_stays_open(desk: Desk) -> None:
    desk.provider.play(reply("Three."))
    desk.say("Which temples?")
    before = desk.session
    branch(desk, "#1")
    desk.until(lambda: "Which temples? (2)" in desk.titles())
    assert desk.session == before
    model = desk.window.chats_model
    made = next(chat for chat in model.chats() if chat.id != before)
    desk.window.chats.open(made.id)
    desk.until(lambda: desk.session == made.id and "There is no reply" in desk.shown())
    assert [row.text for row in desk.rows()] == ["Which temples?"]
    assert [row.text for row in desk.rows(before)] == ["Which temples?", "Three."]


def test_what_a_branch_lacks_is_told(desk: Desk) -> None:
    desk.provider.play(reply("Three."))
    desk.say("Which temples?")
    chat = desk.root / "sessions" / desk.session / "chat.jsonl"
    chat.write_bytes(b"{broken\n" + chat.read_bytes())
    branch(desk, "#2")
    toast: Toast = desk.window.toast
    desk.until(toast.isVisible)
    assert "damaged entries: 1" in toast._text.text()
