"""What a profile may do: every tool with what holds for it, and a choice for the person's own profiles."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.domain.tool_names import TOOLS, KnownTool, ToolKind
from app.settings.schema import Effect, Profile, Rule
from app.ui.settings.agents_granted import Holds, has_pattern_for, holds, own_effect
from app.ui.settings.agents_wording import effect_text, holds_text
from app.ui.settings.page import QuietCombo, SettingRow, plain_label
from app.ui.tool_wording import tool_label, tool_sentence

_EFFECTS: Final[tuple[Effect, ...]] = ("allow", "read", "deny")
_AS_BEFORE: Final = ""
"""Stands in the list of choices for no rule of its own."""


class ToolsBox(QWidget):
    """A row for each tool. What holds follows the rules as they are typed."""

    chosen = Signal(str, object)
    """A tool and the `Effect` that is wanted for it, None for none of its own."""

    def __init__(self, *, is_editable: bool) -> None:
        super().__init__()
        self.lines = {tool.name: _ToolLine(tool, is_editable=is_editable) for tool in TOOLS}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for line in self.lines.values():
            line.chosen.connect(self.chosen)
            layout.addWidget(SettingRow(line.label, line, note=line.sentence, words=line.tool.name))

    def show_profile(self, profile: Profile, profiles: Sequence[Profile]) -> None:
        """Show what a profile may do, given all of them."""
        parent = next((each.name for each in profiles if profile.inherits and each.id == profile.inherits), "")
        for tool in TOOLS:
            self.lines[tool.name].show_state(holds(profile, tool, profiles), profile.rules, parent)


class _ToolLine(QWidget):
    chosen = Signal(str, object)

    def __init__(self, tool: KnownTool, *, is_editable: bool) -> None:
        super().__init__()
        self.tool = tool
        self.label = tool_label(tool.name)
        self.sentence = tool_sentence(tool.name)
        self.state = plain_label(name="stateLine")
        self.combo = QuietCombo(self.label)
        self.combo.setVisible(is_editable)
        self.combo.activated.connect(self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.combo)
        layout.addWidget(self.state)
        self.setAccessibleName(self.label)

    def show_state(self, state: Holds, rules: Sequence[Rule], parent: str) -> None:
        """Say what holds, and show which choice leads to it."""
        words = holds_text(state)
        self.state.setText(self.tr("Now: {state}").format(state=words) if self.combo.isVisibleTo(self) else words)
        self.state.setAccessibleName(f"{self.label}: {words}")
        self.combo.setAccessibleDescription(f"{words}. {self.sentence}")
        effect = own_effect(rules, self.tool.name)
        self._offer(effect, self._without_own(rules, parent))

    def _without_own(self, rules: Sequence[Rule], parent: str) -> str:
        if has_pattern_for(rules, self.tool.name):
            return self.tr("As the other rules say")
        if parent:
            return self.tr("As in {profile}").format(profile=parent)
        return self.tr("No rule: not allowed")

    def _offer(self, effect: Effect | None, without: str) -> None:
        if self.combo.view().isVisible():
            # Not while the person looks through the list.
            return
        entries: list[tuple[str, Effect | str]] = [(without, _AS_BEFORE)]
        # Reading only means something of its own just where a tool does both.
        offered = [each for each in _EFFECTS if each != "read" or self.tool.kind is ToolKind.MIXED or effect == "read"]
        entries += [(self._text_of(each), each) for each in offered]
        if entries != [(self.combo.itemText(at), self.combo.itemData(at)) for at in range(self.combo.count())]:
            self.combo.clear()
            for text, value in entries:
                self.combo.addItem(text, value)
        self.combo.choose(effect or _AS_BEFORE)

    def _text_of(self, effect: Effect) -> str:
        if effect == "allow" and self.tool.kind is ToolKind.ASKS:
            return self.tr("Allowed, asks first")
        return effect_text(effect)

    def _choose(self, index: int) -> None:
        effect = self.combo.itemData(index)
        self.chosen.emit(self.tool.name, effect or None)
