"""The page of profiles, as a person uses it."""

import json
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.domain.tool_names import EDIT_FILE, MEMORY, READ_FILE, WRITE_FILE
from app.settings.schema import Profile, Rule
from app.ui.settings.agents import AgentsPage
from app.ui.settings.agents_form import ProfileForm
from app.ui.settings.agents_wording import profile_text
from app.ui.settings.edits import change_part
from app.ui.settings.page import SettingRow
from tests.ui.settings.conftest import SettingsDesk

EDITOR = Profile(
    id="editor",
    name="Editor",
    inherits="reader",
    instructions="You mend sentences.",
    rules=(Rule(pattern=".*_file", effect="read"),),
)


def page(desk: SettingsDesk, *profiles: Profile) -> AgentsPage:
    window = desk.open_settings()
    window.open_page(window.agents)
    if profiles:
        window.choices.change(change_part("agents", profiles=profiles))
        desk.until(lambda: {each.id for each in profiles} <= set(window.agents.cards))
    return window.agents


def form(desk: SettingsDesk, *profiles: Profile, opened: str = "editor") -> ProfileForm:
    agents = page(desk, *profiles)
    desk.click(agents.cards[opened])
    assert agents.form is not None
    assert agents.form.profile_id == opened
    desk.until(agents.form.isVisible)
    return agents.form


def own(desk: SettingsDesk, profile_id: str = "editor") -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in desk.on_disk()["agents"]["profiles"] if each["id"] == profile_id)
    return found


def rules(desk: SettingsDesk) -> list[tuple[str, str]]:
    return [(rule["pattern"], rule["effect"]) for rule in own(desk)["rules"]]


def now(shown: ProfileForm, tool: str) -> str:
    return shown.tools.lines[tool].state.text()


# The list


def test_the_profiles_are_listed_with_what_they_are(desk: SettingsDesk) -> None:
    agents = page(desk, EDITOR)
    assert [card.name_text() for card in agents.cards.values()] == ["Assistant", "Planner", "Reader", "Editor"]
    assert agents.cards["assistant"].state_text() == "Built in  ·  may use every tool"
    assert agents.cards["editor"].state_text() == "Your own  ·  builds on Reader  ·  You mend sentences."


def test_a_built_in_profile_can_be_read_and_copied_but_not_changed(desk: SettingsDesk) -> None:
    shown = form(desk, opened="reader")
    assert shown.instructions.isReadOnly()
    assert not shown.name.isVisible()
    assert not shown.parent_combo.isEnabled()
    assert not shown.tools.lines[WRITE_FILE].combo.isVisible()
    assert not shown.remove.isVisible()
    assert now(shown, WRITE_FILE) == "not allowed"
    assert now(shown, MEMORY) == "reading only"
    desk.click(shown.copy)
    desk.until(lambda: desk.settings.agents.form is not shown)
    copy = desk.settings.agents.form
    assert copy is not None
    assert copy.name.text() == "Reader (copy)"
    assert own(desk, "reader-copy")["inherits"] == "assistant"
    assert now(copy, WRITE_FILE) == "Now: not allowed"


@pytest.mark.qt_log_ignore("This plugin does not support (raise|grabbing)", extend=True)
def test_a_new_profile_is_a_copy_of_one_that_is_there(desk: SettingsDesk) -> None:
    agents = page(desk, EDITOR)
    desk.click(agents.new)
    menu = agents.findChild(QMenu)
    assert menu is not None
    entries = [action for action in menu.actions() if isinstance(action, QAction)]
    assert [entry.text() for entry in entries] == [
        "Copy of Assistant",
        "Copy of Planner",
        "Copy of Reader",
        "Copy of Editor",
    ]
    desk.qtbot.keyClick(menu, Qt.Key.Key_Up)
    desk.qtbot.keyClick(menu, Qt.Key.Key_Return)
    desk.until(lambda: agents.form is not None)
    assert agents.form is not None
    assert agents.form.name.text() == agents.form.name.selectedText() == "Editor (copy)"
    assert agents.window().focusWidget() is agents.form.name, "a new profile is named first"
    assert own(desk, "editor-copy")["rules"] == own(desk)["rules"]


def test_the_list_shows_whole_words_of_long_instructions(desk: SettingsDesk) -> None:
    words = "Correct what is wrong, and say " * 6
    agents = page(desk, EDITOR.model_copy(update={"instructions": words}))
    said = agents.cards["editor"].state_text().rpartition("·")[2].strip()
    assert said.endswith("…")
    assert set(said.removesuffix("…").split()) <= set(words.split())
    signs = EDITOR.model_copy(update={"instructions": "文" * 200, "inherits": ""})
    assert profile_text(signs, [signs]).endswith("文" * 120 + "…")


