from app.history.files import ChatFiles
from app.history.reader import HistoryReader, RowEntry
from app.history.stretch import AROUND_ROWS, Edge, Stretch, read_around, read_newer, read_older
from tests.unit.history.rows import labels, open_store, text_row


def written(files: ChatFiles, count: int) -> dict[str, int]:
    """Write `count` rows; return where each begins."""
    open_store(files).append([text_row(f"r{number}") for number in range(count)], expected_last_seq=0)
    entries = HistoryReader(files).entries_forward()
    return {entry.row.id: entry.offset for entry in entries if isinstance(entry, RowEntry)}


def rotate(files: ChatFiles, offset: int) -> None:
    """Move the begin of the active file to the archive, as rotation does."""
    data = files.chat.read_bytes()
    files.archive.write_bytes(data[:offset])
    files.chat.write_bytes(data[offset:])


def walk(reader: HistoryReader, stretch: Stretch, names: list[str]) -> list[str]:
    """Return all labels by going to both ends from `stretch`."""
    older, newer = stretch.older, stretch.newer
    while older is not None:
        stretch = read_older(reader, older)
        names, older = labels(stretch.entries) + names, stretch.older
    while newer is not None:
        stretch = read_newer(reader, newer)
        names, newer = names + labels(stretch.entries), stretch.newer
    return names


def written_singly(files: ChatFiles, count: int) -> dict[str, int]:
    """Write rows that are in no batch together."""
    store = open_store(files)
    for number in range(count):
        store.append([text_row(f"r{number}")], expected_last_seq=number)
    entries = HistoryReader(files).entries_forward()
    return {entry.row.id: entry.offset for entry in entries if isinstance(entry, RowEntry)}


def test_from_any_row_both_ends_are_reached_without_a_gap(files: ChatFiles) -> None:
    offsets = written_singly(files, 3 * AROUND_ROWS)
    reader = HistoryReader(files)
    for name in ("r0", "r1", f"r{AROUND_ROWS + 7}", f"r{3 * AROUND_ROWS - 1}"):
        stretch = read_around(reader, offsets[name])
        found = labels(stretch.entries)
        assert name in found
        assert len(found) <= 2 * AROUND_ROWS
        assert walk(reader, stretch, found) == list(offsets)


def test_the_newest_page_has_nothing_newer(files: ChatFiles) -> None:
    offsets = written_singly(files, 3)
    stretch = read_older(HistoryReader(files), None)
    assert (stretch.older, stretch.newer) == (None, None)
    assert labels(stretch.entries) == list(offsets)


def test_no_batch_is_cut_in_two(files: ChatFiles) -> None:
    offsets = written(files, 200)
    reader = HistoryReader(files)
    for name in ("r0", "r1", "r120", "r199"):
        assert labels(read_around(reader, offsets[name]).entries) == list(offsets)


def test_edges_hold_when_rows_have_moved_to_the_archive(files: ChatFiles) -> None:
    offsets = written_singly(files, 3 * AROUND_ROWS)
    reader = HistoryReader(files)
    stretch = read_around(reader, offsets[f"r{AROUND_ROWS + 20}"])
    found = labels(stretch.entries)
    rotate(files, offsets[f"r{2 * AROUND_ROWS + 50}"])
    assert walk(reader, stretch, found) == list(offsets)
    again = read_around(reader, offsets["r100"])
    assert walk(reader, again, labels(again.entries)) == list(offsets)


def test_a_place_beyond_the_end_has_nothing_after_it(files: ChatFiles) -> None:
    written_singly(files, 3)
    stretch = read_around(HistoryReader(files), 1 << 40)
    assert stretch.newer is None
    edge = Edge(HistoryReader(files).position_of(1 << 40), 1 << 40)
    assert read_newer(HistoryReader(files), edge).newer is None
