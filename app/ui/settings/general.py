"""General: the model of new chats, and the keys that send."""

from app.settings.schema import Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_part
from app.ui.settings.model_combo import ModelCombo
from app.ui.settings.page import SettingsPage, choice_combo


class GeneralPage(SettingsPage):
    """What concerns every chat."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("General")
        self.add_heading(self.tr("New chats"))
        self.model = ModelCombo(self.tr("Model for new chats"))
        self.model.chosen.connect(lambda ref: self.choices.change(change_part("general", default_model=ref)))
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
        self.model.show_ref(settings.general.default_model)
        if self.isVisible():
            self.enter()

    def enter(self) -> None:
        self.choices.ask(
            self.choices.bridge.list_models,
            lambda cards: self.model.set_cards(cards, self.choices.settings.general.default_model),
            owner=self,
            name="list models",
        )
