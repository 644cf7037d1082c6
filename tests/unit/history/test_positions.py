from app.history.files import ChatFiles
from app.history.reader import HistoryReader, Position


def test_places_of_both_files_are_places_of_one_stretch(files: ChatFiles) -> None:
    files.folder.mkdir()
    files.archive.write_bytes(b"0123456789")
    files.chat.write_bytes(b"abcdef")
    reader = HistoryReader(files)
    for offset, position in ((0, Position("archive", 0)), (9, Position("archive", 9)), (10, Position("chat", 0))):
        assert reader.position_of(offset) == position
        assert reader.offset_of(position) == offset
    assert reader.offset_of(Position("archive", 10)) == 10


def test_without_an_archive_the_active_file_is_all(files: ChatFiles) -> None:
    files.folder.mkdir()
    assert HistoryReader(files).position_of(7) == Position("chat", 7)
    assert HistoryReader(files).offset_of(Position("chat", 7)) == 7
