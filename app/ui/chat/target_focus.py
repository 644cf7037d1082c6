"""Which target on screen the keyboard is on."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPen

from app.ui.chat.hit_test import HitTest
from app.ui.chat.targets import Target, TargetId, TargetKind
from app.ui.theme import Theme


class TargetFocus:
    """Moves in reading order among what is on screen, and leaves at either end."""

    def __init__(self, on_screen: HitTest) -> None:
        self._on_screen = on_screen
        self._focused: TargetId | None = None

    def clear(self) -> None:
        """Be on no target."""
        self._focused = None

    def go_to(self, which: TargetId) -> None:
        """Be on that target."""
        self._focused = which

    def step(self, *, forwards: bool) -> Target | None:
        """Go to the next target; None past the last one."""
        targets = self._stops()
        ids = [which for which, _ in targets]
        at = ids.index(self._focused) if self._focused in ids else (-1 if forwards else len(ids))
        at += 1 if forwards else -1
        if not 0 <= at < len(ids):
            self._focused = None
            return None
        self._focused = ids[at]
        return targets[at][1]

    def step_in_bar(self, *, forwards: bool) -> Target | None:
        """Go to the next button of the same line below a message; None if there is none, or no such line."""
        found = self.current()
        if found is None or found[1].kind is not TargetKind.MESSAGE:
            return None
        ids = [each for each in self._on_screen.targets() if each[0][:2] == found[0][:2]]
        at = ids.index(found) + (1 if forwards else -1)
        if not 0 <= at < len(ids):
            return None
        self._focused = ids[at][0]
        return ids[at][1]

    def _stops(self) -> list[tuple[TargetId, Target]]:
        """Return what the keyboard stops at: of the buttons of a line below a message one, the one it is on."""
        stops: list[tuple[TargetId, Target]] = []
        for which, target in self._on_screen.targets():
            is_same = bool(stops) and target.kind is TargetKind.MESSAGE and stops[-1][0][:2] == which[:2]
            if not is_same:
                stops.append((which, target))
            elif which == self._focused:
                stops[-1] = (which, target)
        return stops

    def current(self) -> tuple[TargetId, Target] | None:
        """Return the target it is on, if that is still on screen."""
        if self._focused is None:
            return None
        return next((found for found in self._on_screen.targets() if found[0] == self._focused), None)

    def paint(self, painter: QPainter, theme: Theme) -> bool:
        """Paint the ring; return whether there was one to paint."""
        found = self.current()
        if found is not None:
            painter.setPen(QPen(theme.accent, 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(found[1].rect.adjusted(-2, -1, 2, 1), 5, 5)
        return found is not None
