"""A provider in the list: its name, where it is, and whether it can be asked."""

from urllib.parse import urlsplit

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout

from app.domain.connections import KeyState
from app.settings.schema import Endpoint
from app.ui.settings.page import plain_label
from app.ui.settings.wording import key_sentence


class ProviderCard(QPushButton):
    """Two lines that are pressed to open the provider."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._name = plain_label(name="cardTitle")
        self._state = plain_label(name="mutedText")
        for label in (self._name, self._state):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(2)
        layout.addWidget(self._name)
        layout.addWidget(self._state)
        # A button is never narrower than its texts would like to be; these wrap.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def show_endpoint(self, endpoint: Endpoint, state: KeyState | None) -> None:
        """Say everything about a provider in two lines."""
        if not endpoint.needs_key:
            key = self.tr("Needs no key")
        elif state is None:
            key = self.tr("Looking for the key…")
        else:
            # That there is no store at all is said where it matters.
            problem = state.problem if state.store_name else ""
            key = f"{key_sentence(state)}. {problem}" if problem else key_sentence(state)
        host = urlsplit(endpoint.base_url).netloc
        self._name.setText(endpoint.name)
        self._state.setText(f"{host}  ·  {key}")
        self.setAccessibleName(f"{endpoint.name}. {host}. {key}")
        self.updateGeometry()

    def state_text(self) -> str:
        """Return what is said of the provider."""
        return self._state.text()

    def sizeHint(self) -> QSize:
        layout = self.layout()
        return layout.sizeHint() if layout is not None else super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        layout = self.layout()
        return layout.minimumSize() if layout is not None else super().minimumSizeHint()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        layout = self.layout()
        return layout.heightForWidth(width) if layout is not None else super().heightForWidth(width)
