"""One provider: its key, a test, its models, its address, and its removal."""

from collections.abc import Callable
from typing import Final, cast, get_args

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QMessageBox, QPushButton, QVBoxLayout, QWidget

from app.domain.connections import KeyPlace, KeyState
from app.settings.schema import Dialect, Endpoint, Settings
from app.ui.settings.address_field import AddressField
from app.ui.settings.choices import Choices
from app.ui.settings.edits import change_endpoint, remove_endpoint
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.key_box import KeyBox
from app.ui.settings.page import (
    CommitField,
    QuietCombo,
    SettingRow,
    check_box,
    choice_combo,
    heading_label,
)
from app.ui.settings.test_box import TestBox
from app.ui.settings.wording import dialect_name, number_text

MAX_NAME: Final = 60
_IN_CATALOGUE: Final = frozenset({"anthropic", "openai"})
"""Makers whose models ship with Muntin."""


class EndpointForm(QWidget):
    """Everything about one provider. What is changed holds at once."""

    back_wanted = Signal()
    link_wanted = Signal(str)
    key_changed = Signal(str, object)
    """Id of the endpoint and the `KeyState` of its key."""

    def __init__(self, choices: Choices, endpoint: Endpoint) -> None:
        super().__init__()
        self._choices = choices
        self._endpoint = endpoint
        self._key_state: KeyState | None = None
        self.back = back_button(self.tr("All providers"))
        self.back.clicked.connect(self.back_wanted)
        self.heading = heading_label(endpoint.name)
        self.key = KeyBox(choices, endpoint)
        self.key.link_wanted.connect(self.link_wanted)
        self.key.state_changed.connect(self._take_key_state)
        self.key.saved.connect(self.ask_for_models)
        self._tested = endpoint
        self.test = TestBox(choices, self._to_test)
        self.refresh = QPushButton(self.tr("Refresh list of models"))
        self.refresh.clicked.connect(self.refresh_models)
        self._list_row = SettingRow(self.tr("Models"), FlowRow(self.refresh))
        self._make_fields(endpoint)
        self.remove = QPushButton(self.tr("Remove provider…"))
        self.remove.clicked.connect(self._ask_to_remove)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(FlowRow(self.back))
        layout.addWidget(self.heading)
        self._key_row = SettingRow(self.tr("Key"), self.key, is_stacked=True)
        layout.addWidget(self._key_row)
        self._test_row = SettingRow(self.tr("Connection"), self.test, is_stacked=True)
        layout.addWidget(self._test_row)
        layout.addWidget(self._list_row)
        layout.addWidget(heading_label(self.tr("Details")))
        for row in self._rows:
            layout.addWidget(row)
        self._remove_row = SettingRow(self.tr("Remove this provider"), FlowRow(self.remove))
        layout.addWidget(self._remove_row)
        self.show_endpoint(endpoint, is_forced=True)
        self.key.ask()

    @property
    def endpoint_id(self) -> str:
        return self._endpoint.id

    def show_settings(self, settings: Settings, *, is_forced: bool) -> None:
        """Show what holds now; a provider that is gone asks to go back."""
        endpoint = settings.endpoint(self._endpoint.id)
        if endpoint is None:
            self.back_wanted.emit()
        else:
            self.show_endpoint(endpoint, is_forced=is_forced)

    def show_endpoint(self, endpoint: Endpoint, *, is_forced: bool) -> None:
        """Show the fields of an endpoint."""
        # One that is tested may be on its way to the settings, and older news of them come before.
        if _way_to(endpoint) not in (_way_to(self._endpoint), _way_to(self._tested)):
            self.test.clear()
        self._endpoint = endpoint
        self.heading.setText(endpoint.name)
        self.name.show_text(endpoint.name, is_forced=is_forced)
        self.dialect.choose(endpoint.dialect)
        self.address.set_dialect(endpoint.dialect)
        self.address.show_address(endpoint.base_url, is_forced=is_forced)
        self.organization.show_text(endpoint.organization, is_forced=is_forced)
        self.project.show_text(endpoint.project, is_forced=is_forced)
        self.needs_key.setChecked(endpoint.needs_key)
        self.trusting.setChecked(not endpoint.verify)
        self.trusting_row.set_note(self._trust_note(endpoint))
        self.trusting_row.setVisible(endpoint.base_url.startswith("https:"))
        self._key_row.setVisible(endpoint.needs_key)
        self._test_row.set_note(
            self.tr("Asks a model for one word, with the key above if one is typed there.")
            if endpoint.needs_key
            else self.tr("Asks a model for one word.")
        )
        self._remove_row.set_note(self.tr("Its key is deleted too.") if endpoint.needs_key else "")
        self._list_row.set_note(self._list_note(endpoint))
        self.key.set_endpoint(endpoint)

    def _make_fields(self, endpoint: Endpoint) -> None:
        self.name = CommitField(self.tr("Name"))
        self.name.setMaxLength(MAX_NAME)
        self.name.committed.connect(self._rename)
        self.dialect = dialect_combo(self.tr("Kind of API"), self._choose_dialect)
        self.address = AddressField(endpoint.dialect)
        self.address.committed.connect(lambda base_url: self._change(base_url=base_url))
        self.organization = CommitField(self.tr("Organisation"))
        self.organization.committed.connect(lambda text: self._change(organization=text.strip()))
        self.project = CommitField(self.tr("Project"))
        self.project.committed.connect(lambda text: self._change(project=text.strip()))
        self.needs_key = check_box(self.tr("Yes"), lambda on: self._change(needs_key=on))
        self.trusting = check_box(self.tr("Don't check"), lambda on: self._change(verify=not on))
        self.trusting_row = SettingRow(self.tr("Certificate"), self.trusting)
        is_openai = endpoint.maker == "openai"
        note = self.tr("Only if your account has several.")
        self._rows = [
            SettingRow(self.tr("Name"), self.name),
            SettingRow(self.tr("Address"), self.address),
            SettingRow(self.tr("Kind of API"), self.dialect),
            *([SettingRow(self.tr("Organisation"), self.organization, note=note)] if is_openai else []),
            *([SettingRow(self.tr("Project"), self.project, note=note)] if is_openai else []),
            SettingRow(self.tr("Needs a key"), self.needs_key),
            self.trusting_row,
        ]

    def _to_test(self) -> tuple[Endpoint, str]:
        """Return the endpoint as it stands in the fields, and the key that stands in its own.

        What was entered last may not be saved yet: a key for a new address is not tried at the old one.
        """
        base_url = self.address.base_url or self._endpoint.base_url
        self._tested = self._endpoint.model_copy(update={"base_url": base_url})
        return self._tested, self.key.field.text().strip()

    def _change(self, **values: object) -> None:
        self._choices.change(change_endpoint(self._endpoint.id, **values))

    def _rename(self, text: str) -> None:
        if text.strip():
            self._change(name=text.strip())
        else:
            self.name.show_text(self._endpoint.name, is_forced=True)

    def _choose_dialect(self, dialect: Dialect) -> None:
        self.address.set_dialect(dialect)
        self._change(dialect=dialect, base_url=self.address.base_url or self._endpoint.base_url)

    def _trust_note(self, endpoint: Endpoint) -> str:
        if endpoint.verify:
            return self.tr("Checked, so that nobody else can pretend to be this server.")
        return self.tr(
            "Not checked: whoever sits between you and this server can read your messages and your key. "
            "Only for a server of your own."
        )

    def _list_note(self, endpoint: Endpoint) -> str:
        if endpoint.listed is None:
            return self.tr("The provider has not been asked for its list yet.")
        asked = QLocale().toString(
            QDateTime.fromSecsSinceEpoch(int(endpoint.listed.timestamp())), QLocale.FormatType.ShortFormat
        )
        count = len(endpoint.models)
        text = self.tr("{count} in the provider's list, asked {moment}.")
        return text.format(count=number_text(count), moment=asked)

    def ask_for_models(self) -> None:
        """Ask for the list of models if nothing is known of them yet."""
        if self._endpoint.listed is None and self._endpoint.maker not in _IN_CATALOGUE:
            self.refresh_models()

    def refresh_models(self) -> None:
        """Ask for the list of models."""
        self.refresh.setEnabled(False)
        self._list_row.set_note(self.tr("Asking…"))
        self._choices.ask(
            lambda: self._choices.bridge.refresh_models(self._endpoint.id),
            self._refreshed,
            owner=self,
            name="refresh models",
            fail=self._refresh_failed,
        )

    def _refreshed(self, count: int) -> None:
        self.refresh.setEnabled(True)
        self._list_row.set_note(
            self.tr("{count} in the provider's list, asked just now.").format(count=number_text(count))
        )

    def _refresh_failed(self, sentence: str) -> None:
        self.refresh.setEnabled(True)
        self._list_row.set_note(sentence)

    def _take_key_state(self, state: KeyState) -> None:
        self._key_state = state
        self.key_changed.emit(self._endpoint.id, state)

    def _ask_to_remove(self) -> None:
        box = QMessageBox(self)
        box.setWindowTitle(self.tr("Remove a provider"))
        box.setIcon(QMessageBox.Icon.Question)
        box.finished.connect(box.deleteLater)
        box.setTextFormat(Qt.TextFormat.PlainText)
        question = self.tr("Remove “{name}” and delete its key?")
        if not self._endpoint.needs_key:
            question = self.tr("Remove “{name}”?")
        stays = self.tr("Chats that use its models stay, and can go on with another model.")
        box.setText(f"{question.format(name=self._endpoint.name)} {stays}")
        remove = box.addButton(self.tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        remove.clicked.connect(self._remove)
        box.open()

    def _remove(self) -> None:
        self.test.stop()
        state = self._key_state
        if state is None or state.place in (KeyPlace.STORE, KeyPlace.SESSION, KeyPlace.FILE):
            self._choices.ask(
                lambda: self._choices.bridge.delete_key(self._endpoint.id),
                lambda _state: self._choices.change(remove_endpoint(self._endpoint.id)),
                owner=self,
                name="delete a key",
                is_change=True,
            )
        else:
            self._choices.change(remove_endpoint(self._endpoint.id))


def back_button(text: str) -> QPushButton:
    """Return the button that leads back to `text`."""
    button = QPushButton(f"‹ {text}")
    button.setObjectName("link")
    button.setAccessibleName(text)
    return button


def dialect_combo(name: str, chosen: Callable[[Dialect], None]) -> QuietCombo:
    """Return a list of the kinds of API."""
    entries: list[tuple[str, object]] = [(dialect_name(dialect), dialect) for dialect in get_args(Dialect)]
    return choice_combo(name, entries, lambda dialect: chosen(cast("Dialect", dialect)))


def _way_to(endpoint: Endpoint) -> tuple[object, ...]:
    return endpoint.base_url, endpoint.dialect, endpoint.verify, endpoint.organization, endpoint.project
