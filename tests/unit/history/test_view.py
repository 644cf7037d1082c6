from app.domain.windows import View
from app.history.files import ChatFiles
from app.history.view import HistoryView
from tests.unit.history.rows import SESSION, open_store, text_row


def test_what_was_said_is_listed_found_and_read(files: ChatFiles) -> None:
    rows = [text_row("a", "The first words."), text_row("b", "An answer about bridges.", role="assistant")]
    open_store(files).append(rows, expected_last_seq=0)
    view = HistoryView(files, session=SESSION, view=View.AGENT)

    page = view.items()
    hits = view.search("BRIDGES").hits

    assert [item.preview for item in page.items] == ["An answer about bridges.", "The first words."]
    assert page.exhausted
    assert [hit.item for hit in hits] == [page.items[0]]
    text = view.read(hits[0].item.ref)
    assert text is not None
    assert text.text[hits[0].offset_chars :] == "bridges."
    assert view.item("#1") == view.item("m:a") == page.items[1]
