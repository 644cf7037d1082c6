"""Nothing outside the attached folder is ever read or written, whatever a model calls it."""

import os
import socket
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tools.folder_access import Folder
from app.tools.folder_names import FolderFault, fault_of, parse_path
from app.tools.folder_places import PathPlace, open_root
from app.tools.folder_stop import Stop
from tests.unit.tools.folder_desk import FolderDesk

NO_NAMES: Final = {
    "../secret.txt": "leads out",
    "a/../../secret.txt": "leads out",
    "a/..": "leads out",
    "..": "leads out",
    "./../secret.txt": "leads out",
    "/etc/passwd": "Only what is in the folder",
    "//etc/passwd": "Only what is in the folder",
    "~": "home folders",
    "~/secret.txt": "home folders",
    "~root/.profile": "home folders",
    "a/~/b": "home folders",
    "..\\secret.txt": "backslash",
    "a\\b.txt": "backslash",
    "C:\\Windows\\win.ini": "backslash",
    "C:/Windows/win.ini": "colon",
    "notes.txt:stream": "colon",
    "notes.txt::$DATA": "colon",
    "file:///etc/passwd": "colon",
    "\\\\server\\share\\x": "backslash",
    "\\\\?\\C:\\x": "backslash",
    "CON": "device",
    "nul": "device",
    "a/NUL.txt": "device",
    "com1.tar.gz": "device",
    "COM¹": "device",
    "lpt9 .md": "device",
    "aux": "device",
    "conin$": "device",
    "notes.txt.": "end with a dot",
    "notes.txt ": "end with a dot or a space",
    "a./b": "end with a dot",
    "...": "end with a dot",
    "notes\0.txt": "can't be seen",
    "notes\n.txt": "can't be seen",
    "\x7f": "can't be seen",
    "notes\u202etxt.exe": "can't be seen",
    "\ud800": "can't be seen",
    "x/" * 41 + "y": "too deep",
    "x" * 1_200: "too long",
}


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "list_files", "search_files"])
@pytest.mark.parametrize("path", NO_NAMES)
async def test_a_path_that_leads_elsewhere_is_refused_in_words(desk: FolderDesk, tool: str, path: str) -> None:
    desk.put("a/b.txt", "inside")
    more = {
        "write_file": {"content": "x"},
        "edit_file": {"old_text": "zanzibar", "new_text": "x"},
        "search_files": {"query": "zanzibar"},
    }
    arguments = {"path": path, **more.get(tool, {})}

    assert await desk.asked(tool, **arguments) is None
    said = await desk.fault(tool, **arguments)

    assert NO_NAMES[path] in said or "path must be" in said
    assert "zanzibar" not in said
    assert desk.names() == ["a", "a/b.txt"]
    assert desk.secret.read_text() == "zanzibarquokka"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("", ()),
        (".", ()),
        ("./", ()),
        ("notes.txt", ("notes.txt",)),
        ("./a//b/", ("a", "b")),
        (".hidden", (".hidden",)),
        ("a b/ü ß…/狐.txt", ("a b", "ü ß…", "狐.txt")),
        ("console.txt", ("console.txt",)),
        ("/shelf/folder", ()),
        ("/shelf/folder/a/b", ("a", "b")),
        ("x/" * 39 + "y", (*["x"] * 39, "y")),
    ],
)
def test_a_path_below_the_folder_is_taken(path: str, names: tuple[str, ...]) -> None:
    assert names == parse_path(path, Path("/shelf/folder"))


@pytest.mark.parametrize("path", ["/shelf/folder2/a", "/shelf", "/shelf/folder/../x", "/shelf/folderx"])
def test_an_absolute_path_counts_only_below_the_folder_as_it_is_written(path: str) -> None:
    with pytest.raises(FolderFault):
        parse_path(path, Path("/shelf/folder"))


async def test_no_link_is_followed_whatever_it_leads_to(desk: FolderDesk) -> None:
    desk.put("inside/plan.md", "zebra")
    (desk.root / "to-file").symlink_to(desk.secret)
    (desk.root / "to-folder").symlink_to(desk.base)
    (desk.root / "to-inside").symlink_to(desk.root / "inside")
    (desk.root / "to-nothing").symlink_to("nowhere")
    (desk.root / "loop").symlink_to("loop")

    for path in ("to-file", "to-folder/secret.txt", "to-inside/plan.md", "to-nothing", "loop", "loop/x"):
        for tool, more in (
            ("read_file", {}),
            ("write_file", {"content": "x"}),
            ("edit_file", {"old_text": "zanzibar", "new_text": "x"}),
        ):
            assert "is a link; links are not followed" in await desk.fault(tool, path=path, **more)
    for path in ("to-folder", "to-inside"):
        assert "links are not followed" in await desk.fault("list_files", path=path)
        assert "links are not followed" in await desk.fault("search_files", path=path, query="z")
    assert await desk.text("search_files", query="zanzibar") == "Nothing found. All was searched. Passed over: 5 links."
    assert "to-file (a link, not followed)" in await desk.text("list_files", recursive=True)
    assert desk.secret.read_text() == "zanzibarquokka"


