"""A provider that is being added: nothing of it is kept until it can be asked."""

from urllib.parse import urlsplit

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.settings.addresses import is_local
from app.settings.schema import Dialect, Endpoint
from app.ui.settings.address_field import AddressField
from app.ui.settings.choices import Choices
from app.ui.settings.edits import add_endpoint, free_id
from app.ui.settings.endpoint_form import MAX_NAME, back_button, dialect_combo
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import CommitField, SettingRow, heading_label


class NewEndpointForm(QWidget):
    """Name, address and kind; a button that adds the provider once the address can be used."""

    back_wanted = Signal()
    added = Signal(str)
    """Id of the endpoint that is among the settings now."""

    def __init__(self, choices: Choices, dialect: Dialect) -> None:
        super().__init__()
        self._choices = choices
        self._added_id = ""
        self.back = back_button(self.tr("All providers"))
        self.back.clicked.connect(self.back_wanted)
        self.name = CommitField(self.tr("Name"), placeholder=self.tr("As you like to call it"))
        self.name.setMaxLength(MAX_NAME)
        self.dialect = dialect_combo(self.tr("Kind of API"), self._choose_dialect)
        self.dialect.choose(dialect)
        self.address = AddressField(dialect)
        self.address.edited.connect(self._show_what_works)
        self.address.field.returnPressed.connect(self._add)
        self.add = QPushButton(self.tr("Add provider"))
        self.add.setProperty("isPrimary", "true")
        self.add.clicked.connect(self._add)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(FlowRow(self.back))
        layout.addWidget(heading_label(self.tr("New provider")))
        layout.addWidget(SettingRow(self.tr("Address"), self.address))
        layout.addWidget(SettingRow(self.tr("Name"), self.name))
        layout.addWidget(SettingRow(self.tr("Kind of API"), self.dialect))
        layout.addWidget(
            SettingRow("", FlowRow(self.add), note=self.tr("The key comes next, if one is needed."), is_stacked=True)
        )
        self._show_what_works()

    def _choose_dialect(self, dialect: Dialect) -> None:
        self.address.set_dialect(dialect)

    def _show_what_works(self) -> None:
        self.add.setEnabled(bool(self.address.base_url) and not self._added_id)

    def _add(self) -> None:
        if not self.add.isEnabled():
            return
        dialect: Dialect = self.dialect.currentData()
        base_url = self.address.base_url
        name = self.name.text().strip() or urlsplit(base_url).netloc[:MAX_NAME]
        endpoint = Endpoint(
            id=free_id(name, self._choices.settings),
            name=name,
            dialect=dialect,
            base_url=base_url,
            needs_key=not is_local(base_url),
        )
        self._added_id = endpoint.id
        self._show_what_works()
        self._choices.change(add_endpoint(endpoint))

    def show_settings(self, *, is_refused: bool) -> None:
        """Go on to the provider once it is among the settings."""
        if self._added_id and self._choices.settings.endpoint(self._added_id) is not None:
            self.added.emit(self._added_id)
        elif is_refused:
            self._added_id = ""
            self._show_what_works()
