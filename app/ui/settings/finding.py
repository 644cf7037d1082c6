"""Which pages and rows have to do with what was typed into the search field."""

from collections.abc import Sequence

from app.ui.settings.matching import matches, nearly_matches
from app.ui.settings.page import SettingRow, SettingsPage


def find_rows(pages: Sequence[SettingsPage], query: str) -> dict[SettingsPage, list[SettingRow]]:
    """Return the pages that were found and which rows of them; no rows where the page's own name was meant.

    Mistyped words count only if nothing has the words as they are.
    """
    for fits in (matches, nearly_matches):
        found: dict[SettingsPage, list[SettingRow]] = {}
        for page in pages:
            rows = [row for row in page.shown_rows() if fits(query, f"{page.title} {row.words}")]
            if fits(query, page.title):
                found[page] = []
            elif rows:
                found[page] = rows
        if found:
            return found
    return {}
