"""While a call works somebody swaps, moves and replaces what it works on."""

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from app.domain.file_names import name_key
from app.tools.folder_access import Folder, open_folder
from app.tools.folder_entries import TooLarge, version_of
from app.tools.folder_names import FolderFault
from app.tools.folder_places import CREATE, PathPlace, open_root
from app.tools.folder_put import ABSENT
from app.tools.folder_stop import Stop, Stopped
from tests.unit.tools.folder_desk import FolderDesk, UneasyPlace

MOST: Final = 1_000_000


@pytest.fixture
def place(desk: FolderDesk) -> Iterator[UneasyPlace]:
    desk.put("docs/plan.md", "mine")
    (desk.base / "docs").mkdir()
    (desk.base / "docs" / "plan.md").write_text("zanzibarquokka")
    place = UneasyPlace.at(desk.root)
    yield place
    place.close()


def swap(desk: FolderDesk, path: str, target: Path) -> Callable[[str], None]:
    """Put a link to `target` where `path` is, once."""

    def happen(_name: str) -> None:
        victim = desk.root / path
        if not victim.is_symlink():
            victim.rename(desk.base / "aside")
            victim.symlink_to(target)

    return happen


def read(place: UneasyPlace | PathPlace, *names: str) -> bytes:
    return Folder(place, Stop()).read(names, most_bytes=MOST)


def write(place: UneasyPlace | PathPlace, *names: str, expected: str, stop: Stop | None = None) -> None:
    Folder(place, stop or Stop()).write(names, b"new", expected=expected, most_bytes=MOST)


def test_a_folder_swapped_for_a_link_is_not_gone_into(desk: FolderDesk, place: UneasyPlace) -> None:
    place.before_child = swap(desk, "docs", desk.base / "docs")

    with pytest.raises(FolderFault, match="swapped for something else"):
        read(place, "docs", "plan.md")
    with pytest.raises(FolderFault, match="links are not followed"):
        write(place, "docs", "new.md", expected=ABSENT)


def test_a_file_swapped_for_a_link_is_not_read(desk: FolderDesk, place: UneasyPlace) -> None:
    place.before_open = swap(desk, "docs/plan.md", desk.secret)

    with pytest.raises(FolderFault, match="swapped for something else"):
        read(place, "docs", "plan.md")


def test_a_file_swapped_for_a_pipe_keeps_nobody_waiting(desk: FolderDesk, place: UneasyPlace) -> None:
    def happen(_name: str) -> None:
        (desk.root / "docs/plan.md").unlink()
        os.mkfifo(desk.root / "docs/plan.md")

    place.before_open = happen

    with pytest.raises(FolderFault, match="a device, a pipe or a socket"):
        read(place, "docs", "plan.md")


def test_a_folder_swapped_while_a_file_is_written_gets_nothing(desk: FolderDesk, place: UneasyPlace) -> None:
    place.before_moving = swap(desk, "docs", desk.base / "docs")

    write(place, "docs", "new.md", expected=ABSENT)

    # It went into the folder that was meant, wherever that is now.
    assert (desk.base / "aside" / "new.md").read_text() == "new"
    assert [path.name for path in (desk.base / "docs").iterdir()] == ["plan.md"]


def test_a_folder_made_on_the_way_and_swapped_is_not_gone_into(desk: FolderDesk, place: UneasyPlace) -> None:
    def happen(name: str) -> None:
        if name == "fresh":
            (desk.root / "fresh").rmdir()
            (desk.root / "fresh").symlink_to(desk.base / "docs")

    place.before_child = happen

    with pytest.raises(FolderFault, match="swapped for something else"):
        write(place, "fresh", "new.md", expected=ABSENT)
    assert [path.name for path in (desk.base / "docs").iterdir()] == ["plan.md"]


def test_a_file_swapped_for_a_link_while_it_is_replaced_is_left_alone(desk: FolderDesk, place: UneasyPlace) -> None:
    place.before_open = lambda name: swap(desk, "docs/plan.md", desk.secret)(name) if name.endswith(".tmp") else None

    with pytest.raises(FolderFault, match="was changed meanwhile, so nothing was written"):
        write(place, "docs", "plan.md", expected=version_of(b"mine"))
    assert (desk.root / "docs/plan.md").is_symlink()
    assert desk.secret.read_text() == "zanzibarquokka"
    assert desk.names() == ["docs", "docs/plan.md"]


