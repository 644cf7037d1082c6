"""Tells the history which part of the chat is on screen, whenever scrolling has come to rest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Slot

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.chat.transcript_view import TranscriptView
    from app.ui.history.timeline import Timeline

REST_MS: Final = 150
END: Final = sys.maxsize
"""Beyond every byte of a history."""


class OnScreen(QObject):
    """Follows the transcript and marks its place on the timeline."""

    def __init__(
        self,
        timeline: Timeline,
        view: TranscriptView,
        *,
        offset_of: Callable[[str], int | None],
        reaches_end: Callable[[], bool],
    ) -> None:
        """`offset_of` gives where an item's row begins; `reaches_end` whether the newest item is in the transcript."""
        super().__init__(timeline)
        self._view = view
        self._offset_of = offset_of
        self._reaches_end = reaches_end
        self._timeline = timeline
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.look)
        bar = view.verticalScrollBar()
        bar.valueChanged.connect(lambda _value: self._rest.start())
        bar.rangeChanged.connect(lambda _least, _most: self._rest.start())
        self._rest.start()

    @Slot()
    def look(self) -> None:
        """Mark what is on screen now."""
        self._timeline.show_on_screen(self._place())

    def _place(self) -> tuple[int, int] | None:
        """Return from which to which byte of the history the rows on screen begin; None if none is."""
        height, nodes = self._view.viewport().height(), []
        for node in dict.fromkeys(placed.node for placed in self._view.flow.placed):
            rect = self._view.rect_of(node)
            if rect.bottom() > 0 and rect.top() < height:
                nodes.append(node)
        if not nodes:
            return None
        known = [at for node in nodes if (at := self._offset_of(node.item.id)) is not None]
        is_end = self._reaches_end() and nodes[-1] is self._view.nodes[-1]
        # What came since the chat was opened lies at its end.
        last = END if is_end or not known else max(known)
        return (min(known) if known else last), last
