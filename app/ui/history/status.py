"""The line below the search: how far it has come, what was passed over, and the one thing that helps."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui.history.listing import ListState, ListStatus
from app.ui.history.searching import Search, SearchStatus
from app.ui.history.wording import hits_text, number_text, progress_text, size_text, skipped_words
from app.ui.theme import Theme


class StatusLine(QWidget):
    """Says how a search or the reading of the history stands; hidden while there is nothing to say."""

    pressed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._bar = _Progress(theme)
        self.text = QLabel()
        self.text.setObjectName("mutedText")
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setWordWrap(True)
        self.button = QPushButton()
        self.button.setObjectName("small")
        self.button.clicked.connect(self.pressed)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.text, 1)
        line.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(line)
        layout.addWidget(self._bar)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Draw in the colours of `theme`."""
        self._bar.set_theme(theme)

    def show_search(self, search: Search) -> None:
        """Tell how a search stands."""
        buttons = {
            SearchStatus.RUNNING: self.tr("Stop"),
            SearchStatus.STOPPED: self.tr("Continue"),
            SearchStatus.PAUSED: self.tr("Continue"),
            SearchStatus.FAILED: self.tr("Try again"),
            SearchStatus.OUTGROWN: self.tr("Search again"),
        }
        share = search.bytes_read / search.total_bytes if search.total_bytes else 0.0
        is_partial = search.status not in (SearchStatus.DONE, SearchStatus.OUTGROWN, SearchStatus.NONE)
        self._show(
            self._search_words(search),
            button=buttons.get(search.status, ""),
            share=min(1.0, share) if is_partial else None,
            is_error=search.status is SearchStatus.FAILED,
        )

    def _search_words(self, search: Search) -> str:
        found = self._found(search) or self.tr("Nothing found yet")
        searched = progress_text(search.bytes_read, search.total_bytes)
        match search.status:
            case SearchStatus.NONE:
                return ""
            case SearchStatus.RUNNING:
                words = self.tr("{found} · searched {progress}").format(found=found, progress=searched)
            case SearchStatus.STOPPED:
                words = self.tr("{found} · stopped at {progress}").format(found=found, progress=searched)
            case SearchStatus.PAUSED:
                words = self.tr("{found}, the newest first · searched {progress}").format(
                    found=found, progress=searched
                )
            case SearchStatus.DONE:
                words = self._done_words(search)
            case SearchStatus.OUTGROWN:
                found = self._found(search) or self.tr("Nothing found")
                words = self.tr("{found} · more was said since").format(found=found)
            case SearchStatus.FAILED:
                words = search.reason
        again = self.tr("The chat has changed, so the search began again.") if search.restarts else ""
        return "\n".join(filter(None, [words, again, skipped_words(search.skipped, searched=True)]))

    def _found(self, search: Search) -> str:
        """Return how many hits are listed, and which ones if some were passed; empty for none at all."""
        if not search.passed:
            return hits_text(search.hits) if search.hits else ""
        if not search.hits:
            return self.tr("No more than {count}").format(count=hits_text(search.passed))
        first, last = number_text(search.passed + 1), number_text(search.passed + search.hits)
        return self.tr("Hits {first} to {last}").format(first=first, last=last)

    def _done_words(self, search: Search) -> str:
        size = size_text(search.bytes_read)
        if found := self._found(search):
            return self.tr("{found} · all {size} searched").format(found=found, size=size)
        return self.tr("Nothing found · all {size} searched").format(size=size)

    def show_list(self, state: ListState, windows: int) -> None:
        """Tell how the list of windows stands."""
        match state.status:
            case ListStatus.LOADING if state.total_bytes:
                words = self.tr("Reading the history: {progress}").format(
                    progress=progress_text(state.bytes_read, state.total_bytes)
                )
                self._show(words, share=state.bytes_read / state.total_bytes)
            case ListStatus.FAILED:
                self._show(state.reason, button=self.tr("Try again"), is_error=True)
            case ListStatus.READY if windows > 1:
                self._show(self.tr("{count} windows, the newest first").format(count=number_text(windows)))
            case _:
                self._show("")

    def _show(self, words: str, *, button: str = "", share: float | None = None, is_error: bool = False) -> None:
        self.text.setText(words)
        self.text.setObjectName("errorText" if is_error else "mutedText")
        self.text.style().polish(self.text)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self._bar.show_share(share)
        self.setVisible(bool(words))


class _Progress(QWidget):
    """A thin bar: the words above it say the same."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._share = 0.0
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setFixedHeight(theme.px(3))
        self.update()

    def show_share(self, share: float | None) -> None:
        self.setVisible(share is not None)
        self._share = share or 0.0
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        radius = whole.height() / 2
        painter.setBrush(self._theme.border)
        painter.drawRoundedRect(whole, radius, radius)
        painter.setBrush(self._theme.accent)
        painter.drawRoundedRect(QRectF(0, 0, whole.width() * self._share, whole.height()), radius, radius)
        painter.end()
