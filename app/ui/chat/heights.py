"""Heights of stacked rows, summed in a Fenwick tree: any top, and any row below a point, in O(log n)."""

from collections.abc import Iterable


class Heights:
    """Whole pixel heights of rows 0 to n-1."""

    __slots__ = ("_sums", "_values")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._values = list(values)
        self._sums = [0, *self._values]
        sums = self._sums
        for place in range(1, len(sums)):
            parent = place + (place & -place)
            if parent < len(sums):
                sums[parent] += sums[place]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> int:
        return self._values[row]

    def __setitem__(self, row: int, height: int) -> None:
        difference = height - self._values[row]
        if difference == 0:
            return
        self._values[row] = height
        place = row + 1
        while place < len(self._sums):
            self._sums[place] += difference
            place += place & -place

    def append(self, height: int) -> None:
        """Add a row below."""
        place = len(self._sums)
        below = place - (place & -place)
        self._sums.append(self.top(place - 1) - self.top(below) + height)
        self._values.append(height)

    def truncate(self, rows: int) -> None:
        """Keep the first `rows` rows; a prefix of the tree is the tree of that prefix."""
        del self._values[rows:]
        del self._sums[rows + 1 :]

    def top(self, row: int) -> int:
        """Return the sum of the heights above `row`."""
        total = 0
        while row > 0:
            total += self._sums[row]
            row -= row & -row
        return total

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.top(len(self._values))

    def row_at(self, y: int) -> int:
        """Return the last row whose top is at or above `y`; 0 above all of them, and if there is none."""
        place = 0
        step = 1 << len(self._values).bit_length()
        while step:
            following = place + step
            if following < len(self._sums) and self._sums[following] <= y:
                place = following
                y -= self._sums[following]
            step >>= 1
        return max(0, min(place, len(self._values) - 1))
