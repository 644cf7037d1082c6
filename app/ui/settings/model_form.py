"""What a person says of one model, and models entered by hand."""

from collections.abc import Callable, Mapping
from typing import Final, cast

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.domain.models import ModelCard
from app.settings.schema import ModelSettings, Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_model, forget_figures, remove_model
from app.ui.settings.figures import read_price, read_tokens
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import (
    CommitField,
    QuietCombo,
    SettingRow,
    check_box,
    choice_combo,
    heading_label,
    plain_label,
)
from app.ui.settings.wording import levels_sentence, number_text, origin_sentence

MAX_NAME: Final = 80
MIN_LIMIT: Final = 1024
MIN_OUTPUT: Final = 16
MAX_TOKENS: Final = 100_000_000


class ModelForm(QWidget):
    """The chosen model: figures that are empty are left to the catalogue, which shows through."""

    def __init__(self, choices: Choices) -> None:
        super().__init__()
        self._choices = choices
        self._card: ModelCard | None = None
        self.rows: list[SettingRow] = []
        self.heading = heading_label()
        self.origin = plain_label(name="mutedText")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.heading)
        self.favourite = check_box(self.tr("Yes"), lambda on: self._change(favourite=on))
        self._add(SettingRow("", self.origin, is_stacked=True))
        self._add(SettingRow(self.tr("Favourite"), self.favourite))
        self.name = CommitField(self.tr("Name"))
        self.name.setMaxLength(MAX_NAME)
        self.name.committed.connect(lambda text: self._change(name=text.strip() or None))
        self._add(SettingRow(self.tr("Name"), self.name))
        self.limit = self._tokens("limit", self.tr("Limit"), self.tr("Tokens the model can read and write at once."))
        self.max_output = self._tokens("max_output", self.tr("Output at most"), self.tr("Tokens of one reply."))
        per_million = self.tr("US dollars for a million tokens.")
        self.prices: Mapping[str, CommitField] = {
            "input_price": self._price("input_price", self.tr("Price of input"), per_million),
            "output_price": self._price("output_price", self.tr("Price of output"), per_million),
            "cache_read_price": self._price("cache_read_price", self.tr("Price of input from the cache"), per_million),
            "cache_write_price": self._price("cache_write_price", self.tr("Price of filling the cache"), per_million),
        }
        self.abilities: Mapping[str, QuietCombo] = {
            "sees_pictures": self._ability("sees_pictures", self.tr("Sees pictures")),
            "reads_pdf": self._ability("reads_pdf", self.tr("Reads PDF files")),
            "calls_tools": self._ability("calls_tools", self.tr("Calls tools")),
            "reasons": self._ability("reasons", self.tr("Reasons before it answers")),
        }
        self.reset = QPushButton(self.tr("As the catalogue says"))
        self.reset.setAccessibleDescription(self.tr("Forgets all figures you entered for this model."))
        self.reset.clicked.connect(self._reset)
        self.remove = QPushButton(self.tr("Remove this model"))
        self.remove.clicked.connect(self._remove)
        self._last_row = SettingRow("", FlowRow(self.reset, self.remove), is_stacked=True)
        self._add(self._last_row)

    def show_card(self, card: ModelCard, *, is_forced: bool = False) -> None:
        """Show a model; a field that is being edited is left alone if it is the same model."""
        is_other = self._card is None or self._card.ref != card.ref
        is_forced = is_forced or is_other
        self._card = card
        said = self._choices.settings.models.get(card.ref, ModelSettings())
        is_built_in = self._choices.settings.endpoint(card.provider) is None
        self.heading.setText(card.name)
        self.origin.setText("\n".join(filter(None, [card.id, levels_sentence(card), origin_sentence(card)])))
        self.favourite.setChecked(card.is_favourite)
        self.name.show_text(said.name or "", is_forced=is_forced)
        self.name.setPlaceholderText(card.name)
        self._show_number(self.limit, said.limit, card.limit, is_forced=is_forced)
        self._show_number(self.max_output, said.max_output, card.max_output, is_forced=is_forced)
        for name, field in self.prices.items():
            self._show_number(
                field, getattr(said, name), getattr(card.prices, name.removesuffix("_price")), is_forced=is_forced
            )
        for name, combo in self.abilities.items():
            self._show_ability(combo, getattr(said, name), getattr(card.abilities, name))
        for control in (self.name, self.limit, self.max_output, *self.prices.values(), *self.abilities.values()):
            control.setEnabled(not is_built_in)
        has_figures = said.model_copy(update={"favourite": False, "added": False}) != ModelSettings()
        self.reset.setVisible(has_figures)
        self.remove.setVisible(said.added)
        self._last_row.setVisible(has_figures or said.added)

    def show_again(self) -> None:
        """Show what holds, whatever is being typed."""
        if self._card is not None:
            self.show_card(self._card, is_forced=True)

    def _add(self, row: SettingRow) -> None:
        self.rows.append(row)
        self._column.addWidget(row)

    def _tokens(self, name: str, label: str, note: str) -> CommitField:
        least = MIN_LIMIT if name == "limit" else MIN_OUTPUT
        problem = self.tr("A number of tokens from {least} on, such as 128k or 200000.")

        def read(text: str) -> int | None:
            value = read_tokens(text)
            if value is not None and not least <= value <= MAX_TOKENS:
                raise ValueError(f"out of bounds: {text}")
            return value

        return self._figure(name, label, note, read, problem.format(least=number_text(least)))

    def _price(self, name: str, label: str, note: str) -> CommitField:
        return self._figure(name, label, note, read_price, self.tr("A number of dollars, such as 3 or 0.25."))

    def _figure(
        self, name: str, label: str, note: str, read: Callable[[str], float | None], problem: str
    ) -> CommitField:
        field = CommitField(label)
        row = SettingRow(label, field, note=note)

        def take(text: str) -> None:
            try:
                value = read(text)
            except ValueError:
                row.set_note(problem)
                row.show_problem(on=True)
                return
            row.set_note(note)
            row.show_problem(on=False)
            self._change(**{name: value})

        field.committed.connect(take)
        self._add(row)
        return field

    def _ability(self, name: str, label: str) -> QuietCombo:
        entries: list[tuple[str, object]] = [("", None), (self.tr("Yes"), True), (self.tr("No"), False)]
        combo = choice_combo(label, entries, lambda value: self._change(**{name: value}))
        self._add(SettingRow(label, combo))
        return combo

    def _show_number(self, field: CommitField, said: float | None, known: float | None, *, is_forced: bool) -> None:
        field.show_text(_plain(said), is_forced=is_forced)
        field.setPlaceholderText(number_text(known) if isinstance(known, int) else _plain(known) or self.tr("unknown"))

    def _show_ability(self, combo: QuietCombo, said: bool | None, known: bool | None) -> None:  # noqa: FBT001 - three values
        words = {True: self.tr("yes"), False: self.tr("no"), None: self.tr("unknown")}
        usual = self.tr("As the catalogue says")
        combo.setItemText(0, usual if said is not None else f"{usual} ({words[known]})")
        combo.setCurrentIndex(0 if said is None else 1 if said else 2)

    def _change(self, **values: object) -> None:
        if self._card is not None:
            self._choices.change(change_model(self._card.ref, **values))

    def _reset(self) -> None:
        if self._card is not None:
            self._choices.change(forget_figures(self._card.ref))

    def _remove(self) -> None:
        if self._card is not None:
            self._choices.change(remove_model(self._card.ref))