def test_even_a_link_put_there_in_the_last_moment_is_replaced_and_not_followed(
    desk: FolderDesk, place: UneasyPlace
) -> None:
    place.before_moving = swap(desk, "docs/plan.md", desk.secret)

    write(place, "docs", "plan.md", expected=version_of(b"mine"))

    assert desk.secret.read_text() == "zanzibarquokka"
    assert not (desk.root / "docs/plan.md").is_symlink()
    assert desk.data("docs/plan.md") == b"new"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_overwritten(
    desk: FolderDesk, place: UneasyPlace, has_links: bool
) -> None:
    place.has_links = has_links
    place.before_moving = lambda _name: desk.fill("docs/new.md", "theirs")

    with pytest.raises(FolderFault, match="made by somebody else meanwhile"):
        write(place, "docs", "new.md", expected=ABSENT)
    assert desk.data("docs/new.md") == b"theirs"
    assert desk.names() == ["docs", "docs/new.md", "docs/plan.md"]


def test_a_disk_without_second_names_takes_new_files(desk: FolderDesk, place: UneasyPlace) -> None:
    place.has_links = False

    write(place, "docs", "new.md", expected=ABSENT)

    assert desk.data("docs/new.md") == b"new"
    assert desk.names() == ["docs", "docs/new.md", "docs/plan.md"]


def test_another_version_is_not_overwritten(desk: FolderDesk, place: UneasyPlace) -> None:
    with pytest.raises(FolderFault, match="was changed meanwhile"):
        write(place, "docs", "plan.md", expected=version_of(b"other"))
    with pytest.raises(FolderFault, match="was changed meanwhile"):
        write(place, "docs", "gone.md", expected=version_of(b"other"))
    assert desk.data("docs/plan.md") == b"mine"


def test_a_full_disk_leaves_the_old_file_whole_and_nothing_else(desk: FolderDesk, place: UneasyPlace) -> None:
    full = replace(place, is_full=True)

    with pytest.raises(FolderFault, match=r"“docs/plan.md” can't be saved: the disk is full\."):
        write(full, "docs", "plan.md", expected=version_of(b"mine"))
    with pytest.raises(FolderFault, match="the disk is full"):
        write(full, "a", "b", "new.md", expected=ABSENT)

    assert desk.data("docs/plan.md") == b"mine"
    assert desk.names() == ["docs", "docs/plan.md"]


def test_a_folder_that_takes_nothing_is_told_in_words(desk: FolderDesk, place: UneasyPlace) -> None:
    def refuse(_name: str) -> None:
        raise PermissionError(13, "Permission denied")

    place.before_open = place.before_making = refuse

    with pytest.raises(FolderFault, match=r"“new.md” can't be saved: this account may not do that\."):
        write(place, "new.md", expected=ABSENT)
    with pytest.raises(FolderFault, match="this account may not do that"):
        write(place, "a", "new.md", expected=ABSENT)
    with pytest.raises(FolderFault, match=r"“docs/plan.md” can't be read: this account may not do that\."):
        read(place, "docs", "plan.md")
    assert desk.names() == ["docs", "docs/plan.md"]


def test_a_call_that_is_stopped_in_the_last_moment_leaves_nothing(desk: FolderDesk, place: UneasyPlace) -> None:
    stop = Stop()
    place.before_open = lambda name: stop.set() if name.endswith(".tmp") else None

    with pytest.raises(Stopped):
        write(place, "docs", "plan.md", expected=version_of(b"mine"), stop=stop)
    stop.clear()
    with pytest.raises(Stopped):
        write(place, "a", "b", "new.md", expected=ABSENT, stop=stop)

    assert desk.data("docs/plan.md") == b"mine"
    assert desk.names() == ["docs", "docs/plan.md"]


def test_the_attached_folder_may_be_moved_while_it_is_held(desk: FolderDesk) -> None:
    desk.put("plan.md", "mine")
    with open_folder(desk.root, Stop(), apart_from=desk.own) as folder:
        desk.root.rename(desk.base / "moved")
        desk.root.symlink_to(desk.base)

        assert folder.read(("plan.md",), most_bytes=MOST) == b"mine"
        with pytest.raises(FolderFault, match=r"no “secret\.txt”"):
            folder.read(("secret.txt",), most_bytes=MOST)
        folder.write(("new.md",), b"x", expected=ABSENT, most_bytes=MOST)

    assert (desk.base / "moved/new.md").read_text() == "x"
    assert not (desk.base / "new.md").exists()


async def test_a_folder_that_is_gone_or_a_link_by_now_is_told(desk: FolderDesk) -> None:
    desk.put("secret.txt", "mine")
    desk.root.rename(desk.base / "moved")

    assert "The folder of this chat is not there any more." in await desk.fault("read_file", path="secret.txt")
    assert await desk.asked("write_file", path="x", content="x") is None

    desk.root.symlink_to(desk.base)
    assert "was replaced by something else" in await desk.fault("read_file", path="secret.txt")
    desk.root.unlink()
    desk.root.write_text("a file")
    assert "was replaced by something else" in await desk.fault("list_files")


