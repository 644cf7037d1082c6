"""Agents & tools: the profiles there are, which one new chats get, and who answers when a model can't."""

from itertools import pairwise

from PySide6.QtCore import QPoint, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QVBoxLayout, QWidget

from app.settings.profiles import ASSISTANT
from app.settings.schema import Profile, Settings
from app.ui.settings.agents_edits import add_profile, choosable, copy_of, free_shadowed, shadowed
from app.ui.settings.agents_form import ProfileForm
from app.ui.settings.agents_granted import broken_lineage
from app.ui.settings.agents_wording import profile_text
from app.ui.settings.card import Card
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_part
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.model_combo import ModelCombo
from app.ui.settings.page import QuietCombo, SettingRow, SettingsPage, heading_label


class AgentsPage(SettingsPage):
    """A list of profiles, and one of them in its place."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("Agents & tools")
        self.cards: dict[str, Card] = {}
        self.form: ProfileForm | None = None
        self._opens = ""
        self._overview = QWidget()
        self._list = QVBoxLayout(self._overview)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(0)
        self.column.addWidget(self._overview)
        self._make_profiles()
        self._make_chats()

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        profiles = choosable(settings)
        self._show_cards(profiles)
        self._show_default(settings, profiles)
        self.fallback.show_ref(settings.agents.fallback_model)
        hidden = shadowed(settings)
        names = ", ".join(f"“{each.name}”" for each in hidden)
        text = self.tr("These can't be chosen, because another profile has the same id: {names}.")
        self.shadowed_row.set_note(text.format(names=names))
        self.shadowed_row.show_problem(on=True)
        self.shadowed_row.setVisible(bool(hidden))
        if is_forced:
            self._opens = ""
        if self.form is not None:
            self.form.show_settings(settings, is_forced=is_forced)
        if self._opens in self.cards:
            self.open_profile(self._opens)
        if self.isVisible():
            self.enter()

    def shown_rows(self) -> list[SettingRow]:
        return [*self.rows, *self.form.findChildren(SettingRow)] if self.form is not None else self.rows

    def enter(self) -> None:
        self.choices.ask(
            self.choices.bridge.list_models,
            lambda cards: self.fallback.set_cards(cards, self.choices.settings.agents.fallback_model),
            owner=self,
            name="list models",
        )

    def open_profile(self, profile_id: str) -> None:
        """Show one profile in place of the list, as soon as the settings have it."""
        profile = next((each for each in choosable(self.choices.settings) if each.id == profile_id), None)
        if profile is None:
            self._opens = profile_id
            return
        is_new = self._opens == profile_id
        self._opens = ""
        form = ProfileForm(self.choices, profile)
        form.back_wanted.connect(self.show_list)
        form.copied.connect(self._open_new)
        self._replace_form(form)
        if is_new:
            form.begin()
        else:
            form.back.setFocus()

    @Slot(str)
    def _open_new(self, profile_id: str) -> None:
        self._opens = profile_id
        self.open_profile(profile_id)

    def show_list(self) -> None:
        """Show all profiles again."""
        known = self.form.profile_id if self.form is not None else ""
        self._replace_form(None)
        if known in self.cards:
            self.cards[known].setFocus()

    def commit(self) -> None:
        """Save what is being typed."""
        if self.form is not None:
            self.form.commit()

    # Parts

    def _make_profiles(self) -> None:
        self._list.addWidget(heading_label(self.tr("Profiles")))
        cards = QWidget()
        self._cards = QVBoxLayout(cards)
        self._cards.setContentsMargins(0, 0, 0, 0)
        self._cards.setSpacing(6)
        self._add(
            SettingRow(
                "",
                cards,
                note=self.tr(
                    "A profile says who answers in a chat: what the model is told first, and which tools it may use."
                ),
                words=self.tr("agent instructions system prompt permissions tools allowed policy rules memory files"),
                is_stacked=True,
            )
        )
        self.new = QPushButton(self.tr("New profile  ▾"))
        self.new.setAccessibleName(self.tr("New profile"))
        self.new.setAccessibleDescription(self.tr("Made as a copy of one that is there"))
        self.new.clicked.connect(self._offer_copies)
        self._add(SettingRow("", FlowRow(self.new), words=self.tr("add create own"), is_stacked=True))
        self.mend = QPushButton(self.tr("Give them ids of their own"))
        self.mend.clicked.connect(lambda: self.choices.change(free_shadowed))
        self.shadowed_row = self._add(SettingRow("", FlowRow(self.mend), note=" ", is_stacked=True))
        self.shadowed_row.hide()

    def _make_chats(self) -> None:
        self._list.addWidget(heading_label(self.tr("Chats")))
        self.default = QuietCombo(self.tr("Profile of new chats"))
        self.default.activated.connect(
            lambda index: self.choices.change(change_part("agents", default_profile=self.default.itemData(index)))
        )
        self.default_row = self._add(
            SettingRow(
                self.tr("Profile of new chats"),
                self.default,
                note=self.tr("Chats that have not been given another one have it too."),
                words=self.tr("default assistant planner reader"),
            )
        )
        self.fallback = ModelCombo(self.tr("Fallback model"), none=self.tr("None"))
        self.fallback.chosen.connect(lambda ref: self.choices.change(change_part("agents", fallback_model=ref)))
        self._add(
            SettingRow(
                self.tr("Fallback model"),
                self.fallback,
                note=self.tr("Answers instead when the model of a chat declines, or its provider has too much to do."),
                words=self.tr("overloaded refusal other model"),
            )
        )

    def _add(self, row: SettingRow) -> SettingRow:
        self.rows.append(row)
        self._list.addWidget(row)
        return row

    def _offer_copies(self) -> None:
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        for profile in choosable(self.choices.settings):
            action = menu.addAction(self.tr("Copy of {name}").format(name=profile.name.replace("&", "&&")))
            action.triggered.connect(lambda _checked=False, profile=profile: self._add_copy(profile))
        menu.popup(self.new.mapToGlobal(QPoint(0, self.new.height())))

    def _add_copy(self, profile: Profile) -> None:
        name = self.tr("{name} (copy)").format(name=profile.name)
        made = copy_of(profile, name, self.choices.settings)
        self._opens = made.id
        self.choices.change(add_profile(made))

    # Showing

    def _replace_form(self, form: ProfileForm | None) -> None:
        old, self.form = self.form, form
        if old is not None:
            old.commit()
            old.hide()
            self.column.removeWidget(old)
            old.deleteLater()
        self._overview.setVisible(form is None)
        if form is not None:
            self.column.addWidget(form)
            self.scroll_wanted.emit(form)

    def _show_cards(self, profiles: tuple[Profile, ...]) -> None:
        ids = [profile.id for profile in profiles]
        if ids != list(self.cards):
            for card in self.cards.values():
                card.hide()
                card.deleteLater()
            self.cards = {profile.id: self._make_card(profile.id) for profile in profiles}
            # Let Tab go down the list: what is made last would come last.
            for before, after in pairwise([*self.cards.values(), self.new, self.mend, self.default, self.fallback]):
                QWidget.setTabOrder(before, after)
        for profile in profiles:
            is_broken = broken_lineage(profile, profiles) is not None
            self.cards[profile.id].show_lines(profile.name, profile_text(profile, profiles), is_error=is_broken)

    def _make_card(self, profile_id: str) -> Card:
        card = Card()
        card.clicked.connect(lambda: self.open_profile(profile_id))
        self._cards.addWidget(card)
        return card

    def _show_default(self, settings: Settings, profiles: tuple[Profile, ...]) -> None:
        if self.default.view().isVisible():
            # Not while the person looks through the list.
            return
        chosen = settings.agents.default_profile
        self.default.clear()
        for profile in profiles:
            # Assistant is what an empty choice means.
            self.default.addItem(profile.name, "" if profile.id == ASSISTANT.id else profile.id)
        wanted = "" if chosen == ASSISTANT.id else chosen
        if self.default.findData(wanted) < 0:
            self.default.addItem(self.tr("{id} (missing)").format(id=chosen), chosen)
        self.default.choose(wanted)
