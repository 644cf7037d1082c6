"""Two lines in a list that are pressed to see more."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout

from app.ui.settings.page import plain_label


class Card(QPushButton):
    """A name and a line about it, both wrapped."""

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

    def show_lines(self, name: str, state: str, *, is_error: bool = False) -> None:
        """Say what it is, and something about it."""
        self._name.setText(name)
        self._state.setText(state)
        self._state.setProperty("isError", is_error)
        self._state.style().polish(self._state)
        self.setAccessibleName(f"{name}. {state}")
        self.updateGeometry()

    def name_text(self) -> str:
        """Return what it is called."""
        return self._name.text()

    def state_text(self) -> str:
        """Return what is said about it."""
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
