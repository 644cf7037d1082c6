"""General: the model of new chats, and the keys that send."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel

from app.domain.models import ModelCard
from app.settings.schema import Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_part
from app.ui.settings.page import QuietCombo, SettingsPage, choice_combo
from app.ui.settings.wording import by_provider


class GeneralPage(SettingsPage):
    """What concerns every chat."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("General")
        self.add_heading(self.tr("New chats"))
        self._cards: tuple[ModelCard, ...] = ()
        self.model = QuietCombo(self.tr("Model for new chats"))
        self.model.activated.connect(self._choose_model)
        self.add_row(
            self.tr("Model for new chats"),
            self.model,
            note=self.tr("Each chat can be given another one later. Models appear here once their provider has a key."),
            words=self.tr("default provider"),
        )
        self.add_heading(self.tr("Writing"))
        self.sending = choice_combo(
            self.tr("Send a message with"),
            [
                (self.tr("Enter (Shift+Enter starts a new line)"), True),
                (self.tr("Ctrl+Enter (Enter starts a new line)"), False),
            ],
            lambda on: self.choices.change(change_part("general", enter_sends=on)),
        )
        self.add_row(self.tr("Send a message with"), self.sending, words=self.tr("keyboard return key"))

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:  # noqa: ARG002 - nothing is typed here
        self.sending.choose(settings.general.enter_sends)
        self._show_models(settings.general.default_model)
        if self.isVisible():
            self.enter()

    def enter(self) -> None:
        self.choices.ask(self.choices.bridge.list_models, self._take_models, owner=self, name="list models")

    def _take_models(self, cards: tuple[ModelCard, ...]) -> None:
        self._cards = cards
        self._show_models(self.choices.settings.general.default_model)

    def _show_models(self, chosen: str) -> None:
        if self.model.view().isVisible():
            # Not while the person looks through the list.
            return
        model = QStandardItemModel(self.model)
        bold = self.font()
        bold.setBold(True)
        at = 0
        for provider, cards in by_provider(self._cards).items():
            heading = QStandardItem(provider)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            heading.setFont(bold)
            model.appendRow(heading)
            for card in cards:
                item = QStandardItem(card.name)
                # Practice is what an empty choice means.
                ref = "" if card.provider == "practice" else card.ref
                item.setData(ref, Qt.ItemDataRole.UserRole)
                model.appendRow(item)
                if ref == chosen:
                    at = model.rowCount() - 1
        if chosen and not at:
            missing = QStandardItem(self.tr("{model} (not on offer now)").format(model=chosen))
            missing.setData(chosen, Qt.ItemDataRole.UserRole)
            model.appendRow(missing)
            at = model.rowCount() - 1
        self.model.setModel(model)
        self.model.setCurrentIndex(at)

    def _choose_model(self, index: int) -> None:
        ref = self.model.itemData(index)
        if isinstance(ref, str):
            self.choices.change(change_part("general", default_model=ref))
