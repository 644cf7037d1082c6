"""Branches of chats, on real files."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import HistoryChanged, StorageError
from app.domain.events import ChatBranched
from app.domain.rows import Batch, Blob, Boundary, Flag, MediaPart, Row, TextPart, ToolPart
from app.domain.windows import HistoryItem, View
from app.history.blobs import Blobs
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.library import Library
from app.history.reader import DamagedEntry, Entry, HistoryReader, Position, RowEntry
from app.history.sidecars import SessionMeta, read_sidecar, write_sidecar
from app.history.view import HistoryView
from app.session.branching import Left, branch_title, copy_history
from app.session.inputs import ResetContext
from tests.fakes.scripted import reply
from tests.unit.session.conftest import MODEL, Chat, Program, until

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
DAMAGED_RESET = b'{"v":1,"boundary":{"kind":"re'


class Original:
    """A chat to branch from, written line by line."""

    def __init__(self, root: Path) -> None:
        self.library = Library(root)
        self.session = self.library.create(model="p/m", now=NOW).id
        self.files = self.library.files(self.session)
        self.reader = HistoryReader(self.files)
        self.seq = 0

    def add(self, *rows: Row | bytes, to: str = "chat") -> None:
        path = self.files.chat if to == "chat" else self.files.archive
        with path.open("ab") as file:
            file.writelines((line if isinstance(line, bytes) else encode_row(line)) + b"\n" for line in rows)

    def row(self, row_id: str, **fields: object) -> Row:
        self.seq += 1
        given = {"parts": (TextPart(text=f"text of {row_id}"),), "turn": row_id, **fields}
        return Row.model_validate({"id": row_id, "session": self.session, "seq": self.seq, "role": "user", **given})

    def boundary(self, row_id: str, kind: str = "rollover", **fields: object) -> Row:
        more = fields.pop("more", {})
        boundary = Boundary.model_validate({"kind": kind, **more})  # type: ignore[dict-item]
        return self.row(row_id, boundary=boundary, kind=kind, parts=(), turn=None, **fields)

    def item(self, row_id: str, *, is_above_floor: bool = False) -> HistoryItem:
        entry = next(e for e in entries(self.files) if isinstance(e, RowEntry) and e.row.id == row_id)
        return HistoryItem(
            ref="",
            row_id=row_id,
            seq=entry.row.seq,
            role=entry.row.role,
            kind="message",
            created=None,
            model="",
            tools=(),
            preview="",
            chars=0,
            window_id="w:0",
            offset=self.reader.offset_of(Position(entry.file, entry.offset)),
            is_above_floor=is_above_floor,
        )

    def branch(self, row_id: str, *, is_above_floor: bool = False, floor: int | None = None) -> "Branch":
        item = self.item(row_id, is_above_floor=is_above_floor)
        with self.library.unfinished() as (name, files):
            found = copy_history(self.files, files, session=name, until=item, told=lambda _bytes: None, floor=floor)
            write_sidecar(files.meta, SessionMeta(title="branch"))
        return Branch(self.library.files(name), name, *found)


class Branch:
    """What came of it."""

    def __init__(self, files: ChatFiles, session: str, floor_seq: int | None, left: Left) -> None:
        self.files, self.session, self.floor_seq, self.left = files, session, floor_seq, left
        self.rows = [entry.row for entry in entries(files) if isinstance(entry, RowEntry)]

    def said(self) -> list[str]:
        return [row.text or row.kind for row in self.rows]

    def seqs(self) -> list[int | None]:
        return [row.seq for row in self.rows]


def entries(files: ChatFiles) -> Sequence[Entry]:
    return list(HistoryReader(ChatFiles(files.folder)).entries_forward())


@pytest.fixture
def original(tmp_path: Path) -> Original:
    return Original(tmp_path)


def test_a_branch_has_everything_up_to_the_chosen_row(original: Original) -> None:
    original.add(*(original.row(f"r{n}") for n in range(5)))
    branch = original.branch("r2")
    assert branch.said() == ["text of r0", "text of r1", "text of r2"]
    assert branch.seqs() == [1, 2, 3]
    assert {row.session for row in branch.rows} == {branch.session}
    assert branch.left == Left(0, 0, 0)
    assert branch.floor_seq is None


def test_ids_are_new_and_mean_the_same(original: Original) -> None:
    first = original.row("r1")
    reply = original.row("r2", role="assistant", turn="r1")
    more = {"owner": "r1", "rollover_id": "x1", "previous_window": "w:m:r1", "reason": "on_send"}
    boundary = original.boundary("b1", more=more, batch=Batch(id="x2", index=0, count=2))
    copy = original.row("r3", copy_of="r1", flags=(Flag.HIDDEN,), batch=Batch(id="x2", index=1, count=2))
    original.add(first, reply, boundary, copy)
    rows = original.branch("r3").rows
    assert not {row.id for row in rows} & {"r1", "r2", "b1", "r3"}
    assert len({row.id for row in rows}) == 4
    new_id = rows[0].id
    assert rows[0].turn == rows[1].turn == rows[3].copy_of == new_id
    found = rows[2].boundary
    assert found is not None
    extra = found.model_extra or {}
    assert extra["owner"] == new_id
    assert extra["previous_window"] == f"w:m:{new_id}"
    assert extra["reason"] == "on_send"
    assert extra["rollover_id"] not in ("x1", "x2")
    assert rows[2].batch is not None
    assert rows[3].batch is not None
    assert rows[2].batch.id == rows[3].batch.id != "x2"


def test_ids_keep_their_time(original: Original) -> None:
    old = "01a22c0f09ef43c4c8fa8761"
    original.add(original.row(old))
    (row,) = original.branch(old).rows
    assert row.id[:12] == old[:12]
    assert row.id[12:] != old[12:]
    assert len(row.id) == 24


def test_two_branches_share_no_id(original: Original) -> None:
    original.add(original.row("r1"))
    assert original.branch("r1").rows[0].id != original.branch("r1").rows[0].id


def test_the_whole_batch_comes_along(original: Original) -> None:
    original.add(
        original.row("r1", batch=Batch(id="b", index=0, count=2)),
        original.row("r2", batch=Batch(id="b", index=1, count=2)),
        original.row("r3"),
    )
    assert original.branch("r1").said() == ["text of r1", "text of r2"]


def test_both_files_are_copied_and_the_newest_window_is_the_active_file(original: Original) -> None:
    original.add(original.row("r1"), original.boundary("b1"), original.row("r2"), to="archive")
    original.add(original.boundary("b2"), original.row("r3"), original.row("r4"))
    branch = original.branch("r3")
    assert branch.said() == ["text of r1", "rollover", "text of r2", "rollover", "text of r3"]
    assert b"text of r2" in branch.files.archive.read_bytes()
    assert branch.files.chat.read_bytes().startswith(b'{"v":1,"boundary":')
    assert branch.files.chat.read_bytes().count(b"\n") == 2


def test_a_branch_within_the_archive_has_its_window_in_the_active_file(original: Original) -> None:
    original.add(original.row("r1"), original.boundary("b1"), original.row("r2"), original.row("r3"), to="archive")
    original.add(original.boundary("b2"), original.row("r4"))
    branch = original.branch("r2")
    assert branch.said() == ["text of r1", "rollover", "text of r2"]
    assert branch.files.archive.read_bytes().count(b"\n") == 1
    assert branch.files.chat.read_bytes().count(b"\n") == 2


def test_a_batch_with_a_boundary_stays_in_one_file(original: Original) -> None:
    original.add(original.row("r1"))
    original.add(
        original.row("warning", batch=Batch(id="b", index=0, count=2)),
        original.boundary("b1", batch=Batch(id="b", index=1, count=2)),
        original.row("r2"),
    )
    branch = original.branch("r2")
    assert branch.said() == ["text of r1", "text of warning", "rollover", "text of r2"]
    assert branch.files.archive.read_bytes().count(b"\n") == 1


def test_without_a_boundary_there_is_no_archive(original: Original) -> None:
    original.add(original.row("r1"), to="archive")
    original.add(original.row("r2"))
    branch = original.branch("r2")
    assert branch.said() == ["text of r1", "text of r2"]
    assert not branch.files.archive.exists()


def test_a_manual_reset_stays_one(original: Original) -> None:
    original.add(original.row("r1"), original.boundary("b1", "reset"), original.row("r2"))
    branch = original.branch("r2", floor=2)
    assert [row.kind for row in branch.rows] == ["message", "reset", "message"]
    assert branch.floor_seq == 2


def test_a_branch_from_above_a_reset_ends_with_one(original: Original) -> None:
    original.add(original.row("r1"), original.row("r2"), original.boundary("b1", "reset"), original.row("r3"))
    branch = original.branch("r1", is_above_floor=True, floor=3)
    assert [row.kind for row in branch.rows] == ["message", "reset"]
    assert branch.seqs() == [1, 2]
    assert branch.floor_seq == 2


def test_a_floor_that_only_the_small_file_knows_counts_too(original: Original) -> None:
    original.add(original.row("r1"), original.row("r2"))
    branch = original.branch("r2", floor=3)
    assert [row.kind for row in branch.rows] == ["message", "message", "reset"]
    assert branch.floor_seq == 3


@pytest.mark.parametrize(
    "damage",
    [
        DAMAGED_RESET,
        b'{"boundary":7}',
        b'{"v":1,"boundary":{"kind":"other"},"id":"o","session":"s","seq":2,"role":"user"}',
        b'{"x":"' + b"x" * 2**20 + b'","boundary":',
    ],
    ids=["torn", "no row", "unknown kind", "oversized"],
)
def test_what_counts_as_a_reset_is_one_in_the_branch(original: Original, damage: bytes) -> None:
    first = original.row("r1")
    original.seq += 1
    original.add(first, damage, original.row("r2"))
    branch = original.branch("r2")
    boundary = branch.rows[1].boundary
    assert boundary is not None
    assert boundary.kind in ("reset", "other")
    assert branch.seqs() == [1, 2, 3]
    assert branch.floor_seq == 2


def test_a_reset_for_which_no_number_is_free_has_none_and_still_hides_what_is_before(original: Original) -> None:
    original.add(original.row("r1"), DAMAGED_RESET, original.row("r2"))
    branch = original.branch("r2")
    assert branch.seqs() == [1, None, 2]
    assert branch.rows[1].kind == "reset"
    assert branch.floor_seq == 1


def test_an_oversized_rollover_still_begins_a_window(original: Original) -> None:
    boundary = original.boundary("b1").model_copy(update={"parts": (TextPart(text="x" * 2**20),)})
    original.add(original.row("r1"), boundary, original.row("r2").model_copy(update={"seq": 3}))
    branch = original.branch("r2")
    assert [row.kind for row in branch.rows] == ["message", "rollover", "message"]
    assert branch.floor_seq is None
    assert branch.left.oversized == 1


def test_what_can_not_be_read_is_left_out_and_counted(original: Original) -> None:
    torn = original.row("t1", batch=Batch(id="torn", index=0, count=3))
    original.add(original.row("r1"), b"{broken", b"7", torn, b'{"x":"' + b"x" * 2**20 + b'"}', original.row("r2"))
    branch = original.branch("r2")
    assert branch.said() == ["text of r1", "text of r2"]
    assert branch.left == Left(damaged=3, oversized=1, missing_files=0)
    assert not any(isinstance(entry, DamagedEntry) for entry in entries(branch.files))


def test_fields_and_parts_nobody_knows_come_along(original: Original) -> None:
    original.add(
        b'{"v":1,"id":"r1","session":"s","seq":1,"role":"user","later":{"a":1},"parts":[{"type":"new","x":[2]}]}'
    )
    (row,) = original.branch("r1").rows
    assert row.model_extra == {"later": {"a": 1}}
    assert row.parts[0].model_extra == {"x": [2]}


def test_blobs_are_shared_and_missing_ones_counted(original: Original) -> None:
    blobs = Blobs(original.files.blobs)
    text, picture, output = blobs.put(b"long text"), blobs.put(b"picture"), blobs.put(b"output")
    gone = "0" * 64
    original.add(
        original.row("r1", parts=(TextPart(text="…", blob=Blob(sha256=text, bytes=9)),)),
        original.row(
            "r2",
            parts=(
                MediaPart(media_type="image/png", bytes=7, blob=Blob(sha256=picture, bytes=7)),
                MediaPart(media_type="image/png", bytes=7, blob=Blob(sha256=gone, bytes=7)),
                ToolPart(call_id="c", name="t", output_blob=Blob(sha256=output, bytes=6)),
            ),
        ),
    )
    blobs.put(b"of nobody")
    branch = original.branch("r2")
    assert {path.name for path in branch.files.blobs.iterdir()} == {text, picture, output}
    assert branch.left.missing_files == 1
    assert Blobs(branch.files.blobs).get(text) == b"long text"


def test_draft_and_memory_stay_behind(original: Original) -> None:
    original.add(original.row("r1"))
    original.files.draft.write_text('{"text":"secret"}')
    (original.files.folder / "memory").mkdir()
    (original.files.folder / "queue.json").write_text("[]")
    branch = original.branch("r1")
    assert {path.name for path in branch.files.folder.iterdir()} <= {"chat.jsonl", "session.json", "session.lock"}


def test_a_row_that_is_not_where_it_was_is_no_branch(original: Original) -> None:
    original.add(original.row("r1"), original.row("r2"))
    item = original.item("r2")
    original.files.chat.write_bytes(encode_row(original.row("r2")) + b"\n")
    with pytest.raises(HistoryChanged), original.library.unfinished() as (name, files):
        copy_history(original.files, files, session=name, until=item, told=lambda _bytes: None, floor=None)
    assert [chat.id for chat in original.library.summaries()] == [original.session]
    assert [path.name for path in (original.library.root / "sessions").iterdir()] == [original.session]


def test_a_copy_that_is_given_up_leaves_nothing(original: Original) -> None:
    original.add(*(original.row(f"r{n}") for n in range(1200)))
    item = original.item("r1199")

    def told(_bytes: int) -> None:
        raise StorageError("given up")

    with pytest.raises(StorageError), original.library.unfinished() as (name, files):
        copy_history(original.files, files, session=name, until=item, told=told, floor=None)
    assert [path.name for path in (original.library.root / "sessions").iterdir()] == [original.session]


def test_what_a_kill_left_is_swept_but_not_what_is_being_made(original: Original) -> None:
    sessions = original.library.root / "sessions"
    left = sessions / ".unfinished-dead"
    left.mkdir()
    (left / "chat.jsonl").write_bytes(b"half")
    with original.library.unfinished() as (name, files):
        Library(original.library.root).sweep_unfinished()
        assert not left.exists()
        assert files.folder.is_dir()
        write_sidecar(files.meta, SessionMeta(title="made"))
    assert original.library.summary(name).title == "made"
    assert read_sidecar(original.library.files(name).meta, SessionMeta) is not None


@pytest.mark.skipif(not hasattr(os, "link"), reason="the system has no second names for files")
def test_a_blob_is_not_copied_where_a_second_name_will_do(original: Original) -> None:
    name = Blobs(original.files.blobs).put(b"x" * 100)
    original.add(original.row("r1", parts=(TextPart(text="…", blob=Blob(sha256=name, bytes=100)),)))
    branch = original.branch("r1")
    assert (branch.files.blobs / name).samefile(original.files.blobs / name)


@pytest.mark.parametrize(
    ("title", "taken", "wanted"),
    [
        ("Trip to Kyoto", set(), "Trip to Kyoto (2)"),
        ("Trip to Kyoto", {"Trip to Kyoto (2)"}, "Trip to Kyoto (3)"),
        ("Trip to Kyoto (2)", {"Trip to Kyoto (2)"}, "Trip to Kyoto (3)"),
        ("(2)", set(), "(2) (2)"),
        ("", {""}, ""),
        ("Figures (2026 and before)", set(), "Figures (2026 and before) (2)"),
    ],
)
def test_a_branch_is_called_like_its_chat_with_a_number(title: str, taken: set[str], wanted: str) -> None:
    assert branch_title(title, taken) == wanted


# As the interface asks for it


async def test_a_branch_goes_on_by_itself(program: Program) -> None:
    program.provider.play(*(reply("so be it") for _ in range(3)))
    chat = await program.new_chat()
    await chat.say("Trip to Kyoto")
    await chat.say("and hotels?")
    row = chat.rows()[1]
    summary = await program.manager.branch_chat(chat.session, f"m:{row.id}")
    assert summary.title == "Trip to Kyoto (2)"
    assert summary.model == MODEL
    (told,) = [event for event in program.events if isinstance(event, ChatBranched)]
    assert (told.session, told.summary, told.damaged) == (summary.id, summary, 0)
    branch = Chat(program, summary.id)
    await program.manager.open_chat(summary.id)
    assert branch.texts() == chat.texts()[:2]
    await branch.say("in autumn")
    assert [row.seq for row in branch.rows()] == [1, 2, 3, 4]
    assert len(chat.rows()) == 4


async def test_a_branch_is_answered_as_its_chat_but_asks_for_everything_anew(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(reply("one"))
    await chat.say("a")
    await program.manager.set_profile(chat.session, "reader")
    await program.manager.set_level(chat.session, "low")
    meta = read_sidecar(chat.files.meta, SessionMeta)
    assert meta is not None
    await program.manager.close()
    write_sidecar(chat.files.meta, meta.model_copy(update={"grants": ("write_file",)}))
    await program.restart()
    branch = await program.manager.branch_chat(chat.session, "#2")
    assert (branch.profile, branch.level, branch.model) == ("reader", "low", MODEL)
    assert branch.grants == ()


async def test_a_branch_that_ends_at_a_message_without_a_reply_can_be_continued(program: Program) -> None:
    program.provider.play(*(reply("so be it") for _ in range(2)))
    chat = await program.new_chat()
    await chat.say("one")
    summary = await program.manager.branch_chat(chat.session, "#1")
    branch = Chat(program, summary.id)
    await program.manager.open_chat(summary.id)
    assert branch.texts() == ["one"]
    await branch.resume()
    await branch.idle()
    assert [row.role for row in branch.rows()] == ["user", "assistant"]


async def test_no_model_reads_what_lies_above_the_floor_of_a_branch(program: Program) -> None:
    program.provider.play(*(reply("so be it") for _ in range(4)))
    chat = await program.new_chat()
    await chat.say("the secret")
    await program.manager.send(chat.session, ResetContext())
    await chat.idle()
    await chat.say("afresh")
    for ref in ("#1", f"m:{chat.rows()[-1].id}"):
        summary = await program.manager.branch_chat(chat.session, ref)
        branch = Chat(program, summary.id)
        await program.manager.open_chat(summary.id)
        await branch.say("what do you know?")
        sent = program.provider.requests[-1]
        assert "secret" not in str(sent.rows)
        assert "the secret" in branch.texts()
        view = HistoryView(branch.files, session=branch.session, view=View.AGENT)
        assert view.search("secret").hits == ()


async def test_a_chat_that_another_process_holds_can_be_branched(program: Program) -> None:
    program.provider.play(reply("so be it"))
    chat = await program.new_chat()
    await chat.say("one")
    await program.manager.leave_chat(chat.session)
    await program.manager.close()
    other = ChatFiles(chat.files.folder)
    other.lease.take()
    try:
        summary = await program.manager.branch_chat(chat.session, "#1")
    finally:
        other.lease.release()
    assert Chat(program, summary.id).texts() == ["one"]


async def test_a_message_that_is_not_there_is_a_sentence(program: Program) -> None:
    program.provider.play(reply("so be it"))
    chat = await program.new_chat()
    await chat.say("one")
    with pytest.raises(StorageError, match="not in the chat"):
        await program.manager.branch_chat(chat.session, "#99")


async def test_quitting_ends_a_copy_and_leaves_nothing_of_it(program: Program) -> None:
    program.provider.play(reply("so be it"))
    chat = await program.new_chat()
    await chat.say("one")
    row = chat.rows()[-1]
    lines = [encode_row(row.model_copy(update={"id": f"x{n}", "seq": n})) + b"\n" for n in range(3, 15_000)]
    with chat.files.chat.open("ab") as file:
        file.writelines(lines)
    copying = program.tasks.spawn(program.manager.branch_chat(chat.session, "#14999"), name="branch", watched=False)
    await until(lambda: any((program.root / "sessions").glob(".unfinished-*")))
    await program.manager.close()
    with pytest.raises(StorageError):
        await copying
    assert [path.name for path in (program.root / "sessions").iterdir()] == [chat.session]


async def test_an_export_is_written_as_the_interface_asks_for_it(program: Program, tmp_path: Path) -> None:
    program.provider.play(*(reply("so be it") for _ in range(2)))
    chat = await program.new_chat()
    await chat.say("in the first window")
    await program.manager.send(chat.session, ResetContext())
    await chat.idle()
    await chat.say("in the second")
    path = tmp_path / "out.md"
    report = await program.manager.export_window(chat.session, "w:0", path, "markdown")
    assert report.rows == 2
    assert "in the first window" in path.read_text("utf-8")
    assert "in the second" not in path.read_text("utf-8")
    windows = await program.manager.browser.windows(chat.session)
    report = await program.manager.export_window(chat.session, windows.windows[0].id, path, "json")
    assert report.rows == 2
    assert "in the second" in path.read_text("utf-8")
    with pytest.raises(StorageError, match="not in the chat"):
        await program.manager.export_window(chat.session, "w:77", path, "json")
