"""What the reader has seen: items that came below, and whether older or newer ones are wanted."""

from collections.abc import Container

from PySide6.QtCore import QObject, Signal

from app.ui.chat.flow import Flow


class Attendance(QObject):
    """Compares where the reader is with what there is."""

    older_wanted = Signal()
    newer_wanted = Signal()
    unseen_changed = Signal(int)
    at_end_changed = Signal(bool)

    def __init__(self, flow: Flow, parent: QObject) -> None:
        super().__init__(parent)
        self._flow = flow
        self._unseen: set[str] = set()
        self._was_at_end = True
        self._more_above = False
        self._is_asked = False
        self._is_asked_below = False

    def begin(self, *, more_above: bool, more_below: bool) -> None:
        """Start anew with other items; what came below is still there if there is more than these."""
        self.expect_older(more=more_above)
        self.expect_newer(more=more_below)
        if self._unseen and not more_below:
            self._unseen.clear()
            self.unseen_changed.emit(0)

    def expect_older(self, *, more: bool) -> None:
        """Know whether there are older items; they may be asked for again."""
        self._more_above, self._is_asked = more, False

    def expect_newer(self, *, more: bool) -> None:
        """Know whether there are newer items than these; they may be asked for again."""
        self._flow.has_more_below, self._is_asked_below = more, False

    def ask_again(self) -> None:
        """Ask once more with the next look, whatever became of the last time."""
        self._is_asked = False

    def note(self, item_id: str) -> None:
        """Count an item that came or grew, unless the reader is there to see it."""
        if not self._was_at_end and item_id not in self._unseen:
            self._unseen.add(item_id)
            self.unseen_changed.emit(len(self._unseen))

    def forget(self, item_id: str) -> None:
        """Count an item no more."""
        if item_id in self._unseen:
            self._unseen.discard(item_id)
            self.unseen_changed.emit(len(self._unseen))

    def keep(self, item_ids: Container[str]) -> None:
        """Count only these any more."""
        gone = {each for each in self._unseen if each not in item_ids}
        if gone:
            self._unseen -= gone
            self.unseen_changed.emit(len(self._unseen))

    def look(self) -> None:
        """Say what has changed since the last look."""
        at_end = self._flow.is_at_end
        if at_end and self._unseen:
            self._unseen.clear()
            self.unseen_changed.emit(0)
        if at_end is not self._was_at_end:
            self._was_at_end = at_end
            self.at_end_changed.emit(at_end)
        if self._more_above and not self._is_asked and self._flow.height and self._flow.value < 2 * self._flow.height:
            self._is_asked = True
            self.older_wanted.emit()
        if self._flow.has_more_below and not self._is_asked_below and self._flow.height and self._left_below() < 2:
            self._is_asked_below = True
            self.newer_wanted.emit()

    def _left_below(self) -> float:
        """Return how many windows full of items there are below this one."""
        return (self._flow.total - self._flow.value - self._flow.height) / self._flow.height
