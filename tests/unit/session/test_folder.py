"""Which folder may be attached to a chat, and what is said if one may not."""

import os
import socket
from pathlib import Path

import pytest

from app.domain.errors import KnownError
from app.session.folder import check_folder
from tests.unit.session.conftest import Program


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a folder and the data of Muntin in it."""
    base = tmp_path.resolve()
    for path in ("home/me/work/inner", "home/me/share/muntin/sessions"):
        (base / path).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(base / "home/me"))
    monkeypatch.setenv("USERPROFILE", str(base / "home/me"))
    return base


def check(base: Path, folder: str | Path) -> str:
    return check_folder(str(folder), data_folder=base / "home/me/share/muntin")


def test_a_folder_is_kept_whole_and_without_links(base: Path) -> None:
    (base / "home/me/link").symlink_to(base / "home/me/work")

    for path in ("home/me/work", "home/me/work/", "home/me/work/inner/..", "home/me/link"):
        assert check(base, f"{base}/{path}") == str(base / "home/me/work")
    assert check(base, base / "home/me/link/inner") == str(base / "home/me/work/inner")


@pytest.mark.parametrize("none", ["", "  "])
def test_no_folder_at_all_may_be_attached(base: Path, none: str) -> None:
    assert check(base, none) == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("home/me", "Your home folder as a whole"),
        ("home", "Your home folder as a whole"),
        ("", "Your home folder as a whole"),
        ("home/me/share/muntin", "Muntin's own data folder"),
        ("home/me/share/muntin/sessions", "Muntin's own data folder"),
        ("home/me/share", "Muntin keeps its data inside"),
        ("home/me/gone", "There is no folder"),
        ("home/me/file", "is a file"),
        ("home/me/loop", "can't be opened"),
        ("home/me/to-home", "Your home folder as a whole"),
        ("home/me/to-data", "Muntin's own data folder"),
        ("home/me/socket", "is a file"),
    ],
)
def test_some_folders_are_refused_in_words(base: Path, path: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home = base / "home/me"
    (home / "file").touch()
    (home / "loop").symlink_to("loop")
    (home / "to-home").symlink_to(home)
    (home / "to-data").symlink_to(home / "share/muntin/sessions")
    monkeypatch.chdir(home)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")

    with pytest.raises(KnownError, match=said):
        check(base, base / path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("home/ME", "Your home folder as a whole"),
        ("home/me/share/MUNTIN", "Muntin's own data folder"),
        ("home/me/share/Muntin/Sessions", "Muntin's own data folder"),
        ("home/me/Share", "Muntin keeps its data inside"),
    ],
)
def test_another_name_of_the_same_folder_is_refused_as_well(base: Path, path: str, said: str) -> None:
    is_same = (base / path).exists()  # Where upper and lower case are alike.

    with pytest.raises(KnownError, match=said if is_same else "There is no folder"):
        check(base, base / path)


@pytest.mark.parametrize("text", ["work", "./work", "~/work", "a\0b", "/a\0b"])
def test_a_path_that_is_not_whole_is_refused(base: Path, text: str) -> None:
    with pytest.raises(KnownError, match="no whole path"):
        check(base, text)


def test_a_whole_disk_is_refused(base: Path) -> None:
    with pytest.raises(KnownError, match="A whole disk"):
        check(base, os.sep)


async def test_a_chat_keeps_the_folder_that_is_attached_to_it(program: Program, tmp_path: Path) -> None:
    chat = await program.new_chat()
    folder = tmp_path.parent / f"{tmp_path.name}-work"
    folder.mkdir()

    summary = await program.manager.set_folder(chat.session, str(folder))
    assert summary.folder == str(folder.resolve())
    await program.restart()
    assert (await program.manager.open_chat(chat.session)).summary.folder == str(folder.resolve())
    with pytest.raises(KnownError, match="own data folder"):
        await program.manager.set_folder(chat.session, str(program.root))
    assert (await program.manager.set_folder(chat.session, "")).folder == ""
