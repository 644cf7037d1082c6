"""Which rows are on screen and where: scrolling that holds on to a row rather than to a number of pixels.

What the reader sees stays where it is when something above changes its height. Only the rows on screen are measured.
"""

from collections.abc import Callable
from typing import NamedTuple

from app.ui.chat.transcript_model import Node, RowKey, TranscriptModel


class Placed(NamedTuple):
    """A row on screen; `y` is its top below the top of the window."""

    node: Node
    row: int
    y: int
    height: int


class Flow:
    """The window onto the model. It holds on to the end, or to the first row that begins in its upper half."""

    def __init__(self, model: TranscriptModel, measure: Callable[[Node, int], int], *, margin: int) -> None:
        self.following = True
        self.has_more_below = False
        """Whether there is more than the model holds: its end is then not the end."""
        self.height = 0
        """Of the window."""
        self.placed: list[Placed] = []
        self._model = model
        self._measure_row = measure
        self._margin = margin
        self._node: Node | None = None
        self._key = RowKey(-2, 0)
        self._offset = 0

    @property
    def total(self) -> int:
        """The height of everything, partly estimated."""
        return self._model.heights.total + 2 * self._margin

    @property
    def value(self) -> int:
        """How far the window's top is below the top of everything."""
        if not self.placed:
            return 0
        first = self.placed[0]
        index = self._model.index_of(first.node)
        return self._margin + self._model.heights.top(index) + first.node.heights.top(first.row) - first.y

    def top_of(self, node: Node) -> int:
        """Return how far below the window's top an item begins; far away it is estimated."""
        return self._margin + self._model.heights.top(self._model.index_of(node)) - self.value

    @property
    def is_at_end(self) -> bool:
        """Whether the last row of all is in full view."""
        return not self.has_more_below and self.value + self.height >= self.total

    def settle(self) -> None:
        """Measure and place what is on screen."""
        if not self._model.nodes:
            self.placed = []
            return
        self.placed = self._place_up() if self.following else self._place_down()
        if self.placed:
            begun = (each for each in self.placed if 0 <= each.y < self.height // 2)
            held = next(begun, self.placed[0])
            self._hold(held.node, held.row, -held.y)

    def scroll_by(self, pixels: int) -> None:
        """Move by exactly that many pixels, whatever the rows on the way turn out to measure."""
        if not self.placed:
            return
        self.following = False
        first = self.placed[0]
        self._hold(first.node, first.row, pixels - first.y)
        self.settle()
        self.following = self.is_at_end

    def scroll_to(self, value: int) -> None:
        """Move to a value of the scroll bar."""
        if not self._model.nodes:
            return
        self.following = False
        node = self._model.nodes[index := self._model.heights.row_at(value - self._margin)]
        self._expand(node)
        within = min(value - self._margin - self._model.heights.top(index), node.heights.total)
        row = node.heights.row_at(within)
        self._hold(node, row, within - node.heights.top(row))
        self.settle()
        self.following = self.is_at_end

    def scroll_to_end(self) -> None:
        """Hold on to the end."""
        self.following = True
        self.settle()

    def reveal(self, node: Node, row: int, *, below_top: int | None = None) -> None:
        """Put a row at the top, or `below_top` pixels below it, or as near as either end allows."""
        self.following = False
        self._expand(node)
        self._hold(node, min(row, len(node.rows) - 1), -(self._margin if below_top is None else below_top))
        self.settle()
        self.following = self.is_at_end

    def release(self) -> None:
        """Stop following the end; stay where the window is."""
        self.following = False

    def forget(self) -> None:
        """Start anew at the end."""
        self._node = None
        self.following = True

    def _place_up(self) -> list[Placed]:
        """Fill the window from its lower edge upwards; text shorter than the window starts at its top."""
        placed: list[Placed] = []
        y = self.height - self._margin
        at: tuple[Node, int] | None = self._last()
        while at is not None and y > 0:
            height = self._measure(at)
            y -= height
            placed.append(Placed(*at, y, height))
            at = self._above(*at)
        placed.reverse()
        if at is None and placed and placed[0].y > self._margin:
            shift = placed[0].y - self._margin
            placed = [each._replace(y=each.y - shift) for each in placed]
        return placed

    def _place_down(self) -> list[Placed]:
        """Fill the window from the row it holds on to; never leave room below the end or above the start."""
        at, y = self._start()
        while y > 0 and (above := self._above(*at)) is not None:
            at = above
            y -= self._measure(at)
        y = min(y, self._margin)
        placed: list[Placed] = []
        while True:
            height = self._measure(at)
            if y + height > 0:
                placed.append(Placed(*at, y, height))
            y += height
            below = self._below(*at)
            if y >= self.height or below is None:
                break
            at = below
        if not placed or (below is None and y < self.height - self._margin):
            return self._place_up()
        return placed

    def _start(self) -> tuple[tuple[Node, int], int]:
        node = self._node
        if node is None or self._model.node_of_order(node.order) is not node:
            order = node.order if node is not None else 0
            nodes = self._model.nodes
            node = next((each for each in nodes if each.order >= order), nodes[-1])
            return (node, 0), 0
        self._expand(node)
        row = node.row_at_key(self._key)
        return (node, row), -self._offset

    def _hold(self, node: Node, row: int, offset: int) -> None:
        self._node, self._key, self._offset = node, node.rows[row].key, offset

    def _measure(self, at: tuple[Node, int]) -> int:
        return self._measure_row(*at)

    def _expand(self, node: Node) -> None:
        if not node.is_expanded:
            self._model.expand(node)

    def _last(self) -> tuple[Node, int]:
        node = self._model.nodes[-1]
        self._expand(node)
        return node, len(node.rows) - 1

    def _above(self, node: Node, row: int) -> tuple[Node, int] | None:
        if row > 0:
            return node, row - 1
        index = self._model.index_of(node)
        if index == 0:
            return None
        above = self._model.nodes[index - 1]
        self._expand(above)
        return above, len(above.rows) - 1

    def _below(self, node: Node, row: int) -> tuple[Node, int] | None:
        if row + 1 < len(node.rows):
            return node, row + 1
        index = self._model.index_of(node) + 1
        if index == len(self._model.nodes):
            return None
        below = self._model.nodes[index]
        self._expand(below)
        return below, 0
