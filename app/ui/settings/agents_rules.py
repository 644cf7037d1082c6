"""The rules of a profile in their order, to be read and changed one by one."""

from collections.abc import Sequence
from typing import Final, cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.settings.schema import Effect, Rule
from app.ui.settings.agents_granted import is_pattern
from app.ui.settings.agents_wording import effect_text, pattern_text
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import CommitField, choice_combo, plain_label

_MOST_LETTERS: Final = 200
"""Of a pattern, as the schema has it."""


class RulesBox(QWidget):
    """Rules as fields; the last one that means a tool decides."""

    edited = Signal()
    """Something is being typed: `rules` is what would hold."""
    changed = Signal(tuple)
    """The rules that the person wants from now on."""

    def __init__(self, *, is_editable: bool) -> None:
        super().__init__()
        self._is_editable = is_editable
        self._shown: tuple[Rule, ...] | None = None
        self._awaited: tuple[Rule, ...] | None = None
        """What was asked for; until it is told, what is told is older."""
        self.lines: list[RuleLine] = []
        holder = QWidget()
        self._list = QVBoxLayout(holder)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(12)
        self.empty = plain_label(self.tr("No rules of its own."), name="mutedText")
        self.add = QPushButton(self.tr("Add a rule"))
        self.add.clicked.connect(self._add)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self.empty)
        layout.addWidget(holder)
        layout.addWidget(FlowRow(self.add))
        self.add.setVisible(is_editable)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules as they stand in the fields; one without a pattern is none yet."""
        return tuple(line.rule for line in self.lines if line.rule.pattern)

    def show_rules(self, rules: Sequence[Rule], *, is_forced: bool = False) -> None:
        """Show what holds; what is being typed stays unless `is_forced`, or the rules are others."""
        if self._awaited not in (None, tuple(rules)) and not is_forced:
            return
        self._awaited = None
        if tuple(rules) == self._shown and not is_forced:
            return
        self._shown = tuple(rules)
        if self.rules != self._shown or is_forced:
            self._make_lines(self._shown)

    def _make_lines(self, rules: Sequence[Rule]) -> None:
        for line in self.lines:
            self._list.removeWidget(line)
            line.hide()
            line.deleteLater()
        self.lines = []
        for rule in rules:
            self._append(rule)
        self._number()

    def _append(self, rule: Rule) -> None:
        line = RuleLine(rule, is_editable=self._is_editable)
        line.edited.connect(self.edited)
        line.committed.connect(self._tell)
        line.up.clicked.connect(lambda: self._move(line, -1))
        line.down.clicked.connect(lambda: self._move(line, 1))
        line.remove.clicked.connect(lambda: self._remove(line))
        self.lines.append(line)
        self._list.addWidget(line)

    def _number(self) -> None:
        for at, line in enumerate(self.lines):
            line.set_place(at + 1, of=len(self.lines))
        self.empty.setVisible(not self.lines)

    def _add(self) -> None:
        self._append(Rule(pattern=""))
        self._number()
        self.lines[-1].pattern.setFocus()

    def _move(self, line: "RuleLine", by: int) -> None:
        at = self.lines.index(line)
        self.lines.insert(at + by, self.lines.pop(at))
        self._list.removeWidget(line)
        self._list.insertWidget(at + by, line)
        self._number()
        pressed = line.up if by < 0 else line.down
        (pressed if pressed.isEnabled() else line.pattern).setFocus()
        self._tell()

    def _remove(self, line: "RuleLine") -> None:
        at = self.lines.index(line)
        self.lines.remove(line)
        self._list.removeWidget(line)
        line.hide()
        line.deleteLater()
        self._number()
        (self.lines[min(at, len(self.lines) - 1)].remove if self.lines else self.add).setFocus()
        self._tell()

    def _tell(self) -> None:
        self.edited.emit()
        if self.rules != self._shown:
            self._shown = self._awaited = self.rules
            self.changed.emit(self.rules)


class RuleLine(QWidget):
    """One rule: its pattern, what it grants, what that means, and its place."""

    edited = Signal()
    committed = Signal()

    def __init__(self, rule: Rule, *, is_editable: bool) -> None:
        super().__init__()
        self._rule = rule
        self.pattern = CommitField(self.tr("Pattern"))
        self.pattern.setMaxLength(_MOST_LETTERS)
        self.pattern.show_text(rule.pattern)
        self.pattern.textChanged.connect(self._show_meaning)
        self.pattern.committed.connect(lambda _text: self.committed.emit())
        entries: list[tuple[str, object]] = [(effect_text(each), each) for each in ("allow", "read", "deny")]
        self.effect = choice_combo(self.tr("What the rule grants"), entries, lambda _effect: self.committed.emit())
        self.effect.choose(rule.effect)
        self.meaning = plain_label(name="mutedText")
        self.up = _small_button(self.tr("Up"))
        self.down = _small_button(self.tr("Down"))
        self.remove = _small_button(self.tr("Remove"))
        buttons = FlowRow(self.up, self.down, self.remove)
        buttons.setVisible(is_editable)
        self.pattern.setEnabled(is_editable)
        self.effect.setEnabled(is_editable)
        first = QHBoxLayout()
        first.setSpacing(8)
        first.addWidget(self.pattern, 3)
        first.addWidget(self.effect, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(first)
        layout.addWidget(self.meaning)
        layout.addWidget(buttons)
        self._show_meaning()

    @property
    def rule(self) -> Rule:
        """The rule as it stands in the fields."""
        effect = cast("Effect", self.effect.currentData())
        return self._rule.model_copy(update={"pattern": self.pattern.text().strip(), "effect": effect})

    def set_place(self, number: int, *, of: int) -> None:
        """Say which rule it is, so that its controls can be told apart."""
        for button, text in (
            (self.up, self.tr("Move rule {number} up")),
            (self.down, self.tr("Move rule {number} down")),
            (self.remove, self.tr("Remove rule {number}")),
        ):
            button.setAccessibleName(text.format(number=number))
        self.pattern.setAccessibleName(self.tr("Pattern of rule {number}").format(number=number))
        self.effect.setAccessibleName(self.tr("What rule {number} grants").format(number=number))
        self.up.setEnabled(number > 1)
        self.down.setEnabled(number < of)

    def _show_meaning(self) -> None:
        text = self.pattern.text().strip()
        self.meaning.setText(pattern_text(text))
        self.meaning.setProperty("isError", not is_pattern(text))
        self.meaning.style().polish(self.meaning)
        self.pattern.setAccessibleDescription(self.meaning.text())
        self.edited.emit()


def _small_button(text: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("small")
    return button
