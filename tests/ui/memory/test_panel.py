"""The memory dock: what it lists, the editor, and that nothing typed is lost."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication

from app.domain.memories import MemoryEntry, MemoryScope
from app.ui.memory.editing import SaveState
from tests.fakes.scripted import reply
from tests.ui.memory.conftest import EVERYWHERE, HERE, MemoryDesk

PLAN = f"{HERE}/plan.md"
PEOPLE = f"{EVERYWHERE}/people.md"
CONTROL = Qt.KeyboardModifier.ControlModifier


def state(memory: MemoryDesk) -> SaveState:
    held = memory.panel.editing.memory
    assert held is not None
    return held.state


def test_without_memories_one_sentence_says_what_memory_is(memory: MemoryDesk) -> None:
    panel = memory.open()
    assert memory.listed() == ["This chat", "  Nothing yet", "Everywhere", "  Nothing yet"]
    assert panel._words.isVisible()
    assert panel._words.text().startswith("Memory is where models keep short notes")


def test_memories_are_listed_by_where_they_hold(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    memory.write(PEOPLE, "Ada")
    panel = memory.open()
    assert memory.listed() == ["This chat", "  plan.md", "Everywhere", "  people.md"]
    assert not panel._words.isVisible()
    memory.write(f"{HERE}/more.md", "x")
    memory.desk.until(lambda: "  more.md" in memory.listed())
    (memory.desk.root / "memory" / "con").touch()
    panel.refresh()
    memory.desk.until(lambda: "  1 file there can't be a memory" in memory.listed())


def test_where_the_keyboard_is_can_be_seen_from_the_start(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    assert panel.list.hasFocus()
    seen: list[object] = [panel.list.current]
    memory.remove(PLAN)
    memory.desk.until(lambda: "  plan.md" not in memory.listed())
    seen.append(panel.list.current)
    assert isinstance(seen[0], MemoryEntry)
    assert seen[0].path == PLAN
    assert seen[1] is MemoryScope.WORKSPACE


def test_it_is_shown_beside_the_chat_and_stays_over_a_restart(memory: MemoryDesk) -> None:
    memory.open()
    assert memory.desk.window.actions_.show_memory.isChecked()
    memory.desk.restart()
    memory.desk.until(lambda: memory.desk.window.sides.memory is not None)
    assert memory.panel.isVisible()
    memory.panel.closed.emit()
    assert not memory.panel.isVisible()
    assert not memory.desk.window.actions_.show_memory.isChecked()


@pytest.mark.parametrize(("width", "both"), [(1_400, True), (1_000, False), (400, False)])
def test_where_there_is_no_room_it_takes_turns_with_the_history(memory: MemoryDesk, width: int, both: bool) -> None:
    window = memory.desk.window
    window.resize(width, 760)
    window.sides.show_history()
    window.sides.show_memory()
    memory.desk.until(memory.panel.isVisible)
    history = window.sides.history
    assert history is not None
    assert history.isVisible() is both
    window.sides.show_history()
    assert history.isVisible()
    assert memory.panel.isVisible() is both


def test_what_is_typed_is_marked_and_saved_with_the_keys(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    assert panel.editor.text() == "one"
    assert (panel.editor.name.text(), panel.editor.save_button.isEnabled()) == ("plan.md", False)
    memory.type("zero, ")
    assert (panel.editor.name.text(), panel.editor.save_button.isEnabled()) == ("plan.md •", True)
    memory.desk.qtbot.keyClick(panel.editor.field, Qt.Key.Key_S, CONTROL)
    memory.desk.until(lambda: state(memory) is SaveState.SAVED)
    assert memory.text(PLAN) == "zero, one"
    assert panel.editor.name.text() == "plan.md"
    memory.type("a")
    memory.desk.qtbot.keyClick(panel.editor.field, Qt.Key.Key_Backspace)
    assert state(memory) is SaveState.SAVED


def test_escape_goes_back_to_the_list_and_keeps_what_was_typed(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    memory.type("zero, ")
    # Also while a reply could be stopped by the same key.
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
    override.ignore()
    QApplication.sendEvent(panel.editor, override)
    assert override.isAccepted()
    memory.desk.qtbot.keyClick(panel.editor, Qt.Key.Key_Escape)
    memory.desk.until(lambda: memory.opened() == "")
    assert panel.list.isVisible()
    assert memory.text(PLAN) == "zero, one"


def test_another_memory_and_another_chat_wait_until_it_is_saved(memory: MemoryDesk) -> None:
    memory.desk.provider.play(reply("Hello."))
    memory.desk.say("Hello")
    memory.write(PLAN, "one")
    memory.write(PEOPLE, "Ada")
    memory.open()
    first = memory.desk.session
    memory.edit(PLAN)
    memory.type("zero, ")
    memory.panel.editing.open(first, PEOPLE)
    memory.desk.until(lambda: memory.opened() == PEOPLE)
    assert memory.text(PLAN) == "zero, one"
    memory.panel.editing.open(first, PLAN)
    memory.desk.until(lambda: memory.opened() == PLAN)
    memory.type("again ")
    memory.desk.window.actions_.new_chat.trigger()
    memory.desk.until(lambda: memory.desk.session not in ("", first))
    memory.desk.until(lambda: memory.opened() == "")
    assert memory.text(PLAN, first) == "again zero, one"
    memory.desk.until(lambda: memory.listed() == ["This chat", "  Nothing yet", "Everywhere", "  people.md"])


def test_what_a_model_writes_shows_at_once_if_nothing_is_unsaved(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    memory.write(PLAN, "two")
    memory.desk.until(lambda: panel.editor.text() == "two")
    assert state(memory) is SaveState.SAVED
    memory.remove(PLAN)
    memory.desk.until(lambda: memory.opened() == "")
    assert panel.list.isVisible()


def conflict(memory: MemoryDesk, *, by_saving: bool) -> None:
    """Type something while a model writes something else."""
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    memory.type("mine, ")
    memory.write(PLAN, "theirs", tells=not by_saving)
    if by_saving:
        memory.desk.qtbot.keyClick(panel.editor.field, Qt.Key.Key_S, CONTROL)
    memory.desk.until(lambda: state(memory) is SaveState.CONFLICT)
    assert memory.text(PLAN) == "theirs"
    assert panel.editor.text() == "mine, one"
    assert panel.editor.conflict.isVisible()
    assert panel.editor.conflict.theirs.toPlainText() == "theirs"
    # Going away does not settle it.
    panel.editing.close()
    memory.type("still ")
    memory.desk.until(lambda: len(memory.desk.program.tasks) == 0)
    assert panel.editor.text() == "mine, still one"
    assert state(memory) is SaveState.CONFLICT


@pytest.mark.parametrize("by_saving", [True, False])
def test_in_a_conflict_mine_can_be_kept(memory: MemoryDesk, by_saving: bool) -> None:
    conflict(memory, by_saving=by_saving)
    memory.panel.editor.conflict.mine_button.click()
    memory.desk.until(lambda: state(memory) is SaveState.SAVED)
    assert memory.text(PLAN) == "mine, still one"
    assert not memory.panel.editor.conflict.isVisible()


@pytest.mark.parametrize("by_saving", [True, False])
def test_in_a_conflict_the_newer_one_can_be_taken_and_undone(memory: MemoryDesk, by_saving: bool) -> None:
    conflict(memory, by_saving=by_saving)
    memory.panel.editor.conflict.copy_button.click()
    assert QGuiApplication.clipboard().text() == "mine, still one"
    assert state(memory) is SaveState.CONFLICT
    memory.panel.editor.conflict.theirs_button.click()
    assert memory.panel.editor.text() == "theirs"
    assert state(memory) is SaveState.SAVED
    memory.panel.editor.field.undo()
    assert memory.panel.editor.text() == "mine, still one"
    assert state(memory) is SaveState.UNSAVED


def test_a_memory_that_is_deleted_meanwhile_can_be_kept(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    memory.type("mine, ")
    memory.remove(PLAN)
    memory.desk.until(lambda: state(memory) is SaveState.CONFLICT)
    assert not panel.editor.conflict.theirs.isVisible()
    panel.editor.conflict.mine_button.click()
    memory.desk.until(lambda: state(memory) is SaveState.SAVED)
    assert memory.text(PLAN) == "mine, one"


def test_quitting_keeps_what_was_typed(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    memory.open()
    memory.edit(PLAN)
    session = memory.desk.session
    memory.type("mine, ")
    memory.desk.close()
    assert memory.text(PLAN, session) == "mine, one"


def test_quitting_in_a_conflict_keeps_both(memory: MemoryDesk) -> None:
    conflict(memory, by_saving=True)
    session = memory.desk.session
    memory.desk.close()
    assert memory.text(PLAN, session) == "theirs"
    assert memory.text(f"{HERE}/plan (yours).md", session) == "mine, still one"


@pytest.mark.parametrize("text", ["a\u00a0b\u2028c \u202fd", "a\u2029b\rc\n", "\tlast line has no end"])
def test_opening_a_memory_changes_nothing_in_it(memory: MemoryDesk, text: str) -> None:
    memory.write(PLAN, text)
    panel = memory.open()
    memory.edit(PLAN)
    assert state(memory) is SaveState.SAVED
    if "\r" not in text:
        memory.type("x")
        panel.editing.save()
        memory.desk.until(lambda: state(memory) is SaveState.SAVED)
        assert memory.text(PLAN) == f"x{text}"


def test_what_is_typed_while_another_memory_is_read_is_kept(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    memory.write(PEOPLE, "Ada")
    panel = memory.open()
    memory.edit(PLAN)

    async def type_on() -> None:
        memory.type("zero, ")

    # Begun in this order: the other memory is being read by then.
    panel.editing.open(memory.desk.session, PEOPLE)
    panel._tasks.spawn(type_on(), name="typing")
    memory.desk.until(lambda: memory.opened() == PEOPLE)
    assert memory.text(PLAN) == "zero, one"
    assert memory.text(PEOPLE) == panel.editor.text() == "Ada"


def test_a_memory_with_unsaved_words_is_saved_before_it_is_deleted(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    memory.type("zero, ")
    panel.commands.delete(memory.desk.session, memory.entry(PLAN))
    memory.desk.until(lambda: memory.opened() == "")
    memory.desk.until(memory.desk.window.toast.isVisible)
    memory.desk.window.toast.button.click()
    memory.desk.until(lambda: memory.store(PLAN).listing().entries != ())
    assert memory.text(PLAN) == "zero, one"


def test_a_memory_in_conflict_is_not_deleted_with_what_was_typed(memory: MemoryDesk) -> None:
    conflict(memory, by_saving=True)
    told: list[str] = []
    memory.panel.told.connect(told.append)
    memory.panel.commands.delete(memory.desk.session, memory.entry(PLAN))
    memory.desk.until(lambda: bool(told))
    assert "It isn't deleted" in told[0]
    assert memory.text(PLAN) == "theirs"
    assert memory.panel.editor.text() == "mine, still one"


def test_quitting_keeps_what_is_too_long_for_one_memory(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    session, text = memory.desk.session, "\U0001f98a\u00e9 fox\n" * 20_000
    panel.editor.field.setPlainText(text)
    memory.desk.close()
    parts = [f"{HERE}/plan (yours{number}).md" for number in ("", " 2", " 3")]
    assert "".join(memory.text(part, session) for part in parts) == text
    assert memory.text(PLAN, session) == "one"


def test_quitting_in_a_conflict_keeps_both_however_long_the_name(memory: MemoryDesk) -> None:
    path = f"{HERE}/{'n' * 190}.md"
    memory.write(path, "one")
    memory.open()
    memory.edit(path)
    memory.type("mine, ")
    session = memory.desk.session
    memory.write(path, "theirs", tells=False)
    memory.desk.close()
    assert memory.text(path, session) == "theirs"
    assert memory.text(f"{HERE}/not saved (yours).md", session) == "mine, one"


def test_a_memory_of_all_chats_keeps_its_menu_in_another_chat(memory: MemoryDesk) -> None:
    memory.desk.provider.play(reply("Hello."))
    memory.desk.say("Hello")
    memory.write(PEOPLE, "Ada")
    panel = memory.open()
    memory.edit(PEOPLE)
    first = memory.desk.session
    memory.desk.window.actions_.new_chat.trigger()
    memory.desk.until(lambda: memory.desk.session not in ("", first))
    assert memory.opened() == PEOPLE
    memory.desk.until(lambda: len(panel.menu_of_open().actions()) > 2)


def test_a_text_that_is_too_long_is_refused_in_words_and_stays(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    panel.editor.field.insertPlainText(f"{'x' * 99}\n" * 1_024)
    assert "too long" in panel.editor.status.text()
    panel.editor.save_button.click()
    memory.desk.until(lambda: state(memory) is SaveState.FAILED)
    assert "at most 102,400" in panel.editor.status.text()
    assert len(panel.editor.text()) == 102_403
    panel.editor.field.undo()
    assert state(memory) is SaveState.SAVED


def test_what_is_typed_can_be_discarded_and_brought_back(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    assert [action.text() for action in panel.menu_of_open().actions() if action.isEnabled() and action.text()] == [
        "Rename…",
        "Pinned",
        "Delete",
    ]
    memory.type("zero, ")
    panel.menu_of_open().actions()[0].trigger()
    assert (panel.editor.text(), state(memory)) == ("one", SaveState.SAVED)
    panel.editor.field.undo()
    assert (panel.editor.text(), state(memory)) == ("zero, one", SaveState.UNSAVED)


def test_the_menu_key_asks_for_the_menu_of_what_is_current(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    panel.list.select(PLAN)
    wanted: list[object] = []
    panel.list.menu_wanted.disconnect()
    panel.list.menu_wanted.connect(lambda value, _place: wanted.append(value))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 300), QPoint(5, 300))
    QApplication.sendEvent(panel.list.viewport(), event)
    assert wanted == [memory.entry(PLAN)]


def test_a_new_memory_opens_at_once(memory: MemoryDesk) -> None:
    panel = memory.open()
    actions = panel.menu_of(next(iter(panel.listings))).actions()
    assert [action.text() for action in actions] == ["New for this chat…", "New for all chats…"]
    actions[1].trigger()
    memory.name(" people ")
    memory.desk.until(lambda: memory.opened() == PEOPLE)
    assert memory.desk.window.focusWidget() is panel.editor.field
    assert memory.text(PEOPLE) == ""
    actions[1].trigger()
    memory.name("People.md")
    memory.desk.until(lambda: "already" in memory.desk.window.toast._text.text())


@pytest.mark.parametrize("name", ["../up", "con", "a:b"])
def test_a_name_that_no_memory_may_have_is_told(memory: MemoryDesk, name: str) -> None:
    panel = memory.open()
    panel.menu_of(next(iter(panel.listings))).actions()[0].trigger()
    memory.name(name)
    memory.desk.until(memory.desk.window.toast.isVisible)
    assert "name" in memory.desk.window.toast._text.text()


def test_renaming_follows_the_memory_that_is_open(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    memory.edit(PLAN)
    panel.commands.ask_to_rename(panel.session, memory.entry(PLAN))
    memory.name("done/plan.md")
    memory.desk.until(lambda: memory.opened() == f"{HERE}/done/plan.md")
    assert panel.editor.name.text() == "done/plan.md"
    memory.type("zero, ")
    panel.editor.save_button.click()
    memory.desk.until(lambda: state(memory) is SaveState.SAVED)
    assert memory.text(f"{HERE}/done/plan.md") == "zero, one"


def test_a_deleted_memory_comes_back_with_undo(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    panel.list.select(PLAN)
    memory.desk.qtbot.keyClick(panel.list, Qt.Key.Key_Delete)
    toast = memory.desk.window.toast
    memory.desk.until(toast.isVisible)
    assert toast._text.text() == "“plan.md” is deleted."
    memory.desk.until(lambda: "  plan.md" not in memory.listed())
    toast.button.click()
    memory.desk.until(lambda: "  plan.md" in memory.listed())
    assert memory.text(PLAN) == "one"


def test_pinning_is_kept_and_shown(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    pin = next(action for action in panel.menu_of(memory.entry(PLAN)).actions() if action.text() == "Pinned")
    pin.trigger()
    memory.desk.until(lambda: memory.entry(PLAN).is_pinned)
    index = panel.list.model().index(0, 0, panel.list.model().index(0, 0))
    assert "pinned" in index.data(Qt.ItemDataRole.AccessibleTextRole)


def test_the_theme_and_the_pane_keys_reach_it(memory: MemoryDesk) -> None:
    memory.write(PLAN, "one")
    panel = memory.open()
    window = memory.desk.window
    assert panel.focus_stops() == [panel.list]
    assert panel.list.hasFocus()
    memory.edit(PLAN)
    assert panel.focus_stops() == [panel.editor.field]
    panel.set_theme(window.appearance.theme)
    assert all(button.accessibleName() for button in (panel.new_button, panel.editor.back, panel.editor.more))