# One profile


def test_name_and_instructions_are_saved_when_they_are_finished(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR)
    desk.write(shown.name, "Corrector")
    desk.saved(lambda _: own(desk)["name"] == "Corrector")
    assert own(desk)["id"] == "editor"
    shown.instructions.setFocus()
    shown.instructions.selectAll()
    desk.qtbot.keyClicks(shown.instructions, "Mend it.")
    desk.click(shown.back)
    desk.saved(lambda _: own(desk)["instructions"] == "Mend it.")
    desk.until(lambda: desk.settings.agents.cards["editor"].name_text() == "Corrector")


def test_instructions_that_are_being_typed_count_when_the_window_closes(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR)
    shown.instructions.setFocus()
    desk.qtbot.keyClicks(shown.instructions, "Gently. ")
    desk.settings.close()
    desk.saved(lambda _: own(desk)["instructions"] == "Gently. You mend sentences.")


def test_instructions_that_are_too_long_are_said_so_and_kept_on_screen(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR)
    shown.instructions.setPlainText("x" * 20_001)
    assert "at most 20,000" in shown.instructions_row.note.text()
    shown.commit()
    desk.settings.choices.change(change_part("appearance", theme="dark"))
    desk.until(lambda: desk.settings.appearance.theme.currentData() == "dark")
    assert len(shown.instructions.toPlainText()) == 20_001
    assert own(desk)["instructions"] == "You mend sentences."
    shown.instructions.setPlainText("x" * 20_000)
    shown.commit()
    desk.saved(lambda _: len(own(desk)["instructions"]) == 20_000)


@pytest.mark.parametrize("name", ["reader", "EDITOR 2", ""])
def test_a_name_that_another_has_or_none_is_not_taken(desk: SettingsDesk, name: str) -> None:
    shown = form(desk, EDITOR, Profile(id="editor-2", name="Editor 2"))
    desk.write(shown.name, name)
    assert shown.name.text() == "Editor"
    assert (f"“{name}”" in shown.name_row.note.text()) is bool(name)
    desk.write(shown.name, "Proofreader")
    desk.saved(lambda _: own(desk)["name"] == "Proofreader")
    assert shown.name_row.note.text() == ""


def test_a_choice_for_a_tool_writes_a_rule_and_can_be_taken_back(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR.model_copy(update={"rules": ()}))
    combo = shown.tools.lines[WRITE_FILE].combo
    assert combo.currentText() == "As in Reader"
    assert [combo.itemText(at) for at in range(combo.count())] == ["As in Reader", "Allowed, asks first", "Not allowed"]
    assert now(shown, WRITE_FILE) == "Now: not allowed"
    desk.choose(combo, "allow")
    desk.saved(lambda _: rules(desk) == [(WRITE_FILE, "allow")])
    desk.until(lambda: now(shown, WRITE_FILE) == "Now: asks first")
    assert now(shown, EDIT_FILE) == "Now: not allowed"
    desk.choose(shown.tools.lines[MEMORY].combo, "read")
    desk.saved(lambda _: rules(desk) == [(WRITE_FILE, "allow"), (MEMORY, "read")])
    desk.choose(combo, "")
    desk.saved(lambda _: rules(desk) == [(MEMORY, "read")])
    desk.until(lambda: now(shown, WRITE_FILE) == "Now: not allowed")


def test_what_a_profile_builds_on_changes_what_it_may_do(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR.model_copy(update={"rules": ()}))
    desk.choose(shown.parent_combo, "assistant")
    desk.saved(lambda _: own(desk)["inherits"] == "assistant")
    desk.until(lambda: now(shown, WRITE_FILE) == "Now: asks first")
    assert shown.tools.lines[WRITE_FILE].combo.currentText() == "As in Assistant"
    desk.choose(shown.parent_combo, "")
    desk.saved(lambda _: own(desk)["inherits"] == "")
    desk.until(lambda: now(shown, READ_FILE) == "Now: not allowed")


def test_a_profile_that_builds_on_one_that_is_gone_says_so_until_it_builds_on_another(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR.model_copy(update={"inherits": "gone"}))
    assert "is gone" in desk.settings.agents.cards["editor"].state_text()
    assert "is gone" in shown.parent_row.note.text()
    assert shown.parent_combo.currentText() == "gone (missing)"
    assert now(shown, READ_FILE) == "Now: not allowed"
    desk.choose(shown.parent_combo, "reader")
    desk.until(lambda: now(shown, READ_FILE) == "Now: allowed")
    assert "gone" not in shown.parent_row.note.text()


