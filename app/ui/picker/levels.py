"""The row below the models in which is chosen how long the chat's model thinks."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.ui.level_wording import level_name


class LevelRow(QWidget):
    """Standard and the levels side by side, one of them chosen; not there if there are none.

    One stop for Tab: the arrow keys go from level to level.
    """

    chosen = Signal(str)
    """A level, empty for the provider's own default."""

    def __init__(self) -> None:
        super().__init__()
        self._buttons: dict[str, QPushButton] = {}
        label = QLabel(self.tr("Thinking"))
        label.setObjectName("mutedText")
        self._choices = QWidget()
        self._choices.setObjectName("levelChoices")
        self._choices.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._line = QHBoxLayout(self._choices)
        self._line.setContentsMargins(2, 2, 2, 2)
        self._line.setSpacing(2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        layout.addWidget(label)
        layout.addWidget(self._choices)
        self.hide()

    def show_levels(self, levels: tuple[str, ...], current: str) -> None:
        """Offer these, with `current` chosen."""
        wanted = ("", *levels) if levels else ()
        if wanted != tuple(self._buttons):
            self._make_buttons(wanted)
        focused = any(button.hasFocus() for button in self._buttons.values())
        for level, button in self._buttons.items():
            button.setChecked(level == current)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if level == current else Qt.FocusPolicy.ClickFocus)
        if focused:
            self._buttons[current].setFocus(Qt.FocusReason.OtherFocusReason)
        self.setVisible(bool(levels))

    @property
    def stop(self) -> QWidget | None:
        """Where Tab comes to: the level that is chosen."""
        return next((button for button in self._buttons.values() if button.isChecked()), None)

    def eventFilter(self, watched: QWidget, event: QEvent) -> bool:  # type: ignore[override]
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() in steps:
            self._move(steps[Qt.Key(event.key())])
            return True
        return super().eventFilter(watched, event)

    def _make_buttons(self, levels: tuple[str, ...]) -> None:
        for button in self._buttons.values():
            self._line.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = {level: self._make_button(level) for level in levels}

    def _make_button(self, level: str) -> QPushButton:
        button = QPushButton(level_name(level))
        button.setObjectName("levelChoice")
        button.setCheckable(True)
        button.setAutoDefault(False)
        # As wide as its word, and a share of what is left; in a narrow window less.
        button.setMinimumWidth(1)
        button.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        button.setAccessibleName(self.tr("Thinking: {level}").format(level=level_name(level)))
        button.installEventFilter(self)
        button.clicked.connect(lambda _checked=False, wanted=level: self._choose(wanted))
        self._line.addWidget(button)
        return button

    def _move(self, steps: int) -> None:
        levels = list(self._buttons)
        at = next((at for at, level in enumerate(levels) if self._buttons[level].hasFocus()), 0)
        wanted = levels[min(max(at + steps, 0), len(levels) - 1)]
        self._buttons[wanted].setFocus(Qt.FocusReason.TabFocusReason)
        self._choose(wanted)

    def _choose(self, level: str) -> None:
        self.show_levels(tuple(other for other in self._buttons if other), level)
        self.chosen.emit(level)
