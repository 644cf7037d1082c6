import pytest

from app.domain.windows import Skipped
from app.ui.chat.find_text import spans
from app.ui.chat.find_wording import found_text, note_text

MB = 2**20


@pytest.mark.parametrize(
    ("number", "count", "is_more", "progress", "text"),
    [
        (3, 57, False, None, "3 of 57"),
        (3, 57, True, (40 * MB, 200 * MB), "3 of 57+ · searched 40 of 200 MB"),
        (0, 57, False, None, "57 found"),
        (0, 0, True, (0, 200 * MB), "Searching… · searched 0 of 200 MB"),
        (0, 0, True, (0, MB), "Searching…"),
        (0, 0, False, None, "Not found"),
    ],
)
def test_what_was_found_is_said(
    number: int,
    count: int,
    is_more: bool,
    progress: tuple[int, int] | None,
    text: str,
) -> None:
    assert found_text(number, count, is_more=is_more, progress=progress) == text


def test_what_was_not_searched_is_said() -> None:
    assert note_text(Skipped()) == ""
    assert note_text(Skipped(oversized=2, damaged=1)) == "Not searched: 2 entries that are too long, 1 damaged entry"
    assert note_text(Skipped(blobs=3)) == "Not searched: 3 texts kept apart"


@pytest.mark.parametrize(
    ("text", "folded", "found"),
    [
        ("aAa", "a", ((0, 1), (1, 2), (2, 3))),
        ("aaaa", "aa", ((0, 2), (2, 4))),
        ("\U0001f600x\U0001f600X", "x", ((2, 3), (5, 6))),
        ("\U0001f600", "\U0001f600", ((0, 2),)),
        ("\u212aelvin", "k", ((0, 1),)),
        ("stra\u00dfe", "ss", ()),
    ],
)
def test_places_are_counted_as_qt_counts(text: str, folded: str, found: tuple[tuple[int, int], ...]) -> None:
    assert spans(text, folded) == found