def test_a_circle_is_told_in_names(desk: SettingsDesk) -> None:
    other = Profile(id="other", name="Other", inherits="editor")
    shown = form(desk, EDITOR.model_copy(update={"inherits": "other"}), other)
    assert "Editor → Other → Editor" in shown.parent_row.note.text()
    desk.choose(shown.parent_combo, "planner")
    desk.until(lambda: "circle" not in shown.parent_row.note.text())


# The order of rules


def open_rules(desk: SettingsDesk, *made: Rule) -> ProfileForm:
    shown = form(desk, EDITOR.model_copy(update={"rules": made}))
    assert not shown.rules.isVisible()
    desk.click(shown.rules_toggle)
    assert shown.rules.isVisible()
    return shown


def test_a_rule_is_understood_while_it_is_typed(desk: SettingsDesk) -> None:
    shown = open_rules(desk, Rule(pattern="edit_file", effect="allow"))
    line = shown.rules.lines[0]
    assert line.meaning.text() == "Means: Change a file."
    assert now(shown, EDIT_FILE) == "Now: asks first"
    line.pattern.setFocus()
    desk.qtbot.keyClick(line.pattern, Qt.Key.Key_End)
    desk.qtbot.keyClicks(line.pattern, "(")
    assert "no valid pattern" in line.meaning.text()
    assert now(shown, EDIT_FILE) == "Now: not allowed"
    for _ in range(len("edit_file(")):
        desk.qtbot.keyClick(line.pattern, Qt.Key.Key_Backspace)
    desk.qtbot.keyClicks(line.pattern, "write.*")
    assert now(shown, WRITE_FILE) == "Now: asks first"
    assert rules(desk) == [("edit_file", "allow")]
    desk.qtbot.keyClick(line.pattern, Qt.Key.Key_Return)
    desk.saved(lambda _: rules(desk) == [("write.*", "allow")])


def test_rules_are_added_moved_and_removed(desk: SettingsDesk) -> None:
    shown = open_rules(desk, Rule(pattern=".*", effect="allow"), Rule(pattern="write_file", effect="deny"))
    assert now(shown, WRITE_FILE) == "Now: not allowed"
    desk.click(shown.rules.lines[1].up)
    desk.saved(lambda _: rules(desk) == [("write_file", "deny"), (".*", "allow")])
    desk.until(lambda: now(shown, WRITE_FILE) == "Now: asks first")
    assert not shown.rules.lines[0].up.isEnabled()
    assert not shown.rules.lines[1].down.isEnabled()
    desk.click(shown.rules.add)
    desk.write(shown.rules.lines[2].pattern, "memory")
    desk.saved(lambda _: rules(desk)[2:] == [("memory", "allow")])
    desk.choose(shown.rules.lines[2].effect, "deny")
    desk.saved(lambda _: rules(desk)[2:] == [("memory", "deny")])
    desk.until(lambda: now(shown, MEMORY) == "Now: not allowed")
    desk.click(shown.rules.lines[0].remove)
    desk.saved(lambda _: rules(desk) == [(".*", "allow"), ("memory", "deny")])
    for _ in range(2):
        desk.click(shown.rules.lines[0].remove)
    desk.saved(lambda _: rules(desk) == [])
    assert shown.rules.empty.isVisible()


def test_a_rule_without_a_pattern_is_none_yet(desk: SettingsDesk) -> None:
    shown = open_rules(desk)
    desk.click(shown.rules.add)
    assert "Write the name" in shown.rules.lines[0].meaning.text()
    desk.settings.choices.change(change_part("appearance", theme="dark"))
    desk.until(lambda: desk.settings.appearance.theme.currentData() == "dark")
    assert len(shown.rules.lines) == 1
    assert rules(desk) == []


def test_what_stands_beside_a_rule_in_the_file_is_kept(desk: SettingsDesk) -> None:
    desk.close()
    rule = {"pattern": "memory", "effect": "deny", "why": "too chatty"}
    made = {"id": "editor", "name": "Editor", "rules": [rule]}
    (desk.root / "settings.json").write_text(json.dumps({"agents": {"profiles": [made]}}), "utf-8")
    desk.program = desk._start()
    shown = form(desk)
    desk.click(shown.rules_toggle)
    desk.choose(shown.rules.lines[0].effect, "read")
    desk.saved(lambda _: own(desk)["rules"][0] == {**rule, "effect": "read"})


