"""The middle of the window: header, transcript, composer. Shows; decides nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.ui.chat.attachments_drop import DropZone
from app.ui.chat.composer import Composer
from app.ui.chat.empty_page import EmptyPage
from app.ui.chat.profile_button import ProfileButton
from app.ui.picker.button import ModelButton
from app.ui.theme import Theme, tinted_icon
from app.ui.tooltip import plain_tooltip

if TYPE_CHECKING:  # Its modules must not hold up the first paint.
    from collections.abc import Sequence

    from app.domain.events import ApprovalAsked
    from app.ui.chat.queue_tray import QueueTray
    from app.ui.chat.transcript_view import TranscriptView
    from app.ui.chat.waiting_answers import WaitingAnswers

SCROLL_BAR_PX: Final = 12
"""As the style sheet says, before any zoom."""


_MODEL_SHARE: Final = 0.45
_PROFILE_SHARE: Final = 0.2
_LEAST_CONTENT_PX: Final = 48
_NARROW_LETTERS: Final = 72
"""Width in average letters below which the profile is an icon."""


class ChatPage(QWidget):
    """One chat as it is shown."""

    panel_toggled = Signal()
    history_toggled = Signal()
    older_wanted = Signal()
    newer_wanted = Signal()
    latest_wanted = Signal()
    """The reader wants to be at the end, which is not among what is shown."""
    action_triggered = Signal(str, object)
    link_activated = Signal(str)
    offer_taken = Signal(str, object)
    """Item id, and the `Offer` that the person wants of those made for it."""
    answered = Signal(str, object)
    """Id of a call that asks, and the `Verdict`."""
    question_wanted = Signal(str)
    """Id of a call whose question the person wants to see."""
    thumbnails_wanted = Signal(tuple)
    """SHA-256 of attached pictures that are on screen for the first time."""
    model_pressed = Signal()
    """The person wants to see the models there are."""
    escape_pressed = Signal()
    """Nothing else has wanted the key."""
    zoom_wanted = Signal(int)
    """Steps of zoom that the wheel was turned."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chatPage")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(280)
        self._theme = theme
        self._transcript: TranscriptView | None = None
        self._waiting: WaitingAnswers | None = None
        self._queue_tray: QueueTray | None = None
        self._bar_stops: Sequence[QWidget] = ()
        self.empty = EmptyPage()
        self.composer = Composer(theme)
        self.banner = Banner()
        self._header = _Header()
        self._header.panel_button.clicked.connect(self.panel_toggled)
        self._header.history_button.clicked.connect(self.history_toggled)
        self._header.model.clicked.connect(self.model_pressed)
        content = self._content = QWidget()
        # Where all is large and the window small, the field and its buttons stay whole.
        content.setMinimumHeight(_LEAST_CONTENT_PX)
        self._stack = QStackedLayout(content)
        # Nothing is shown until it is known what.
        self._stack.addWidget(QWidget())
        self._stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(self.banner)
        layout.addWidget(content, 1)
        layout.addWidget(self.composer)
        self.setAcceptDrops(True)
        self._drop_zone = DropZone(self, theme)
        self._drop_zone.dropped.connect(self.composer.take)
        self._order_stops()
        self.set_theme(theme)

    @property
    def transcript(self) -> TranscriptView:
        """The transcript, made when it is first asked for."""
        if self._transcript is None:
            self._transcript = self._make_transcript()
        return self._transcript

    def _make_transcript(self) -> TranscriptView:
        from app.ui.chat.transcript_view import TranscriptView

        transcript = TranscriptView(self._theme)
        transcript.setAccessibleName(self.tr("Transcript"))
        transcript.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        transcript.older_wanted.connect(self.older_wanted)
        transcript.newer_wanted.connect(self.newer_wanted)
        transcript.latest_wanted.connect(self.latest_wanted)
        transcript.action_triggered.connect(self.action_triggered)
        transcript.answered.connect(self.answered)
        transcript.link_activated.connect(self.link_activated)
        transcript.offer_taken.connect(self.offer_taken)
        transcript.thumbnails_wanted.connect(self.thumbnails_wanted)
        transcript.zoom_wanted.connect(self.zoom_wanted)
        transcript.typed.connect(self.composer.go_on_typing)
        bar = transcript.verticalScrollBar()
        bar.setEnabled(False)
        # A bar with nothing to scroll keeps its place and shows no handle.
        bar.rangeChanged.connect(lambda least, most: bar.setEnabled(most > least))
        self._stack.addWidget(transcript)
        self._transcript = transcript
        self._order_stops()
        return transcript

    @property
    def queue_tray(self) -> QueueTray:
        """The waiting messages, above the composer; made when something waits for the first time."""
        if self._queue_tray is None:
            self._queue_tray = self._make_queue_tray()
        return self._queue_tray

    def queue_stops(self) -> list[QWidget]:
        """Return where the keyboard comes to the waiting messages."""
        return [self._queue_tray.list] if self._queue_tray is not None else []

    def _make_queue_tray(self) -> QueueTray:
        from app.ui.chat.queue_tray import QueueTray

        tray = QueueTray(self._theme)
        tray.leave_right(self._theme.px(SCROLL_BAR_PX))
        tray.list.fit(page_height=self.height())
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.composer), tray)
        self._queue_tray = tray
        self._order_stops()
        return tray

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`, and with its zoom."""
        self._theme = theme
        if self._transcript is not None:
            self._transcript.set_theme(theme)
        if self._queue_tray is not None:
            self._queue_tray.set_theme(theme)
            self._queue_tray.leave_right(theme.px(SCROLL_BAR_PX))
        self.composer.set_theme(theme)
        if self._waiting is not None:
            self._waiting.set_theme(theme)
            self._waiting.leave_right(theme.px(SCROLL_BAR_PX))
        self._drop_zone.set_theme(theme)
        self.composer.leave_right(theme.px(SCROLL_BAR_PX))
        self.empty.set_theme(theme)
        self._header.set_theme(theme)

    def show_waiting(self, asked: Sequence[ApprovalAsked]) -> None:
        """Name above the composer what waits for the person's answer; nothing for none."""
        if asked and self._waiting is None:
            self._waiting = self._make_waiting()
        if self._waiting is not None:
            self._waiting.show_questions(asked)
            self._order_stops()

    def _make_waiting(self) -> WaitingAnswers:
        from app.ui.chat.waiting_answers import WaitingAnswers

        waiting = WaitingAnswers(self._theme)
        waiting.leave_right(self._theme.px(SCROLL_BAR_PX))
        waiting.show_wanted.connect(self.question_wanted)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        # What else waits, such as messages, stands between these lines and the composer.
        layout.insertWidget(layout.indexOf(self._content) + 1, waiting)
        return waiting

    def announce(self, text: str) -> None:
        """Have a screen reader say `text`."""
        from app.ui.chat.accessible import announce

        announce(self.transcript, text)

    def scroll_to_end(self) -> None:
        """Show the newest message."""
        self.transcript.scroll_to_end()

    def set_title(self, title: str) -> None:
        """Show the chat's title."""
        self._header.title.setText(title)

    @property
    def model_button(self) -> ModelButton:
        """Shows the chat's model and asks for another."""
        return self._header.model

    @property
    def profile_button(self) -> ProfileButton:
        """Shows the chat's profile and asks for another."""
        return self._header.profile

    @property
    def content(self) -> QWidget:
        """What lies between the header and all that waits or is written below."""
        return self._content

    def height_below(self) -> int:
        """Return the height of what stands below the content: questions, waiting messages, the composer."""
        return self.height() - self._content.geometry().bottom() - 1

    def insert_bar(self, bar: QWidget, stops: Sequence[QWidget]) -> None:
        """Put a bar between the header and the transcript; the Tab key stops at `stops` of it."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(2, bar)
        self._bar_stops = stops
        self._order_stops()

    def _order_stops(self) -> None:
        """Let the Tab key go from the top to the bottom, whatever was made first."""
        header, tray = self._header, self._queue_tray
        stops: list[QWidget] = [header.panel_button, header.profile, header.model, header.history_button]
        stops += [*self.banner.stops(), *self._bar_stops, *self.empty.prompts]
        stops += [self._transcript] if self._transcript is not None else []
        stops += self._waiting.stops() if self._waiting is not None else []
        stops += [tray.go_on, tray.list] if tray is not None else []
        for before, stop in pairwise([*stops, *self.composer.stops()]):
            QWidget.setTabOrder(before, stop)

    def show_empty(self, *, on: bool) -> None:
        """Show the ways to begin instead of an empty transcript."""
        self._stack.setCurrentWidget(self.empty if on else self.transcript)

    @property
    def shows_empty(self) -> bool:
        return self._stack.currentWidget() is self.empty

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escape_pressed.emit()
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.composer.tray.fit(page_height=event.size().height())
        if self._queue_tray is not None:
            self._queue_tray.list.fit(page_height=event.size().height())

    def show_thumbnail(self, sha256: str, image: QImage) -> None:
        """Show a small square of an attached picture in the transcript."""
        self.transcript.set_thumbnail(sha256, image)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.composer.may_attach:
            self._drop_zone.cover(event)
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._drop_zone.uncover()


class Banner(QWidget):
    """A line under the header about the whole chat, with at most one thing to do about it."""

    button_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("banner")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._button = QPushButton()
        self._button.clicked.connect(self.button_pressed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 6, 12, 6)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._button)
        self.hide()

    def stops(self) -> list[QWidget]:
        """Return what the Tab key stops at."""
        return [self._button]

    def show_text(self, text: str, button: str = "") -> None:
        """Show `text`, nothing if it is empty; `button` only with words on it."""
        self._text.setText(text)
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self.setVisible(bool(text))


class _Header(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("chatHeader")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.panel_button = QToolButton()
        self.panel_button.setObjectName("flat")
        self.panel_button.setToolTip(self.tr("Show or hide the list of chats"))
        self.panel_button.setAccessibleName(self.tr("List of chats"))
        self.history_button = QToolButton()
        self.history_button.setObjectName("flat")
        self.history_button.setToolTip(self.tr("Show or hide the history (Ctrl+H)"))
        self.history_button.setAccessibleName(self.tr("History"))
        self.title = _ElidedLabel("chatTitle")
        self.profile = ProfileButton()
        self.model = ModelButton()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(8)
        layout.addWidget(self.panel_button)
        layout.addWidget(self.title, 1)
        layout.addWidget(self.profile)
        layout.addWidget(self.model)
        layout.addWidget(self.history_button)

    def set_theme(self, theme: Theme) -> None:
        size = theme.px(18)
        self.panel_button.setIcon(tinted_icon("panel-left", theme.muted, size=size))
        self.panel_button.setIconSize(QSize(size, size))
        self.history_button.setIcon(tinted_icon("history", theme.muted, size=size))
        self.history_button.setIconSize(QSize(size, size))
        self.profile.set_theme(theme)
        self.model.set_theme(theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Long names leave the title its room.
        self.profile.shorten(on=self.width() < self.fontMetrics().averageCharWidth() * _NARROW_LETTERS)
        self.profile.leave_room(round(self.width() * _PROFILE_SHARE))
        self.model.setMaximumWidth(round(self.width() * _MODEL_SHARE))


class _ElidedLabel(QLabel):
    """A plain label of one line that ends with an ellipsis where it doesn't fit."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._whole = ""

    def setText(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        # A screen reader would read the tags of the tooltip.
        self.setAccessibleDescription(text)
        self.setToolTip(plain_tooltip(text) if self._elide() != text else "")
        super().setText(self._elide())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        super().setText(self._elide())
        self.setToolTip(plain_tooltip(self._whole) if self._elide() != self._whole else "")

    def _elide(self) -> str:
        return self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())
