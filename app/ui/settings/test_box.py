"""The test of a connection: runs, can be stopped, and says step by step how it went."""

from collections.abc import Callable

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.domain.connections import StepResult, TestReport
from app.settings.schema import Endpoint
from app.ui.settings.choices import Choices
from app.ui.settings.flow_layout import FlowRow
from app.ui.settings.page import plain_label
from app.ui.settings.wording import step_name


class TestBox(QWidget):
    """A button and what came of pressing it."""

    __test__ = False

    def __init__(self, choices: Choices, current: Callable[[], tuple[Endpoint, str]]) -> None:
        """`current` gives the endpoint to test and the key that stands in its field."""
        super().__init__()
        self._choices = choices
        self._current = current
        self._end: Callable[[], None] | None = None
        self.button = QPushButton()
        self.button.clicked.connect(self._press)
        self.state = plain_label()
        self.state.hide()
        self._needs_key = True
        self._labels: list[QLabel] = []
        self._steps = QVBoxLayout()
        self._steps.setSpacing(4)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(FlowRow(self.button))
        layout.addWidget(self.state)
        layout.addLayout(self._steps)
        self._show_button()

    def stop(self) -> None:
        """End a test that runs."""
        if self._end is not None:
            self._end()
            self._end = None
            self._say("")
            self._show_button()

    def clear(self) -> None:
        """Forget a result that no longer fits."""
        self.stop()
        self._say("")
        self._clear_steps()

    def text(self) -> str:
        """Return everything that is said here."""
        return "\n".join([*(label.text() for label in self._labels), self.state.text()])

    def _press(self) -> None:
        if self._end is not None:
            self.stop()
            return
        self._clear_steps()
        self._say(self.tr("Testing…"))
        endpoint, key = self._current()
        self._needs_key = endpoint.needs_key or bool(key)
        self._end = self._choices.ask(
            lambda: self._choices.bridge.test_endpoint(endpoint, key=key),
            self._show_report,
            owner=self,
            name="test a provider",
            fail=self._failed,
        )
        self._show_button()

    def _show_report(self, report: TestReport) -> None:
        self._end = None
        self._show_button()
        for step in report.steps:
            label = self._step_label(step)
            self._labels.append(label)
            self._steps.addWidget(label)
        if report.passed:
            text = self.tr("It works: {model} answered.") if report.model else self.tr("It works.")
            self._say(text.format(model=report.model))
        else:
            self._say(self.tr("It doesn't work yet."))
        failed = next((step for step in report.steps if not step.passed), None)
        spoken = f"{self.state.text()} {failed.detail if failed else ''}".strip()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, spoken))

    def _step_label(self, step: StepResult) -> QLabel:
        sign, word = ("✓", self.tr("yes")) if step.passed else ("✗", self.tr("no"))
        detail = f". {step.detail}" if step.detail else ""
        label = plain_label(f"{sign}  {step_name(step.step, needs_key=self._needs_key)}: {word}{detail}")
        label.setProperty("isError", not step.passed)
        label.setObjectName("testStep")
        return label

    def _failed(self, sentence: str) -> None:
        self._end = None
        self._show_button()
        self._say(sentence)

    def _say(self, text: str) -> None:
        self.state.setText(text)
        self.state.setVisible(bool(text))

    def _show_button(self) -> None:
        self.button.setText(self.tr("Test") if self._end is None else self.tr("Stop the test"))

    def _clear_steps(self) -> None:
        for label in self._labels:
            label.hide()
            label.deleteLater()
        self._labels.clear()