# Deleting


def test_a_profile_is_deleted_after_a_question_that_says_who_uses_it(desk: SettingsDesk) -> None:
    other = Profile(id="other", name="Other", inherits="editor")
    shown = form(desk, EDITOR, other)
    desk.settings.choices.change(change_part("agents", default_profile="editor"))
    desk.window.profiles.choose("editor")
    desk.until(lambda: desk.settings.agents.default.currentData() == "editor")
    desk.until(lambda: desk.window.page.profile_button.text().startswith("Editor"))
    desk.click(shown.remove)
    desk.until(lambda: bool(desk.boxes()))
    question = desk.answer("Cancel")
    assert "Chats that use it: 1." in question
    assert "build on it" in question
    assert "Other" in question
    assert "New chats get Assistant then." in question
    desk.click(shown.remove)
    desk.until(lambda: bool(desk.boxes()))
    desk.answer("Delete")
    desk.saved(lambda disk: [each["id"] for each in disk["agents"]["profiles"]] == ["other"])
    assert desk.on_disk()["agents"]["default_profile"] == ""
    desk.until(lambda: desk.settings.agents.form is None)
    assert "is gone" in desk.settings.agents.cards["other"].state_text()


# Beside the profiles


def test_new_chats_can_have_another_profile(desk: SettingsDesk) -> None:
    agents = page(desk, EDITOR)
    desk.choose(agents.default, "editor")
    desk.saved(lambda disk: disk["agents"]["default_profile"] == "editor")
    desk.until(lambda: desk.window.page.profile_button.text().startswith("Editor"))
    desk.choose(agents.default, "")
    desk.saved(lambda disk: disk["agents"]["default_profile"] == "")


def test_a_default_profile_that_is_gone_is_shown_as_missing(desk: SettingsDesk) -> None:
    agents = page(desk)
    desk.settings.choices.change(change_part("agents", default_profile="gone"))
    desk.until(lambda: agents.default.currentText() == "gone (missing)")


def test_a_fallback_model_is_one_of_those_on_offer_or_none(desk: SettingsDesk) -> None:
    desk.environ["OPENAI_API_KEY"] = "sk-outside-0123456789"
    desk.restart()
    agents = page(desk)

    def offered() -> list[str]:
        refs = [str(agents.fallback.itemData(at)) for at in range(agents.fallback.count())]
        return [ref for ref in refs if ref.startswith("openai/")]

    desk.until(lambda: bool(offered()))
    assert agents.fallback.currentText() == "None"
    ref = offered()[0]
    desk.choose(agents.fallback, ref)
    desk.saved(lambda disk: disk["agents"]["fallback_model"] == ref)
    desk.choose(agents.fallback, "")
    desk.saved(lambda disk: disk["agents"]["fallback_model"] == "")
    desk.settings.choices.change(change_part("agents", fallback_model="lost/model"))
    desk.until(lambda: agents.fallback.currentText() == "lost/model (not on offer now)")


def test_profiles_that_share_an_id_are_named_and_can_be_mended(desk: SettingsDesk) -> None:
    agents = page(desk, EDITOR, Profile(id="reader", name="My reader"))
    desk.until(agents.shadowed_row.isVisible)
    assert "“My reader”" in agents.shadowed_row.note.text()
    desk.click(agents.mend)
    desk.until(lambda: "my-reader" in agents.cards)
    assert not agents.shadowed_row.isVisible()


def test_the_search_finds_profiles_and_the_tools_of_the_one_that_is_open(desk: SettingsDesk) -> None:
    shown = form(desk, EDITOR)
    window = desk.settings
    desk.qtbot.keyClicks(window.search, "fallback")
    assert window.page is window.agents
    window.search.clear()
    desk.qtbot.keyClicks(window.search, "write_file")
    assert window.page is window.agents
    marked = [row.label.text() for row in shown.findChildren(SettingRow) if row.property("isHit")]
    assert marked == ["Write a file"]


def test_the_form_fits_a_narrow_window(desk: SettingsDesk) -> None:
    shown = open_rules(desk, *EDITOR.rules)
    desk.settings.resize(360, 700)
    desk.until(desk.settings.combo.isVisible)
    agents = desk.settings.agents
    assert agents.minimumSizeHint().width() <= desk.settings.scroll_area().viewport().width()
    assert shown.rules.lines[0].pattern.isVisible()
