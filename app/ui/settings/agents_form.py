"""One profile: its name, instructions, what it builds on, what it may do, and its removal."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QPushButton, QVBoxLayout, QWidget

from app.domain.chats import ChatSummary
from app.settings.profiles import find_profile
from app.settings.schema import Effect, Profile, Settings
from app.ui.settings.agents_edits import (
    MAX_NAME,
    add_profile,
    change_profile,
    choosable,
    copy_of,
    is_built_in,
    is_name_taken,
    remove_profile,
    set_effect,
)
from app.ui.settings.agents_granted import broken_lineage, possible_parents
from app.ui.settings.agents_rules import RulesBox
from app.ui.settings.agents_tools import ToolsBox
from app.ui.settings.agents_wording import lineage_text
from app.ui.settings.choices import Choices
from app.ui.settings.endpoint_form import back_button
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import CommitField, QuietCombo, SettingRow, heading_label
from app.ui.settings.text_box import CommitText
from app.ui.settings.wording import number_text

_MOST_CHARS: Final = 20_000
"""Of instructions, as the schema has it."""


class ProfileForm(QWidget):
    """Everything about one profile. What is changed holds at once; one that is built in can only be copied."""

    back_wanted = Signal()
    copied = Signal(str)
    """Id of a profile that was made as a copy of this one."""

    def __init__(self, choices: Choices, profile: Profile) -> None:
        super().__init__()
        self._choices = choices
        self._profile = profile
        self._is_own = not is_built_in(profile.id)
        self.back = back_button(self.tr("All profiles"))
        self.back.clicked.connect(self.back_wanted)
        self.heading = heading_label(profile.name)
        self.copy = QPushButton(self.tr("Make a copy"))
        self.copy.clicked.connect(self._copy)
        self._make_fields()
        self.tools = ToolsBox(is_editable=self._is_own)
        self.tools.chosen.connect(self._choose_effect)
        self.rules = RulesBox(is_editable=self._is_own)
        self.rules.edited.connect(self._show_granted)
        self.rules.changed.connect(lambda rules: self._change(rules=rules))
        self.rules_toggle = QPushButton()
        self.rules_toggle.clicked.connect(lambda: self._show_rules(on=self.rules.isHidden()))
        self._lay_out()
        self._show_rules(on=False)
        self.show_settings(choices.settings, is_forced=True)

    @property
    def profile_id(self) -> str:
        return self._profile.id

    def begin(self) -> None:
        """Let the person give a new profile its name."""
        self.name.setFocus()
        self.name.selectAll()

    def _make_fields(self) -> None:
        self.name = CommitField(self.tr("Name"))
        self.name.setMaxLength(MAX_NAME)
        self.name.committed.connect(self._rename)
        self.name_row = SettingRow(self.tr("Name"), self.name)
        self.instructions = CommitText(self.tr("Instructions"), most_chars=_MOST_CHARS)
        self.instructions.setReadOnly(not self._is_own)
        self.instructions.committed.connect(lambda text: self._change(instructions=text))
        self.instructions.textChanged.connect(self._show_length)
        self.instructions_row = SettingRow(self.tr("Instructions"), self.instructions, note=" ", is_stacked=True)
        self.parent_combo = QuietCombo(self.tr("Builds on"))
        self.parent_combo.activated.connect(lambda index: self._change(inherits=self.parent_combo.itemData(index)))
        self.parent_row = SettingRow(
            self.tr("Builds on"), self.parent_combo, note=" ", words=self.tr("inherits inheritance parent")
        )
        self.parent_combo.setEnabled(self._is_own)
        self.remove = QPushButton(self.tr("Delete profile…"))
        self.remove.clicked.connect(self._look_for_chats)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(FlowRow(self.back))
        layout.addWidget(self.heading)
        note = "" if self._is_own else self.tr("Built in: it can't be changed. A copy of it can.")
        layout.addWidget(SettingRow(self.tr("Another one like this"), FlowRow(self.copy), note=note))
        if self._is_own:
            layout.addWidget(self.name_row)
        layout.addWidget(self.instructions_row)
        layout.addWidget(self.parent_row)
        layout.addWidget(heading_label(self.tr("What may this profile do?")))
        layout.addWidget(self.tools)
        layout.addWidget(heading_label(self.tr("Order of rules")))
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(FlowRow(self.rules_toggle))
        column.addWidget(self.rules)
        self.rules_row = SettingRow(
            "", box, note=" ", words=self.tr("rules policy pattern regular expression"), is_stacked=True
        )
        layout.addWidget(self.rules_row)
        if self._is_own:
            layout.addWidget(SettingRow(self.tr("Delete this profile"), FlowRow(self.remove)))

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        """Show what holds now; a profile that is gone asks to go back."""
        profile = next((each for each in choosable(settings) if each.id == self._profile.id), None)
        if profile is None:
            self.back_wanted.emit()
            return
        self._profile = profile
        self.heading.setText(profile.name)
        self.name.show_text(profile.name, is_forced=is_forced)
        self.instructions.show_text(profile.instructions, is_forced=is_forced)
        self.rules.show_rules(profile.rules, is_forced=is_forced)
        self._show_parents(choosable(settings))
        self._show_granted()
        self._show_length()

    def commit(self) -> None:
        """Save what is being typed."""
        self.name.commit()
        self.instructions.commit()
        for line in self.rules.lines:
            line.pattern.commit()

    # Showing

    def _show_parents(self, profiles: tuple[Profile, ...]) -> None:
        profile = self._profile
        if not self.parent_combo.view().isVisible():
            self.parent_combo.clear()
            self.parent_combo.addItem(self.tr("Nothing"), "")
            for each in possible_parents(profile, profiles):
                self.parent_combo.addItem(each.name, each.id)
            if self.parent_combo.findData(profile.inherits) < 0:
                known = next((each.name for each in profiles if each.id == profile.inherits), "")
                missing = self.tr("{id} (missing)").format(id=profile.inherits)
                self.parent_combo.addItem(known or missing, profile.inherits)
            self.parent_combo.choose(profile.inherits)
        broken = lineage_text(broken_lineage(profile, profiles))
        usual = self.tr("The instructions and the rules of that profile come before those here.")
        self.parent_row.set_note(broken or usual)
        self.parent_row.show_problem(on=bool(broken))
        parent = next((each for each in profiles if profile.inherits and each.id == profile.inherits), None)
        after = self.tr("The last rule that means a tool decides; a tool that none means is not allowed.")
        first = self.tr("The rules of {name} come first.").format(name=parent.name) if parent is not None else ""
        self.rules_row.set_note(f"{after} {first}".strip())

    def _show_granted(self) -> None:
        """Show what holds with the rules as they are being typed."""
        draft = self._profile.model_copy(update={"rules": self.rules.rules})
        profiles = [draft if each.id == draft.id else each for each in choosable(self._choices.settings)]
        self.tools.show_profile(draft, profiles)

    def _show_length(self) -> None:
        is_long = self.instructions.is_too_long
        if is_long:
            text = self.tr("Too long to be saved: at most {count} characters.").format(count=number_text(_MOST_CHARS))
        else:
            text = self.tr("The model is told this at the beginning of every request.")
        self.instructions_row.set_note(text)
        self.instructions_row.show_problem(on=is_long)

    def _show_rules(self, *, on: bool) -> None:
        self.rules.setVisible(on)
        self.rules_toggle.setText(self.tr("Hide the rules") if on else self.tr("Show the rules"))

    # Changing

    def _change(self, **values: object) -> None:
        self._choices.change(change_profile(self._profile.id, **values))

    def _choose_effect(self, tool: str, effect: Effect | None) -> None:
        self._choices.change(set_effect(self._profile.id, tool, effect))

    def _rename(self, text: str) -> None:
        name = text.strip()
        is_taken = bool(name) and is_name_taken(name, self._profile.id, self._choices.settings)
        self.name_row.set_note(self.tr("Another profile is called “{name}”.").format(name=name) if is_taken else "")
        self.name_row.show_problem(on=is_taken)
        if name and not is_taken:
            self._change(name=name)
        else:
            self.name.show_text(self._profile.name, is_forced=True)

    def _copy(self) -> None:
        self.commit()
        name = self.tr("{name} (copy)").format(name=self._profile.name)
        made = copy_of(self._profile, name, self._choices.settings)
        self._choices.change(add_profile(made))
        self.copied.emit(made.id)

    # Deleting

    def _look_for_chats(self) -> None:
        self._choices.ask(
            self._choices.bridge.list_chats, self._ask_to_remove, owner=self, name="look who uses a profile"
        )

    def _ask_to_remove(self, chats: tuple[ChatSummary, ...]) -> None:
        box = QMessageBox(self)
        box.setWindowTitle(self.tr("Delete a profile"))
        box.setIcon(QMessageBox.Icon.Question)
        box.finished.connect(box.deleteLater)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(" ".join([self.tr("Delete “{name}”?").format(name=self._profile.name), *self._followers(chats)]))
        remove = box.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(self._remove)
        box.open()

    def _followers(self, chats: tuple[ChatSummary, ...]) -> list[str]:
        """Return a sentence for each kind of thing that a removal would leave without its profile."""
        settings = self._choices.settings
        said = []
        count = sum(chat.profile == self._profile.id for chat in chats)
        if count:
            text = self.tr("Chats that use it: {count}. They stay, and need another profile before they go on.")
            said.append(text.format(count=number_text(count)))
        building = [each.name for each in choosable(settings) if each.inherits == self._profile.id]
        if building:
            text = self.tr("These build on it and may do nothing until they build on something else: {names}.")
            said.append(text.format(names=", ".join(building)))
        default = find_profile(settings, "")
        if default is not None and default.id == self._profile.id:
            said.append(self.tr("New chats get Assistant then."))
        return said

    def _remove(self) -> None:
        self._choices.change(remove_profile(self._profile.id))
