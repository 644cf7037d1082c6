"""Whatever happens while rows are cut off or brought back: each is in the chat or in one version, and in order."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.disk import make_private_folder
from app.domain.errors import StorageError
from app.history.branch_file import BranchFolder
from app.history.branches import Branches
from app.history.files import ChatFiles
from app.history.rotation import Rotation
from app.history.windows_index import IndexKeeper
from tests.fakes.disk_log import DiskLog
from tests.unit.history.branching import kept, opened, places, rows_in, shown, write_rows
from tests.unit.history.rows import boundary_row, open_store, text_row
from tests.unit.history.test_rotation import die_at
from tests.unit.history.test_windows_index import built, described, rebuilt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills itself with fork and signals")

NO_MATTER = {"receipt.json", "windows.json"}
"""Files that may be lost at any time."""


def cut(branches: Branches, last_seq: int) -> None:
    branches.cut("b", "edit", then=[text_row("x"), text_row("y")], expected_last_seq=last_seq)


def cut_all(branches: Branches, last_seq: int) -> None:
    branches.cut("a", "regenerate", expected_last_seq=last_seq)


def switch(branches: Branches, last_seq: int) -> None:
    (versions,) = branches.versions()
    branches.switch("b", next(filter(None, versions.ids)), expected_last_seq=last_seq)


@dataclass(frozen=True)
class Case:
    """What is done to a chat of rows a to e, of which b to d are one batch, and what it is before and after."""

    work: Callable[[Branches, int], None]
    before: tuple[str, list[tuple[str, str]]]
    after: tuple[str, list[tuple[str, str]]]


CASES = [
    Case(cut, ("a b c d e", []), ("a b x y", [("b", "c d e")])),
    Case(cut_all, ("a b c d e", []), ("a", [("a", "b c d e")])),
    Case(switch, ("a b x y", [("b", "c d e")]), ("a b c d e", [("b", "x y")])),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.work.__name__)


def prepare(files: ChatFiles, case: Case) -> tuple[Branches, int]:
    template = ChatFiles(files.folder.with_name("template"))
    if not template.folder.exists():
        write_rows(template, 1, 3, 1)
        if case.work is switch:
            cut(*opened(template))
        assert (shown(template), kept(template)) == case.before
    shutil.rmtree(files.folder, ignore_errors=True)
    shutil.copytree(template.folder, files.folder)
    return opened(files)


def as_new(files: ChatFiles, work: Callable[[Branches, int], object], last_seq: int) -> Callable[[], None]:
    """Do `work` as a process does that has just begun: locks are not handed on to a child."""

    def done() -> None:
        work(Branches(ChatFiles(files.folder), open_store(files)), last_seq)

    return done


def check_settled(files: ChatFiles, case: Case) -> bool:
    """Check that the chat is as before or as after, and that it goes on; return whether it is as after."""
    state = (shown(files), kept(files))
    assert state in (case.before, case.after)
    assert set(places(files).values()) == {1}
    branches, last_seq = opened(files)
    versions = branches.versions()
    assert len(versions) == len(kept(files))
    assert all(len(each.ids) == 2 for each in versions)
    open_store(files).append([text_row("more")], expected_last_seq=last_seq)
    assert shown(files) == f"{state[0]} more"
    assert not list(files.folder.rglob("*.damaged"))
    return state == case.after


@each_case
def test_a_kill_before_any_call_to_the_disk_loses_and_doubles_nothing(files: ChatFiles, case: Case) -> None:
    outcomes = []
    for count in range(1, 200):
        _, last_seq = prepare(files, case)
        rows = set(places(files))
        was_killed = die_at(count, as_new(files, case.work, last_seq))
        # Before anybody has tidied up readers see either; a row is in the chat, in a version, or in both.
        assert shown(files) in (case.before[0], case.after[0])
        assert set(places(files)) >= rows
        versions = Branches(files, open_store(files)).versions()
        assert all(len(each.ids) == 2 for each in versions)
        files.sweep()
        opened(files)
        assert not list(files.folder.rglob("*.tmp"))
        outcomes.append(check_settled(files, case))
        if not was_killed:
            break
    assert outcomes == sorted(outcomes)
    assert {*outcomes} == {False, True}


@contextmanager
def failing_at(count: int, *, is_lasting: bool) -> Iterator[list[str]]:
    """Let call number `count` that changes the disk fail, and with `is_lasting` every one behind it."""
    calls: list[str] = []

    def made_to_fail(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*given: Any, **named: Any) -> Any:
            calls.append(name)
            if len(calls) == count or (is_lasting and len(calls) > count):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("write", "fsync", "replace", "mkdir", "ftruncate"):
            patch.setattr(os, name, made_to_fail(name))
        yield calls


@each_case
@pytest.mark.parametrize("is_lasting", [False, True])
def test_a_disk_that_refuses_anything_leaves_the_chat_as_it_was_or_as_it_was_to_be(
    files: ChatFiles, case: Case, *, is_lasting: bool
) -> None:
    for count in range(1, 200):
        found = prepare(files, case)
        error = None
        with failing_at(count, is_lasting=is_lasting) as calls:
            try:
                case.work(*found)
            except StorageError as raised:
                error = raised
        now = (shown(files), kept(files))
        if error is None:
            assert now[0] == case.after[0]
        elif now[0] == case.before[0]:
            assert now == case.before
        assert not list(files.folder.rglob(".*.tmp"))
        opened(files)
        is_done = check_settled(files, case)
        assert is_done or error is not None
        if len(calls) < count:
            assert is_done
            return
    raise AssertionError("never came to an end")


@each_case
def test_rows_are_on_disk_elsewhere_before_the_chat_is_rewritten(files: ChatFiles, case: Case) -> None:
    found = prepare(files, case)
    disk = DiskLog(files.folder)
    with disk.watching():
        case.work(*found)
    rewritten = disk.steps.index(("replace", "chat.jsonl"))
    written = [at for at, (step, name) in enumerate(disk.steps) if step == "replace" and name.endswith(".jsonl")]
    assert written == [written[0], rewritten]
    assert ("sync", "branches") in disk.steps[written[0] : rewritten]
    loose = disk.loose_before("replace", "chat.jsonl")
    assert loose <= NO_MATTER | {files.folder.name}
    assert "the new content" not in loose
    assert ("sync", files.folder.name) in disk.steps[:rewritten] or case.work is switch
    assert ("sync", files.folder.name) in disk.steps[rewritten:]
    assert disk.loose_names <= NO_MATTER | {files.folder.name}


def test_what_a_kill_left_is_no_trouble_for_the_next_cut(files: ChatFiles) -> None:
    """Without anybody having tidied up, as after an error that the same process survived."""
    case = CASES[0]
    for count in range(1, 200, 2):
        _, last_seq = prepare(files, case)
        was_killed = die_at(count, as_new(files, case.work, last_seq))
        store = open_store(files)
        last_seq = store.repair()
        Branches(files, store).cut("a", "edit", then=[text_row("z")], expected_last_seq=last_seq)
        assert set(places(files).values()) == {1}
        assert shown(files) == "a z"
        if not was_killed:
            break


# Anything


@dataclass(frozen=True)
class Model:
    """A chat as it should be. `damaged` stands for a line nobody can read; names with a capital are boundaries."""

    chat: tuple[str, ...] = ()
    versions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Row they follow, and rows."""

    @property
    def window(self) -> tuple[str, ...]:
        starts = [at for at, name in enumerate(self.chat) if name[0].isupper()]
        return self.chat[starts[-1] :] if starts else self.chat

    @property
    def places(self) -> list[str]:
        """Rows behind which something can be cut."""
        rows = [name for name in self.window if name != "damaged"]
        return rows if self.window != self.chat or (rows and rows[0][0].isupper()) else ["", *rows]

    def split(self, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What stays when everything behind `after` is cut, and what is cut."""
        at = self.chat.index(after) + 1 if after else 0
        behind = self.chat[at:]
        stays = (*self.chat[:at], *(name for name in behind if name == "damaged"))
        return stays, tuple(name for name in behind if name != "damaged")

    def with_tail(self, after: str, rows: tuple[str, ...], versions: list[tuple[str, tuple[str, ...]]]) -> "Model":
        stays, cut = self.split(after)
        return Model((*stays, *rows), tuple(sorted([*versions, *([(after, cut)] if cut else [])])))

    def cut(self, after: str, rows: tuple[str, ...]) -> "Model":
        return self.with_tail(after, rows, list(self.versions))

    def switch(self, version: tuple[str, tuple[str, ...]]) -> "Model":
        rest = list(self.versions)
        rest.remove(version)
        return self.with_tail(version[0], version[1], rest)

    def shown_versions(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """What is offered: all versions behind each row of the window, the eldest first row first."""
        found = []
        for after in self.places:
            others = sorted(rows for name, rows in self.versions if name == after)
            tail = self.split(after)[1]
            if others:
                found.append((after, sorted([*others, tail]) if tail else [*others, ()]))
        return found


@dataclass
class Chat:
    """The real thing, driven by a list of numbers."""

    files: ChatFiles
    model: Model = field(default_factory=Model)
    made: int = 0

    def names(self, count: int) -> tuple[str, ...]:
        self.made += count
        return tuple(f"r{self.made - count + index:04}" for index in range(count))

    def append(self, count: int) -> None:
        names = self.names(count)
        self._add([text_row(name) for name in names])
        self.model = replace(self.model, chat=(*self.model.chat, *names))

    def begin_window(self, kind: str, count: int) -> None:
        (name, *rest) = self.names(1 + count)
        name = name.upper()
        self._add([boundary_row(name, kind), *map(text_row, rest)])
        self.model = replace(self.model, chat=(*self.model.chat, name, *rest))

    def _add(self, rows: list[Any]) -> None:
        store = open_store(self.files)
        store.append(rows, expected_last_seq=store.repair())

    def damage(self) -> None:
        open_store(self.files).repair()
        with self.files.chat.open("ab") as file:
            file.write(b"{half of a line\n")
        self.model = replace(self.model, chat=(*self.model.chat, "damaged"))

    def rotate(self, steps: int) -> None:
        store = open_store(self.files)
        rotation = Rotation(self.files, store, piece_bytes=200, free_bytes=lambda _: 1 << 40)
        for _ in range(steps):
            rotation.step()

    def cut(self, at: int, count: int, dies_at: int) -> None:
        places = self.model.places
        after = places[at % len(places)]
        names = self.names(count)
        then = [text_row(name) for name in names]
        self._do(
            lambda branches, last_seq: branches.cut(after, "edit", then=then, expected_last_seq=last_seq),
            self.model.cut(after, names),
            dies_at,
        )

    def switch(self, at: int, dies_at: int) -> None:
        offered = [version for version in self.model.versions if version[0] in self.model.places]
        if not offered:
            return
        version = offered[at % len(offered)]
        folder = BranchFolder(self.files.branches)
        name = next(name for name in folder.ids() if (folder.head(name).after, _ids(folder, name)) == version)
        self._do(
            lambda branches, last_seq: branches.switch(version[0], name, expected_last_seq=last_seq),
            self.model.switch(version),
            dies_at,
        )

    def _do(self, work: Callable[[Branches, int], object], then: Model, dies_at: int) -> None:
        branches, last_seq = opened(self.files)
        if not dies_at:
            work(branches, last_seq)
            self.model = then
            return
        die_at(dies_at, as_new(self.files, work, last_seq))
        opened(self.files)
        self.model = then if self._now() == then else self.model

    def _now(self) -> Model:
        versions = sorted((after, tuple(ids.split())) for after, ids in kept(self.files))
        return Model(tuple(shown(self.files).split()), tuple(versions))

    def check(self) -> None:
        assert self._now() == self.model
        numbers = [row.seq or 0 for row in rows_in(self.files)]
        assert numbers == sorted(set(numbers))
        folder = BranchFolder(self.files.branches)
        tails = {name: _ids(folder, name) for name in folder.ids()}
        found = Branches(self.files, open_store(self.files)).versions()
        assert [
            (each.after, [tails[name] if name else self.model.split(each.after)[1] for name in each.ids])
            for each in found
        ] == self.model.shown_versions()
        assert not list(self.files.folder.rglob("*.damaged"))


def _ids(folder: BranchFolder, name: str) -> tuple[str, ...]:
    return tuple(line.row.id for line in folder.lines(name))


number = st.integers(0, 20)
step = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 4)),
    st.tuples(st.just("cut"), number, st.integers(0, 3), st.just(0) | st.integers(1, 25)),
    st.tuples(st.just("switch"), number, st.just(0) | st.integers(1, 25)),
    st.tuples(st.just("begin_window"), st.sampled_from(["rollover", "reset"]), st.integers(0, 2)),
    st.tuples(st.just("damage")),
    st.tuples(st.just("rotate"), st.integers(1, 8)),
)


@given(steps=st.lists(step, min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_every_row_is_in_the_chat_or_in_one_version_whatever_is_done(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        chat = Chat(ChatFiles(Path(folder) / "chat"))
        make_private_folder(chat.files.folder)
        chat.append(3)
        for name, *values in steps:
            getattr(chat, name)(*values)
            chat.check()
        index = built(IndexKeeper(ChatFiles(chat.files.folder)))
        assert described(index) == described(rebuilt(chat.files))