def test_a_folder_below_what_became_a_link_is_not_opened(desk: FolderDesk) -> None:
    inner = desk.root / "a" / "b"
    inner.mkdir(parents=True)
    (desk.base / "elsewhere" / "b").mkdir(parents=True)
    (desk.root / "a").rename(desk.root / "old")
    (desk.root / "a").symlink_to(desk.base / "elsewhere")

    with (
        pytest.raises(FolderFault, match="was replaced by something else"),
        open_folder(inner, Stop(), apart_from=desk.own),
    ):
        pass
    with pytest.raises(NotADirectoryError):
        PathPlace(inner)


def test_somebody_swaps_without_pause_and_nothing_comes_from_outside(desk: FolderDesk) -> None:
    desk.put("docs/plan.md", "mine")
    (desk.base / "docs").mkdir()
    (desk.base / "docs" / "plan.md").write_text("zanzibarquokka")
    done = threading.Event()

    def swapping() -> None:
        while not done.is_set():
            (desk.root / "docs").rename(desk.root / "aside")
            with contextlib.suppress(FileExistsError):
                (desk.root / "docs").symlink_to(desk.base / "docs")
                (desk.root / "docs").unlink()
            while not (desk.root / "docs" / "plan.md").exists():
                # While nothing was there, a call may have made the folder anew.
                shutil.rmtree(desk.root / "docs", ignore_errors=True)
                with contextlib.suppress(OSError):
                    (desk.root / "aside").rename(desk.root / "docs")

    swapper = threading.Thread(target=swapping)
    swapper.start()
    got: set[bytes] = set()
    try:
        for number in range(300):
            with open_folder(desk.root, Stop(), apart_from=desk.own) as folder:
                try:
                    got.add(folder.read(("docs", "plan.md"), most_bytes=MOST))
                    names = ("docs", f"{number}.md")
                    folder.write(names, b"x", expected=ABSENT, most_bytes=MOST)
                except FolderFault:
                    continue
    finally:
        done.set()
        swapper.join()

    assert got <= {b"mine"}
    assert [path.name for path in (desk.base / "docs").iterdir()] == ["plan.md"]


# Where names in different spellings are one


@dataclass
class CarelessPlace(UneasyPlace):
    """A directory of a system that takes names for one whatever their case and form."""

    def _real(self, name: str) -> str:
        return next((other for other, _ in self.real.entries() if name_key(other) == name_key(name)), name)

    def stat(self, name: str) -> os.stat_result:
        return self.real.stat(self._real(name))

    def open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return self.real.open(self._real(name), flags, mode)

    def may_write(self, name: str) -> bool:
        return self.real.may_write(self._real(name))

    def move_over(self, source: str, target: str) -> None:
        self.real.move_over(source, self._real(target))


def test_a_file_under_another_spelling_is_read_but_not_replaced(desk: FolderDesk) -> None:
    desk.put("Plan.md", "mine")
    place = CarelessPlace.at(desk.root)

    assert read(place, "plan.md") == b"mine"
    with pytest.raises(FolderFault, match=r"“Plan\.md” is there already"):
        write(place, "plan.md", expected=version_of(b"mine"))
    place.close()
    assert desk.names() == ["Plan.md"]


def test_a_file_is_not_replaced_by_a_short_name(desk: FolderDesk) -> None:
    desk.put(".envrc", "mine")

    class ShortNames(PathPlace):
        """Knows a second name, as Windows does, that no listing shows."""

        def stat(self, name: str) -> os.stat_result:
            return super().stat(".envrc" if name == "ENVRC~1" else name)

        def open(self, name: str, flags: int, mode: int = 0o666) -> int:
            return super().open(".envrc" if name == "ENVRC~1" else name, flags, mode)

    place = ShortNames(desk.root)

    assert read(place, "ENVRC~1") == b"mine"
    with pytest.raises(FolderFault, match="a second name of something"):
        write(place, "ENVRC~1", expected=version_of(b"mine"))
    assert desk.names() == [".envrc"]


def test_nobody_else_may_read_a_private_file_while_it_is_replaced(desk: FolderDesk, place: UneasyPlace) -> None:
    desk.data("docs/plan.md")
    (desk.root / "docs/plan.md").chmod(0o600)
    seen: list[int] = []

    class Watched(UneasyPlace):
        """Looks at what was made at once."""

        def open(self, name: str, flags: int, mode: int = 0o666) -> int:
            descriptor = super().open(name, flags, mode)
            seen.append(os.fstat(descriptor).st_mode & 0o077 if flags == CREATE else 0)
            return descriptor

    watched = Watched(place.real)

    write(watched, "docs", "plan.md", expected=version_of(b"mine"))

    assert desk.data("docs/plan.md") == b"new"
    assert set(seen) == {0}