async def test_pipes_sockets_and_devices_are_never_opened(desk: FolderDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(desk.root / "pipe")
    # The address of a socket is short.
    monkeypatch.chdir(desk.root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    for path in ("pipe", "socket"):
        for tool, more in (("read_file", {}), ("write_file", {"content": "x"})):
            assert "a device, a pipe or a socket" in await desk.fault(tool, path=path, **more)
    assert "pipe (neither file nor folder)" in await desk.text("list_files")
    assert "Passed over: 2 entries that are no files" in await desk.text("search_files", query="x")


async def test_a_folder_is_no_file_and_a_file_no_folder(desk: FolderDesk) -> None:
    desk.put("docs/plan.md", "x")

    assert "is a folder, no file" in await desk.fault("read_file", path="docs")
    assert "is a folder, no file" in await desk.fault("write_file", path="docs", content="x")
    assert "is a folder" in await desk.fault("write_file", path="docs/", content="x")
    assert "is a folder" in await desk.fault("read_file", path=".")
    assert "is no folder" in await desk.fault("list_files", path="docs/plan.md")
    assert "is no folder" in await desk.fault("read_file", path="docs/plan.md/x")
    assert "is no folder" in await desk.fault("write_file", path="docs/plan.md/x", content="x")


PIECES: Final = st.sampled_from(
    ["..", ".", "", "a", "link", "up", "secret.txt", "work", "~", "/", "\\", "\0", "%2e%2e", "．．", "：", "C:", "con"]
)
PATHS: Final = st.one_of(
    st.text(max_size=30), st.lists(PIECES, max_size=7).map("/".join), st.lists(PIECES).map("".join)
)


@given(path=PATHS)
def test_no_path_reads_or_writes_beside_the_folder(path: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.mktemp("desk").resolve()
    root, secret = base / "work", base / "secret.txt"
    (root / "a").mkdir(parents=True)
    secret.write_text("zanzibarquokka")
    (root / "link").symlink_to(secret)
    (root / "up").symlink_to(base)
    for place in (open_root(root), PathPlace(root)):
        try:
            names = parse_path(path, root)
            stop = _never()
            if names:
                Folder(place, stop).write(names, b"x", expected="absent", most_bytes=100)
                assert Folder(place, stop).read(names, most_bytes=100) == b"x"
                (root / Path(*names)).unlink()
        except FolderFault:
            pass
        finally:
            place.close()
    assert {"work", "secret.txt"} == {each.name for each in base.iterdir()}
    assert secret.read_text() == "zanzibarquokka"


@given(name=st.text(min_size=1, max_size=12))
def test_a_name_that_is_taken_is_one_name(name: str) -> None:
    if "/" not in name and not fault_of(name) and name != ".":
        assert os.path.basename(name) == name  # noqa: PTH119 - what the system says
        assert "\0" not in name


def _never() -> Stop:
    return Stop()


async def test_muntins_own_data_is_not_reached_wherever_it_lies(desk: FolderDesk) -> None:
    desk.put("notes.txt", "mine")
    desk.own = desk.root / "docs" / "Muntin"
    desk.put("docs/Muntin/settings.json", "zanzibarquokka")
    desk.put("docs/Muntin/sessions/s1/chat.jsonl", "zanzibarquokka")
    desk.restart()

    for tool, arguments in (
        ("read_file", {}),
        ("search_files", {"query": "quokka"}),
        ("write_file", {"content": "x"}),
        ("edit_file", {"old_text": "quokka", "new_text": "x"}),
    ):
        for path in ("docs/Muntin/settings.json", "docs/Muntin/sessions/s1/chat.jsonl"):
            assert "Muntin keeps its own data there" in await desk.fault(tool, path=path, **arguments)
    assert "Muntin keeps its own data there" in await desk.fault("write_file", path="docs/Muntin/new.txt", content="x")
    assert "Muntin keeps its own data there" in await desk.fault("list_files", path="docs/Muntin")
    assert await desk.text("list_files", recursive=True) == (
        "docs/\ndocs/Muntin/\nnotes.txt (4 bytes)\n\nThat is all. Left out: 1 folder that can't be opened."
    )
    assert "Nothing found" in await desk.text("search_files", query="quokka")


@pytest.mark.parametrize("inside", ["", "sessions"])
async def test_muntins_own_data_is_not_reached_from_inside(desk: FolderDesk, inside: str) -> None:
    (desk.base / "link").symlink_to(desk.base)
    desk.put("sessions/notes.txt", "mine")
    desk.own, desk.root = desk.base / "link/work", desk.root / inside
    desk.restart()

    assert "Muntin keeps its own data there" in await desk.fault("list_files")
    assert "Muntin keeps its own data there" in await desk.fault("read_file", path="notes.txt")
