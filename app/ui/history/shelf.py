"""The items of one window that are kept in memory: some neighbouring pages of its listing, no more.

Pure: says what to put into the list, and where.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from app.domain.windows import HistoryItem, ItemsPage, Mark, Skipped
from app.ui.history.entries import Child, Note, NoteKind


class Splice(NamedTuple):
    """A change of a list: `inserted` stand where `removed` entries stood from `row` on."""

    row: int
    removed: int
    inserted: tuple[Child, ...]


@dataclass(frozen=True, slots=True)
class NoteWords:
    """What the lines about the list say."""

    loading: str
    earlier: str
    nothing: str


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page, and the mark it was asked for with."""

    mark: Mark | None
    items: tuple[HistoryItem, ...]


@dataclass(slots=True)
class Shelf:
    """Pages of a window, oldest first. Those before them can be asked for again by their marks."""

    words: NoteWords
    pages: list[KeptPage] = field(default_factory=list)
    before: list[Mark | None] = field(default_factory=list)
    next: Mark | None = None
    skipped_note: str = ""
    _skipped: list[Skipped] = field(default_factory=list)

    @property
    def items(self) -> int:
        """How many are kept."""
        return sum(len(page.items) for page in self.pages)

    @property
    def skipped(self) -> Skipped:
        """What was passed over in all pages that were ever read."""
        return sum(self._skipped, Skipped())

    @property
    def ends(self) -> bool:
        """Whether the last item of the window is kept."""
        return bool(self.pages) and self.next is None

    def append(self, mark: Mark | None, page: ItemsPage) -> None:
        """Keep the next page."""
        number = len(self.before) + len(self.pages)
        # One that was put away and comes again is not counted twice.
        self._skipped[number:] = [page.skipped]
        self.pages.append(KeptPage(mark, page.items))
        self.next = page.next

    def replace_last(self, page: ItemsPage) -> None:
        """Keep the last page as it is now."""
        last = self.pages.pop()
        self.append(last.mark, page)

    def prepend(self, page: ItemsPage) -> None:
        """Keep the page before the first."""
        self.pages.insert(0, KeptPage(self.before.pop(), page.items))

    def drop_first(self) -> None:
        """Put the first page away."""
        self.before.append(self.pages.pop(0).mark)

    def drop_last(self) -> None:
        """Put the last page away."""
        self.next = self.pages.pop().mark
        del self._skipped[len(self.before) + len(self.pages) :]

    def children(self) -> list[Child]:
        """Return what the list shows for the window."""
        found: list[Child] = [Note(NoteKind.EARLIER, self.words.earlier)] if self.before else []
        for page in self.pages:
            found.extend(page.items)
        if self.next is not None:
            found.append(Note(NoteKind.LOADING, self.words.loading))
        elif self.skipped_note:
            found.append(Note(NoteKind.PLAIN, self.skipped_note))
        if not found:
            found.append(Note(NoteKind.PLAIN, self.words.nothing))
        return found


_SHORTEST_RUN: Final = 3


def splices(had: list[Child], has: list[Child]) -> list[Splice]:
    """Return how to make `has` of `had`, last change first: entries that stay are never touched.

    Made for lists of which ends are cut off and added to.
    """
    start = _common(had, has)
    if start == len(had) == len(has):
        return []
    end = _common(had[start:][::-1], has[start:][::-1])
    old, new = had[start : len(had) - end], has[start : len(has) - end]
    run = _shared_run(old, new)
    if run is None:
        return [Splice(start, len(old), tuple(new))]
    at_old, at_new, length = run
    tail = Splice(start + at_old + length, len(old) - at_old - length, tuple(new[at_new + length :]))
    head = Splice(start, at_old, tuple(new[:at_new]))
    return [splice for splice in (tail, head) if splice.removed or splice.inserted]


def _common(had: list[Child], has: list[Child]) -> int:
    length = 0
    for old, new in zip(had, has, strict=False):
        if old is not new and old != new:
            break
        length += 1
    return length


def _shared_run(old: list[Child], new: list[Child]) -> tuple[int, int, int] | None:
    """Return where the same objects stand in both, in one piece."""
    places = {id(child): at for at, child in enumerate(old)}
    for at_new, child in enumerate(new):
        at_old = places.get(id(child))
        if at_old is None:
            continue
        length = 0
        while (
            at_old + length < len(old) and at_new + length < len(new) and old[at_old + length] is new[at_new + length]
        ):
            length += 1
        return (at_old, at_new, length) if length >= _SHORTEST_RUN else None
    return None