class AddModelRow(SettingRow):
    """Adds a model by its id to a provider."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._wanted = ""
        self.provider = QuietCombo()
        self.model_id = CommitField("")
        self.add = QPushButton()
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        for widget in (self.provider, self.model_id, FlowRow(self.add)):
            column.addWidget(widget)
        super().__init__(
            "",
            holder,
            note=holder.tr("Its id, as the provider writes it, such as “qwen3:8b”."),
            words=holder.tr("add custom model id"),
            is_stacked=True,
        )
        self.provider.setAccessibleName(self.tr("Provider"))
        self.model_id.setAccessibleName(self.tr("Id of the model"))
        self.model_id.setPlaceholderText(self.tr("Id of the model"))
        self.add.setText(self.tr("Add model"))
        self.model_id.textChanged.connect(self._show_what_works)
        self.model_id.returnPressed.connect(self._add_model)
        self.add.clicked.connect(self._add_model)
        self._show_what_works()

    def show_settings(self, settings: Settings) -> None:
        """Offer the providers there are."""
        entries = [(endpoint.name, endpoint.id) for endpoint in settings.endpoints]
        if entries != [(self.provider.itemText(at), self.provider.itemData(at)) for at in range(self.provider.count())]:
            chosen = self.provider.currentData()
            self.provider.clear()
            for name, endpoint_id in entries:
                self.provider.addItem(name, endpoint_id)
            self.provider.setCurrentIndex(max(0, self.provider.findData(chosen)))
        self._show_what_works()

    def take_added(self, cards: Mapping[str, ModelCard]) -> str:
        """Return the model that has just been added, if it is among `cards`."""
        if self._wanted in cards:
            added, self._wanted = self._wanted, ""
            self.model_id.clear()
            return added
        return ""

    def _show_what_works(self) -> None:
        self.add.setEnabled(self.provider.count() > 0 and bool(self.model_id.text().strip()))

    def _add_model(self) -> None:
        if self.add.isEnabled():
            endpoint_id = cast("str", self.provider.currentData())
            self._wanted = f"{endpoint_id}/{self.model_id.text().strip()}"
            self._choices.change(change_model(self._wanted, added=True))


def _plain(value: float | None) -> str:
    """Return a figure as one types it, with no more digits than it has."""
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else repr(value)
