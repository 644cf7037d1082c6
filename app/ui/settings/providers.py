"""Providers & keys: who can be asked, what runs on this computer, and how to add more."""

from collections.abc import Callable
from itertools import pairwise
from urllib.parse import urlsplit

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.domain.connections import FoundServer, KeyPlace, KeyState
from app.settings.schema import ANTHROPIC, OPENAI, Dialect, Endpoint, Maker, Settings
from app.ui.settings.choices import Choices
from app.ui.settings.edits import add_endpoint, free_id
from app.ui.settings.endpoint_form import EndpointForm
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.new_endpoint import NewEndpointForm
from app.ui.settings.page import SettingRow, SettingsPage, heading_label, plain_label
from app.ui.settings.provider_card import ProviderCard


class ProvidersPage(SettingsPage):
    """A list of providers, and one of them or a new one in its place."""

    def __init__(self, choices: Choices) -> None:
        super().__init__(choices)
        self.title = self.tr("Providers & keys")
        self.cards: dict[str, ProviderCard] = {}
        self.form: EndpointForm | NewEndpointForm | None = None
        self._states: dict[str, KeyState] = {}
        self._opens = ""
        self._found_lines: dict[str, QWidget] = {}
        """By the server's address."""
        self._overview = QWidget()
        self._list = QVBoxLayout(self._overview)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(0)
        self.column.addWidget(self._overview)
        self._make_overview()

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        is_one_gone = not set(self.cards) <= {endpoint.id for endpoint in settings.endpoints}
        self._show_cards(settings)
        self._show_lines(settings)
        if is_one_gone and self.isVisible():
            self.look_around()  # it may be running here
        present = {endpoint.maker for endpoint in settings.endpoints}
        self._add_anthropic.setVisible("anthropic" not in present)
        self._add_openai.setVisible("openai" not in present)
        if isinstance(self.form, EndpointForm):
            self.form.show_settings(settings, is_forced=is_forced)
        elif isinstance(self.form, NewEndpointForm):
            self.form.show_settings(is_refused=is_forced)
        elif self._opens and settings.endpoint(self._opens) is not None:
            self.open_added(self._opens)

    def shown_rows(self) -> list[SettingRow]:
        return [*self.rows, *self.form.findChildren(SettingRow)] if self.form is not None else self.rows

    def enter(self) -> None:
        for endpoint in self.choices.settings.endpoints:
            self._ask_for_key(endpoint.id)
        self.look_around()

    def look_around(self) -> None:
        """Look for model servers on this computer."""
        self._found_row.set_note(self.tr("Looking…"))
        self.look_again.setEnabled(False)
        self.choices.ask(
            self.choices.bridge.discover, self._show_found, owner=self, name="look for servers", fail=self._not_found
        )

    def open_added(self, endpoint_id: str) -> None:
        """Show a provider that has just been added, and ask what models it has."""
        self.open_endpoint(endpoint_id)
        if isinstance(self.form, EndpointForm) and not self.form.needs_key.isChecked():
            self.form.ask_for_models()

    def open_endpoint(self, endpoint_id: str) -> None:
        """Show one provider in place of the list, as soon as the settings are there."""
        endpoint = self.choices.settings.endpoint(endpoint_id)
        if endpoint is None:
            self._opens = endpoint_id
        else:
            self._opens = ""
            form = EndpointForm(self.choices, endpoint)
            form.link_wanted.connect(self.link_wanted)
            form.key_changed.connect(self._show_key_state)
            form.back_wanted.connect(self.show_list)
            self._replace_form(form)
            form.back.setFocus()

    def show_list(self) -> None:
        """Show all providers again."""
        known = self.form.endpoint_id if isinstance(self.form, EndpointForm) else ""
        self._replace_form(None)
        if known in self.cards:
            self.cards[known].setFocus()

    def _make_overview(self) -> None:
        words = self.tr("key address organisation project certificate test connection API secret token base URL remove")
        heading = heading_label(self.tr("Providers"))
        self._list.addWidget(heading)
        cards = QWidget()
        self._cards = QVBoxLayout(cards)
        self._cards.setContentsMargins(0, 0, 0, 0)
        self._cards.setSpacing(6)
        self._add(
            SettingRow(
                "",
                cards,
                note=self.tr(
                    "Choose one for its key, its address and a test. The Practice model is built in: it needs neither "
                    "a key nor a network."
                ),
                words=words,
                is_stacked=True,
            )
        )
        self._list.addWidget(heading_label(self.tr("Found on this computer")))
        found = QWidget()
        self._found = QVBoxLayout(found)
        self._found.setContentsMargins(0, 0, 0, 0)
        self._found.setSpacing(6)
        self.look_again = QPushButton(self.tr("Look again"))
        self.look_again.clicked.connect(self.look_around)
        self._found.addWidget(FlowRow(self.look_again))
        self._found_row = self._add(
            SettingRow("", found, note=" ", words=self.tr("Ollama LM Studio local server"), is_stacked=True)
        )
        self._list.addWidget(heading_label(self.tr("Add a provider…")))
        self._add_anthropic = _button("Anthropic", lambda: self._add_endpoint(ANTHROPIC))
        self._add_openai = _button("OpenAI", lambda: self._add_endpoint(OPENAI))
        self.add_chat = _button(self.tr("OpenAI-compatible…"), lambda: self.open_new("chat"))
        self.add_messages = _button(self.tr("Anthropic-compatible…"), lambda: self.open_new("anthropic"))
        self._add(
            SettingRow(
                "",
                FlowRow(self._add_anthropic, self._add_openai, self.add_chat, self.add_messages),
                note=self.tr("Most servers and services speak like OpenAI's: llama.cpp, vLLM, OpenRouter, Mistral…"),
                words=self.tr("new custom endpoint server"),
                is_stacked=True,
            )
        )

    def _add(self, row: SettingRow) -> SettingRow:
        self.rows.append(row)
        self._list.addWidget(row)
        return row

    def open_new(self, dialect: Dialect) -> None:
        """Show the form of a new provider in place of the list."""
        form = NewEndpointForm(self.choices, dialect)
        form.back_wanted.connect(self.show_list)
        form.added.connect(self.open_added)
        self._replace_form(form)
        form.address.field.setFocus()

    def _replace_form(self, form: EndpointForm | NewEndpointForm | None) -> None:
        old, self.form = self.form, form
        if old is not None:
            if isinstance(old, EndpointForm):
                old.test.stop()
            old.hide()
            self.column.removeWidget(old)
            old.deleteLater()
        self._overview.setVisible(form is None)
        if form is not None:
            self.column.addWidget(form)
            self.scroll_wanted.emit(form)

    def _show_cards(self, settings: Settings) -> None:
        ids = [endpoint.id for endpoint in settings.endpoints]
        if ids != list(self.cards):
            for card in self.cards.values():
                card.hide()
                card.deleteLater()
            self.cards = {endpoint.id: self._make_card(endpoint) for endpoint in settings.endpoints}
            self._order_by_sight()
        for endpoint in settings.endpoints:
            self.cards[endpoint.id].show_endpoint(endpoint, self._states.get(endpoint.id))

    def _order_by_sight(self) -> None:
        """Let Tab go down the list: what is made last would come last."""
        added = [line.findChildren(QPushButton)[0] for line in self._found_lines.values()]
        below = [self.look_again, self._add_anthropic, self._add_openai, self.add_chat, self.add_messages]
        for before, after in pairwise([*self.cards.values(), *added, *below]):
            QWidget.setTabOrder(before, after)

    def _make_card(self, endpoint: Endpoint) -> ProviderCard:
        card = ProviderCard()
        card.clicked.connect(lambda: self.open_endpoint(endpoint.id))
        self._cards.addWidget(card)
        if self.isVisible() and endpoint.id not in self._states:
            self._ask_for_key(endpoint.id)
        return card

    def _ask_for_key(self, endpoint_id: str) -> None:
        self.choices.ask(
            lambda: self.choices.bridge.key_state(endpoint_id),
            lambda state: self._show_key_state(endpoint_id, state),
            owner=self,
            name="look for a key",
            fail=lambda problem: self._show_key_state(endpoint_id, KeyState(KeyPlace.NONE, problem=problem)),
        )

    def _show_key_state(self, endpoint_id: str, state: KeyState) -> None:
        self._states[endpoint_id] = state
        endpoint = self.choices.settings.endpoint(endpoint_id)
        if endpoint is not None and endpoint_id in self.cards:
            self.cards[endpoint_id].show_endpoint(endpoint, state)

    def _show_found(self, servers: tuple[FoundServer, ...]) -> None:
        self.look_again.setEnabled(True)
        for line in self._found_lines.values():
            line.hide()
            self._found.removeWidget(line)
            line.deleteLater()
        self._found_lines = {server.base_url: self._found_line(server) for server in servers}
        for line in self._found_lines.values():
            self._found.insertWidget(self._found.count() - 1, line)
        self._order_by_sight()
        self._show_lines(self.choices.settings)

    def _show_lines(self, settings: Settings) -> None:
        """Show the servers that were found and have not been added since."""
        if not self.look_again.isEnabled():
            return  # what is there is being looked for
        left = set(self._found_lines) - {endpoint.base_url for endpoint in settings.endpoints}
        for base_url, line in self._found_lines.items():
            line.setVisible(base_url in left)
        self._found_row.set_note(
            "" if left else self.tr("No other server of Ollama or LM Studio is running on this computer.")
        )

    def _not_found(self, sentence: str) -> None:
        self.look_again.setEnabled(True)
        self._found_row.set_note(sentence)

    def _found_line(self, server: FoundServer) -> QWidget:
        address = urlsplit(server.base_url).netloc
        text = self.tr("{name} at {address}, models: {count}")
        label = plain_label(text.format(name=server.name, address=address, count=server.models))
        button = QPushButton(self.tr("Add"))
        button.setAccessibleName(self.tr("Add {name}").format(name=server.name))
        button.clicked.connect(lambda: self._add_found(server))
        line = QWidget()
        layout = QHBoxLayout(line)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(label, 1)
        layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _add_found(self, server: FoundServer) -> None:
        maker: Maker = "ollama" if server.kind == "ollama" else "lmstudio"
        endpoint = Endpoint(
            id=free_id(server.kind, self.choices.settings),
            name=server.name,
            maker=maker,
            base_url=server.base_url,
            needs_key=False,
        )
        self._add_endpoint(endpoint)

    def _add_endpoint(self, endpoint: Endpoint) -> None:
        self._opens = endpoint.id
        self.choices.change(add_endpoint(endpoint))


def _button(text: str, press: Callable[[], None]) -> QPushButton:
    button = QPushButton(text)
    button.clicked.connect(press)
    return button
