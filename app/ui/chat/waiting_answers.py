"""The lines above the composer about what waits for the person's answer."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.domain.approvals import Verdict
from app.domain.events import ApprovalAsked
from app.domain.text import one_line
from app.ui.chat.answer_keys import key_name
from app.ui.chat.blocks import clean
from app.ui.chat.composer import MAX_COLUMN
from app.ui.chat.one_line import OneLine
from app.ui.theme import Theme

MOST_SHOWN = 4
"""More questions are counted only: each that is answered makes room for the next."""
_SUMMARY_CHARS = 300
_ROOM_FOR_KEYS = 520


class WaitingAnswers(QWidget):
    """Names every question, with a way to its card: nothing is answered here, where no change can be seen."""

    show_wanted = Signal(str)
    """Id of the call whose card is to be shown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("waitingAnswersArea")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._frame = QFrame()
        self._frame.setObjectName("waitingAnswers")
        self._lines = QVBoxLayout(self._frame)
        self._heading = QLabel()
        self._heading.setTextFormat(Qt.TextFormat.PlainText)
        self._lines.addWidget(self._heading)
        self._keys = QLabel(
            self.tr("{allow} allows, {deny} doesn’t").format(allow=key_name(Verdict.ALLOW), deny=key_name(Verdict.DENY))
        )
        self._keys.setObjectName("mutedText")
        self._keys.setTextFormat(Qt.TextFormat.PlainText)
        self._shown: list[_Line] = []
        column = QHBoxLayout()
        column.setContentsMargins(12, 6, 12, 6)
        column.addWidget(self._frame)
        self._column = QWidget()
        self._column.setLayout(column)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(0)
        outer.addWidget(self._column, 1)
        outer.addStretch(0)
        self.set_theme(theme)
        self.hide()

    def show_questions(self, asked: Sequence[ApprovalAsked]) -> None:
        """Show what waits; nothing if nothing does. The keyboard stays where it is unless its line is gone."""
        had_focus = any(line.button.hasFocus() for line in self._shown)
        self._keys.setParent(self._frame)
        for line in self._shown:
            self._lines.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._shown = [self._make_line(each, is_alone=len(asked) == 1) for each in asked[:MOST_SHOWN]]
        if self._shown:
            self._shown[0].add(self._keys)
        count = self.locale().toString(len(asked))
        self._heading.setText(self.tr("{count} things wait for your answer").format(count=count))
        self._heading.setVisible(len(asked) > 1)
        for at, line in enumerate(self._shown, start=1):
            self._lines.insertWidget(at, line)
        self._show_keys()
        self.setVisible(bool(asked))
        if had_focus and self._shown:
            self._shown[0].button.setFocus()

    def set_theme(self, theme: Theme) -> None:
        """Take the zoom of `theme`."""
        self._theme = theme
        self._column.setMaximumWidth(theme.px(MAX_COLUMN))
        self._lines.setContentsMargins(theme.px(12), theme.px(6), theme.px(8), theme.px(6))
        self._lines.setSpacing(theme.px(3))

    def leave_right(self, width: int) -> None:
        """Leave `width` pixels free at the right, as the composer does."""
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(0, 0, width, 0)

    def stops(self) -> list[QWidget]:
        """Return what the Tab key comes to, in order."""
        return [line.button for line in self._shown]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_keys()

    def _make_line(self, asked: ApprovalAsked, *, is_alone: bool) -> "_Line":
        summary = one_line(clean(asked.question.summary), most_chars=_SUMMARY_CHARS)
        line = _Line(self.tr("Muntin asks: {summary}").format(summary=summary) if is_alone else summary)
        line.button.setText(self.tr("Show"))
        line.button.setAccessibleName(self.tr("Show the question: {summary}").format(summary=summary))
        line.button.clicked.connect(lambda: self.show_wanted.emit(asked.call_id))
        return line

    def _show_keys(self) -> None:
        """Name the keys where there is room; the menu names them too."""
        self._keys.setVisible(self.width() >= self._theme.px(_ROOM_FOR_KEYS))


class _Line(QWidget):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = OneLine(text)
        self.button = QPushButton()
        self.button.setObjectName("small")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.button)

    def add(self, widget: QWidget) -> None:
        """Put a widget before the button."""
        self._row.insertWidget(1, widget)