def test_a_file_whose_accents_are_written_otherwise_is_the_same_there(desk: FolderDesk) -> None:
    desk.put("cafe\u0301.md", "mine")
    place = CarelessPlace.at(desk.root)

    write(place, "caf\u00e9.md", expected=version_of(b"mine"))

    place.close()
    assert desk.data("cafe\u0301.md") == b"new"
    assert len(desk.names()) == 1


# Where the system has no descriptors of directories


@pytest.fixture
def by_path(desk: FolderDesk) -> PathPlace:
    desk.put("docs/plan.md", "mine")
    return PathPlace(desk.root)


def test_by_path_files_are_read_written_and_listed(desk: FolderDesk, by_path: PathPlace) -> None:
    assert read(by_path, "docs", "plan.md") == b"mine"
    write(by_path, "docs", "plan.md", expected=version_of(b"mine"))
    write(by_path, "a", "b", "new.md", expected=ABSENT)

    assert b"new" == desk.data("docs/plan.md") == desk.data("a/b/new.md")
    assert [entry.name for entry in Folder(by_path, Stop()).entries(()).found] == ["a", "docs"]
    assert desk.names() == ["a", "a/b", "a/b/new.md", "docs", "docs/plan.md"]


def test_by_path_no_link_is_followed(desk: FolderDesk, by_path: PathPlace) -> None:
    (desk.root / "file").symlink_to(desk.secret)
    (desk.root / "folder").symlink_to(desk.base)

    for names in (("file",), ("folder", "secret.txt"), ("folder", "work", "docs", "plan.md")):
        with pytest.raises(FolderFault, match="links are not followed"):
            read(by_path, *names)
        with pytest.raises(FolderFault):
            write(by_path, *names, expected=ABSENT)
    assert desk.secret.read_text() == "zanzibarquokka"


def test_by_path_a_folder_that_was_swapped_is_noticed(desk: FolderDesk, by_path: PathPlace) -> None:
    docs = by_path.child("docs")
    (desk.root / "docs").rename(desk.base / "aside")
    (desk.root / "docs").mkdir()

    with pytest.raises(NotADirectoryError):
        docs.open("plan.md", os.O_RDONLY)
    (desk.root / "docs").rmdir()
    (desk.root / "docs").symlink_to(desk.base)
    with pytest.raises(NotADirectoryError):
        docs.stat("secret.txt")
    with pytest.raises(NotADirectoryError):
        docs.make("x")


def test_the_root_is_opened_without_a_link_on_the_way(desk: FolderDesk) -> None:
    (desk.base / "way").symlink_to(desk.base)

    for opened in (open_root, PathPlace):
        opened(desk.root).close()
        with pytest.raises(OSError, match=r"plain folder|Not a directory"):
            opened(desk.base / "way" / "work")


# Each of two guards holds without the other


def test_a_folder_in_another_spelling_is_refused_before_and_while_it_is_made(
    desk: FolderDesk, place: UneasyPlace
) -> None:
    with pytest.raises(FolderFault, match="“docs” is there already"):
        Folder(place, Stop()).read_if_there(("Docs", "new.md"), most_bytes=MOST)
    with pytest.raises(FolderFault, match="“docs” is there already"):
        write(place, "Docs", "new.md", expected=ABSENT)
    assert desk.names() == ["docs", "docs/plan.md"]


def test_a_file_that_says_it_is_empty_and_never_ends_is_given_up(desk: FolderDesk) -> None:
    desk.put("endless")
    place = UneasyPlace.at(desk.root)

    class Endless(UneasyPlace):
        """Grows as soon as it is opened, as files of the system itself do."""

        def open(self, name: str, flags: int, mode: int = 0o666) -> int:
            descriptor = super().open(name, flags, mode)
            real = os.fstat

            def empty(looked_at: int) -> os.stat_result:
                found = real(looked_at)
                (desk.root / "endless").write_bytes(b"x" * (MOST + 1))
                return found

            monkeypatch.setattr(os, "fstat", empty)
            return descriptor

    with pytest.MonkeyPatch.context() as monkeypatch, pytest.raises(TooLarge, match="of at most 1 MB"):
        read(Endless(place.real), "endless")
    place.close()


def test_reading_is_left_in_the_middle(desk: FolderDesk, place: UneasyPlace) -> None:
    stop = Stop()
    stop.set()

    with pytest.raises(Stopped):
        Folder(place, stop).read(("docs", "plan.md"), most_bytes=MOST)


def test_nothing_stays_open_of_muntins_own_data(desk: FolderDesk) -> None:
    desk.put("docs/settings.json")
    before = len(list(Path("/dev/fd").iterdir()))
    with open_folder(desk.root, Stop(), apart_from=desk.root / "docs") as folder:
        for _ in range(9):
            with pytest.raises(FolderFault, match="its own data"):
                folder.read(("docs", "settings.json"), most_bytes=MOST)

    assert len(list(Path("/dev/fd").iterdir())) == before
