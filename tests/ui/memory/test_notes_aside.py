"""Starting afresh with notes of the model: they are put away unless the person says no."""

import pytest
from PySide6.QtWidgets import QCheckBox, QMessageBox

from tests.fakes.scripted import reply
from tests.ui.memory.conftest import HERE, MemoryDesk

NOTES = f"{HERE}/context-notes.md"


def ask(memory: MemoryDesk) -> QMessageBox:
    memory.desk.window.actions_.clear_softly.trigger()
    box = memory.desk.window.findChild(QMessageBox)
    assert box is not None
    return box


def names(memory: MemoryDesk) -> list[str]:
    """Return what the memories are called, dates left out."""
    return [entry.name.removesuffix(".md").rstrip("0123456789-") for entry in memory.store(NOTES).listing().entries]


@pytest.mark.parametrize("puts_away", [True, False])
def test_notes_are_put_away_if_the_person_wants_it(memory: MemoryDesk, puts_away: bool) -> None:
    memory.desk.provider.play(reply("Noted."))
    memory.desk.say("Remember the heron.")
    memory.write(NOTES, "heron")
    memory.open()
    box = ask(memory)
    memory.desk.until(lambda: box.checkBox() is not None)
    tick: QCheckBox = box.checkBox()
    assert tick.isChecked()
    tick.setChecked(puts_away)
    next(button for button in box.buttons() if button.text() == "Start afresh").click()
    memory.desk.until(lambda: len(memory.desk.rows()) == 3)
    memory.desk.idle()
    found = memory.store(NOTES).listing().entries
    assert len(found) == 1
    assert (found[0].path == NOTES) is not puts_away
    assert memory.text(found[0].path) == "heron"
    # The dock shows it.
    memory.desk.until(lambda: f"  {found[0].name}" in memory.listed())


def test_without_notes_nothing_more_is_asked(memory: MemoryDesk) -> None:
    memory.desk.provider.play(reply("Noted."))
    memory.desk.say("Hello")
    box = ask(memory)
    memory.desk.until(lambda: len(memory.desk.program.tasks) == 0)
    assert box.checkBox() is None
    box.button(QMessageBox.StandardButton.Cancel).click()
    memory.desk.until(lambda: memory.desk.window.findChild(QMessageBox) is None)


def test_the_typed_command_puts_them_away(memory: MemoryDesk) -> None:
    memory.desk.provider.play(reply("Noted."))
    memory.desk.say("Hello")
    memory.write(NOTES, "heron")
    memory.desk.window.controller.reset_context()
    memory.desk.until(lambda: len(memory.desk.rows()) == 3)
    memory.desk.idle()
    assert names(memory) == ["context-notes"]
    assert memory.store(NOTES).listing().entries[0].path != NOTES
