"""A chat with versions in tests, and where each of its rows is."""

from collections import Counter

from app.domain.rows import Row
from app.history.branch_file import BranchFolder
from app.history.branches import Branches
from app.history.codec import decode_line
from app.history.files import ChatFiles
from app.history.reader import HistoryReader, RowEntry
from tests.unit.history.rows import all_labels, open_store, text_row


def opened(files: ChatFiles) -> tuple[Branches, int]:
    """The versions of a chat as the next holder of the lease finds them, and the last number."""
    store = open_store(files)
    last_seq = store.repair()
    branches = Branches(ChatFiles(files.folder), store)
    branches.tidy()
    return branches, last_seq


def write_rows(files: ChatFiles, *sizes: int) -> None:
    """Append batches of so many rows, named a, b, c…"""
    store = open_store(files)
    last_seq = store.repair()
    for size in sizes:
        names = [chr(ord("a") + last_seq + index) for index in range(size)]
        last_seq += len(store.append([text_row(name) for name in names], expected_last_seq=last_seq))


def kept(files: ChatFiles) -> list[tuple[str, str]]:
    """Every version that is not the chat, as the row it follows and its rows in one word, the eldest name first."""
    folder = BranchFolder(files.branches)
    return [
        (folder.head(name).after, " ".join(line.row.id for line in folder.lines(name)))
        for name in BranchFolder(files.branches).ids()
    ]


def shown(files: ChatFiles) -> str:
    return " ".join(all_labels(files))


def places(files: ChatFiles) -> Counter[str]:
    """How many times each row is there, in the chat and in versions together."""
    found = Counter(label for label in all_labels(files) if label != "damaged")
    for _, ids in kept(files):
        found.update(ids.split())
    return found


def rows_in(files: ChatFiles) -> list[Row]:
    """The rows of a chat as a new reader finds them."""
    entries = HistoryReader(ChatFiles(files.folder)).entries_forward()
    return [entry.row for entry in entries if isinstance(entry, RowEntry)]


def rows_of_lines(data: bytes) -> list[Row]:
    return [row for line in data.split(b"\n") if line and isinstance(row := decode_line(line), Row)]
