"""One chat's windows and items, listed, searched and read in bounded pieces: one reader for the panel and the tool.

What differs between the two is the `View`. Never listed: boundaries, hidden rows, copies, damage. Every method is
plain blocking code and reads at most one page under the lock. See context-windows.md, 6 and 7.
"""

from typing import Final

from app.domain.windows import Filters, HistoryItem, ItemsPage, ItemText, Mark, SearchPage, View, WindowsPage
from app.history.files import ChatFiles

EVERYTHING: Final = Filters()


class HistoryView:
    """Reads one chat's history for somebody. Safe to use from several threads.

    Raises StorageError if the disk refuses, HistoryChanged if a mark holds no longer: begin again.
    """

    def __init__(self, files: ChatFiles, *, session: str, view: View) -> None:
        raise NotImplementedError

    def windows(self) -> WindowsPage:
        """Return all windows, newest first, or read one more piece of the history towards them."""
        raise NotImplementedError

    def items(
        self, mark: Mark | None = None, *, filters: Filters = EVERYTHING, recent_first: bool = True, limit: int = 50
    ) -> ItemsPage:
        """Return the next piece of a listing, in the order asked for; at most `limit` items.

        A piece may be empty without being the last: what was read held nothing of the kind.
        """
        raise NotImplementedError

    def search(
        self,
        query: str,
        mark: Mark | None = None,
        *,
        filters: Filters = EVERYTHING,
        recent_first: bool = True,
        limit: int = 25,
    ) -> SearchPage:
        """Return the next piece of a literal search, in the order asked for; at most `limit` hits.

        `query` is not empty. Calls of `session_history` and what they gave are searched only if
        `filters.tool_name` names it: they repeat what was said.
        """
        raise NotImplementedError

    def item(self, ref: str) -> HistoryItem | None:
        """Return the item of an exact reference, of `#<seq>` or of `m:<row id>`.

        None if there is none for this view. Raises StaleItem if an exact reference names another row by now.
        """
        raise NotImplementedError

    def read(self, ref: str, *, offset_chars: int = 0, limit_chars: int = 8_000) -> ItemText | None:
        """Return a piece of an item's text, its leaves in blobs included; None as for `item`. Raises StaleItem."""
        raise NotImplementedError
