"""A list as an answer: as many entries as fit, and below them how to go on and what was read for it."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.aio import run_blocking
from app.domain.windows import SESSION_HISTORY
from app.history.cursor import EVERYTHING, Cursors, Scope
from app.tools.cap import Cap
from app.tools.history_answers import ListAnswer, Tail
from app.tools.history_arguments import Asked, ListItems, ListWindows, Search
from app.tools.history_entries import size_words, skipped_words
from app.tools.history_pages import Gathered, Place

_FIELDS: Mapping[type, str] = {ListWindows: "windows", ListItems: "items", Search: "hits"}


@dataclass(frozen=True, slots=True)
class Listing:
    """What was gathered for a call, about to become an answer."""

    asked: Asked
    gathered: Gathered
    scope: Scope
    cursors: Cursors

    async def fitted(self, cap: Cap) -> dict[str, object] | None:
        """Return the answer; None if there is no room for a single entry, even without its labels.

        What doesn't fit is left to the next call, by the cursor. Raises HistoryChanged.
        """
        answer = ListAnswer(_FIELDS[type(self.asked.call)], self.gathered.entries)
        for is_bare in (False, True):
            shown = await self._fitted_as(answer, cap, is_bare=is_bare)
            if shown is not None:
                return shown
        return None

    async def _fitted_as(self, answer: ListAnswer, cap: Cap, *, is_bare: bool) -> dict[str, object] | None:
        count = len(answer.entries)
        shown = await self._with(answer, cap, count, is_bare=is_bare)
        if shown is not None or count < 2:
            return shown
        # A tail like the one that will be: its numbers may be others, its length is the same.
        like = await run_blocking(self._tail, await self.gathered.behind(count // 2), is_bare=is_bare)
        count = min(count - 1, max(1, await run_blocking(answer.most_entries, like, cap, is_bare=is_bare)))
        while count and shown is None:
            shown = await self._with(answer, cap, count, is_bare=is_bare)
            count -= 1
        return shown

    async def _with(self, answer: ListAnswer, cap: Cap, count: int, *, is_bare: bool) -> dict[str, object] | None:
        place = await self.gathered.behind(count)

        def work() -> dict[str, object] | None:
            return answer.fitted(self._tail(place, is_bare=is_bare), cap, count=count, is_bare=is_bare)

        return await run_blocking(work)

    def _tail(self, place: Place, *, is_bare: bool) -> Tail:
        words = {} if is_bare else self._words(place)
        has_read_all = place.next is None and not skipped_words(place.progress.skipped)
        cursor = {} if place.next is None else {"cursor": self._cursor(place)}
        return {**words, "exhausted": has_read_all, **cursor}

    def _cursor(self, place: Place) -> str:
        assert place.next is not None
        return self.cursors.encode(place.next, self.scope, place.progress)

    def _words(self, place: Place) -> dict[str, str]:
        words = {"note": self._note(place)} if not self.gathered.entries else {}
        if not isinstance(self.asked.call, ListWindows):
            rows = place.progress.rows
            read = size_words(place.progress.bytes_read, self.gathered.total_bytes)
            words["searched"] = f"{read}, {rows:,} {'row' if rows == 1 else 'rows'}"
        if skipped := skipped_words(place.progress.skipped):
            words["not_read"] = skipped
        return words | ignored_names(self.asked)

    def _note(self, place: Place) -> str:
        match self.asked.call:
            case ListWindows():
                return "The windows are still being looked for. Make the same call again with the cursor."
            case Search() as call if place.next is None:
                part = "all you can read of this chat" if call.filters == EVERYTHING else "the part you asked for"
                left_out = "" if call.tool_name == SESSION_HISTORY else f", and calls of {SESSION_HISTORY}"
                return (
                    f"Nothing found in {part}. Searched: what was said, and what tools were given and gave back."
                    f" Not searched: reasoning{left_out}."
                )
            case _ if place.next is None:
                return "There are no such messages."
            case _:
                return "Nothing found so far. The rest was not read yet: make the same call again with the cursor."


def ignored_names(asked: Asked) -> dict[str, str]:
    """Name the fields that were passed over."""
    if not asked.ignored:
        return {}
    return {"ignored": f"{', '.join(asked.ignored)}: not used by {asked.action}"}
