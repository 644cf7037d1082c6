"""The key of one provider: where it is, and how it gets there or away. It is shown only while it is typed."""

from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMessageBox, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.domain.connections import KeyPlace, KeyState
from app.settings.schema import Endpoint
from app.ui.settings.choices import Choices
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import QuietCombo, plain_label
from app.ui.settings.wording import key_sentence
from app.ui.theme import tinted_icon

KEY_PAGES: Final = {
    "anthropic": ("console.anthropic.com", "https://console.anthropic.com/settings/keys"),
    "openai": ("platform.openai.com", "https://platform.openai.com/api-keys"),
}
"""Where a vendor gives out keys: as people read it, and its address."""


class KeyBox(QWidget):
    """State, field, place and buttons."""

    state_changed = Signal(object)
    """The new `KeyState`."""
    saved = Signal()
    link_wanted = Signal(str)

    def __init__(self, choices: Choices, endpoint: Endpoint) -> None:
        super().__init__()
        self._choices = choices
        self._endpoint = endpoint
        self._state: KeyState | None = None
        self._place_is_chosen = False
        self.sentence = plain_label(self.tr("Looking for the key…"), name="stateLine")
        self.problem = plain_label(name="mutedText")
        self.problem.hide()
        self.field = QLineEdit()
        self.field.setAccessibleName(self.tr("Key"))
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(self.tr("Paste a key"))
        hints = Qt.InputMethodHint
        self.field.setInputMethodHints(
            hints.ImhSensitiveData | hints.ImhNoPredictiveText | hints.ImhNoAutoUppercase | hints.ImhHiddenText
        )
        self.field.textChanged.connect(self._show_what_works)
        self.field.returnPressed.connect(self._ask_to_save)
        self.show_key = QToolButton()
        self.show_key.setCheckable(True)
        self.show_key.toggled.connect(self._show_letters)
        self.place = QuietCombo(self.tr("Where the key is kept"))
        self.place.activated.connect(self._choose_place)
        self.save = QPushButton(self.tr("Save key"))
        self.save.setProperty("isPrimary", "true")
        self.save.clicked.connect(self._ask_to_save)
        self.remove = QPushButton(self.tr("Remove key"))
        self.remove.clicked.connect(self._remove)
        buttons: list[QWidget] = [self.save, self.remove]
        if endpoint.maker in KEY_PAGES:
            shown, address = KEY_PAGES[endpoint.maker]
            link = QPushButton(self.tr("Get a key at {host}").format(host=shown))
            link.setObjectName("link")
            link.clicked.connect(lambda: self.link_wanted.emit(address))
            buttons.append(link)
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.field, 1)
        line.addWidget(self.show_key)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.sentence)
        layout.addWidget(self.problem)
        layout.addLayout(line)
        layout.addWidget(self.place)
        layout.addWidget(FlowRow(*buttons))
        self._show_letters(on=False)
        self._show_what_works()

    def ask(self) -> None:
        """Ask where the key is."""
        self._choices.ask(
            lambda: self._choices.bridge.key_state(self._endpoint.id),
            self.show_state,
            owner=self,
            name="look for a key",
            fail=self._show_problem,
        )

    def set_endpoint(self, endpoint: Endpoint) -> None:
        """Take over what has changed about the provider."""
        has_moved = endpoint.base_url != self._endpoint.base_url
        self._endpoint = endpoint
        if has_moved:
            # A key holds for the address it was entered for.
            self.ask()
        elif self._state is not None:
            self.show_state(self._state)

    def show_state(self, state: KeyState) -> None:
        """Say where the key is, and offer the places that there are."""
        self._state = state
        self.sentence.setText(key_sentence(state, needs_key=self._endpoint.needs_key))
        self._show_problem(state.problem)
        self._offer_places(state)
        self._show_what_works()
        self.state_changed.emit(state)

    def _show_problem(self, sentence: str) -> None:
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        if self._state is None:
            self.sentence.setText(self.tr("It is not known whether there is a key."))

    def _offer_places(self, state: KeyState) -> None:
        chosen = self._chosen_place() if self._place_is_chosen else None
        self.place.clear()
        if state.store_name:
            self.place.addItem(self.tr("Keep it in {store}").format(store=state.store_name), KeyPlace.STORE)
        self.place.addItem(self.tr("Keep it only until Muntin closes"), KeyPlace.SESSION)
        self.place.addItem(
            self.tr("Keep it in a file in Muntin's folder, readable by this account only"), KeyPlace.FILE
        )
        usual = state.place if state.place in (KeyPlace.SESSION, KeyPlace.FILE) else None
        wanted = chosen or usual
        at = self.place.findData(wanted) if wanted is not None else 0
        self.place.setCurrentIndex(max(0, at))

    def _chosen_place(self) -> KeyPlace:
        # Qt keeps an enum of strings as a plain string.
        return KeyPlace(self.place.currentData())

    def _choose_place(self) -> None:
        self._place_is_chosen = True

    def _show_what_works(self) -> None:
        state = self._state
        is_outside = state is not None and state.place is KeyPlace.ENVIRONMENT
        for control in (self.field, self.show_key, self.place, self.save):
            control.setVisible(not is_outside)
        self.save.setEnabled(state is not None and bool(self.field.text().strip()))
        self.remove.setVisible(state is not None and state.place in (KeyPlace.STORE, KeyPlace.SESSION, KeyPlace.FILE))

    def _show_letters(self, on: bool) -> None:  # noqa: FBT001 - a Qt slot
        self.field.setEchoMode(QLineEdit.EchoMode.Normal if on else QLineEdit.EchoMode.Password)
        name = self.tr("Hide the key") if on else self.tr("Show the key")
        self.show_key.setAccessibleName(name)
        self.show_key.setToolTip(name)
        self._draw_icon()

    def _draw_icon(self) -> None:
        icon = "eye-off" if self.show_key.isChecked() else "eye"
        size = self.fontMetrics().height()
        self.show_key.setIconSize(QSize(size, size))
        self.show_key.setIcon(tinted_icon(icon, self.palette().text().color(), size=size))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange or event.type() == QEvent.Type.FontChange:
            self._draw_icon()

    def _ask_to_save(self) -> None:
        if not self.save.isEnabled():
            return
        if self._chosen_place() is not KeyPlace.FILE:
            self._save()
            return
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle(self.tr("Keep the key in a file"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(
            self.tr(
                "The key will stand in a file of Muntin's folder, not encrypted. Whoever can read the files of your "
                "account can read it: other programs you run, and backups you make. Keep it there?"
            )
        )
        keep = box.addButton(self.tr("Keep it in a file"), QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        keep.clicked.connect(self._save)
        box.open()

    def _save(self) -> None:
        key, place = self.field.text().strip(), self._chosen_place()
        if self.save.hasFocus():
            self.field.setFocus()  # not on to the link that opens a web page
        self.save.setEnabled(False)
        self._choices.ask(
            lambda: self._choices.bridge.save_key(self._endpoint.id, key, place),
            self._saved,
            owner=self,
            name="save a key",
            fail=self._failed,
            is_change=True,
        )

    def _saved(self, state: KeyState) -> None:
        self.field.clear()
        self.show_key.setChecked(False)
        self._choices.said.emit("")
        self.show_state(state)
        self.saved.emit()

    def _remove(self) -> None:
        self.remove.setEnabled(False)
        self._choices.ask(
            lambda: self._choices.bridge.delete_key(self._endpoint.id),
            self._removed,
            owner=self,
            name="remove a key",
            fail=self._failed,
            is_change=True,
        )

    def _removed(self, state: KeyState) -> None:
        self.remove.setEnabled(True)
        self._choices.said.emit("")
        self.show_state(state)

    def _failed(self, sentence: str) -> None:
        """Say what went wrong; what was typed stays."""
        self.remove.setEnabled(True)
        self._show_what_works()
        self._choices.said.emit(sentence)
