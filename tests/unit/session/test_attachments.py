import asyncio
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.chats import Access
from app.domain.errors import ChatInUse, ChatNotFound, KnownError, StorageError
from app.domain.models import Abilities, ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Blob, MediaPart, Row, TextPart
from app.history.blobs import Blobs
from app.pdf import read_pdf
from app.session.attachments import Use, decoded, keep, readable, shown_name, use_of, uses_of, with_files
from app.session.draft import DraftFile
from app.session.inputs import Accepted, DraftContent, NewFile, UserInput
from tests.fakes.pdf import make_pdf
from tests.fakes.scripted import reply
from tests.unit.session.conftest import Program

PICTURE = NewFile("photo.png", b"\x89PNG...", "image/png", 40, 30)
CARD = ModelCard(id="m", provider="p", name="Model M", limit=None, max_output=None)


def card(*, pictures: bool | None = None, pdf: bool | None = None) -> ModelCard:
    return replace(CARD, abilities=Abilities(sees_pictures=pictures, reads_pdf=pdf))


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def request(*parts: MediaPart | TextPart) -> ModelRequest:
    row = Row(id="r", session="s", role="user", parts=parts)
    return ModelRequest(model="m", system="", rows=(row,))


def texts(asked: ModelRequest) -> list[str]:
    return [part.text for row in asked.rows for part in row.parts if isinstance(part, TextPart)]


# Keeping


def test_a_text_is_kept_as_utf_8(blobs: Blobs) -> None:
    part = keep(NewFile("a.txt", "Grüße".encode("utf-16")), blobs)
    assert (part.media_type, part.bytes, part.blob.chars) == ("text/plain", 7, 5)
    assert blobs.get(part.blob.sha256) == "Grüße".encode()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"plain", "plain"),
        ("\ufeffmarked".encode(), "marked"),
        ("😀".encode(), "😀"),
        ("große".encode("utf-16-le"), None),
        (b"\xff\xfe" + "große".encode("utf-16-le"), "große"),
        (b"\xfe\xff" + "große".encode("utf-16-be"), "große"),
        ("große “Dinge”".encode("cp1252"), "große “Dinge”"),
        (b"a\x00b", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"\xff\xfea", None),
        (b"page\x0cpage \x1b[1mbold", "page\x0cpage \x1b[1mbold"),
        (b"", ""),
    ],
)
def test_what_is_text_and_what_is_not(data: bytes, text: str | None) -> None:
    assert decoded(data) == text


def test_a_pdf_is_kept_with_its_pages_and_its_text(blobs: Blobs) -> None:
    data = make_pdf("First page", "Zweite Seite: \xfc")
    part = keep(NewFile("paper.pdf", data), blobs)
    assert (part.media_type, part.pages, part.bytes) == ("application/pdf", 2, len(data))
    assert part.blob.sha256 == hashlib.sha256(data).hexdigest()
    assert part.text_blob is not None
    assert blobs.get(part.text_blob.sha256).decode() == "[page 1]\nFirst page\n\n[page 2]\nZweite Seite: ü"


def test_a_pdf_that_only_restricts_what_may_be_done_is_kept_as_providers_take_it(blobs: Blobs) -> None:
    data = make_pdf("First page", is_restricted=True)
    part = keep(NewFile("paper.pdf", data), blobs)
    kept = blobs.get(part.blob.sha256)
    assert b"/Encrypt" in data
    assert b"/Encrypt" not in kept
    assert (part.pages, part.bytes, part.blob.bytes) == (1, len(kept), len(kept))
    assert part.text_blob is not None
    assert blobs.get(part.text_blob.sha256).decode() == "[page 1]\nFirst page"
    assert read_pdf(kept).text == "[page 1]\nFirst page"


def test_a_pdf_may_begin_with_something_else(blobs: Blobs) -> None:
    assert keep(NewFile("a.pdf", b"\r\n" + make_pdf("x")), blobs).pages == 1


def test_a_text_that_tells_of_pdf_files_is_a_text(blobs: Blobs) -> None:
    part = keep(NewFile("notes.md", b"A PDF file begins with %PDF-1.7 and a line end."), blobs)
    assert (part.media_type, part.pages) == ("text/markdown", None)


def test_a_scan_has_pages_and_no_text(blobs: Blobs) -> None:
    part = keep(NewFile("scan.pdf", make_pdf("", "")), blobs)
    assert (part.pages, part.text_blob) == (2, None)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (NewFile("a.pdf", make_pdf("x", is_locked=True)), "locked by a password"),
        (NewFile("a.pdf", b"%PDF-1.4\nrubbish"), "broken"),
        (NewFile("a.pdf", make_pdf("whole")[:120]), "broken"),
        (NewFile("a.pdf", make_pdf()), "broken"),
        (NewFile("a.pdf", make_pdf(*[""] * 1_001)), "1,001 pages"),
        (NewFile("a.pdf", b"\x00%PDF-1.4\nrubbish"), "broken"),
        (NewFile("a.txt", b""), "empty"),
        (NewFile("a.txt", b"\xef\xbb\xbf"), "empty"),
        (NewFile("a.txt", b"\xff\xfe"), "empty"),
        (NewFile("a.txt", b"x" * (10 * 2**20 + 1)), "texts of up to 10 MB"),
        (NewFile("a.bin", b"x" * (32 * 2**20 + 1)), "files of up to 32 MB"),
        (NewFile("a.zip", b"PK\x03\x04\x00\x00"), "pictures, PDF files and texts"),
        (NewFile("a.xlsx", b"PK\x03\x04\x00\x00"), "Save it as PDF"),
        (NewFile("a.rtf", rb"{\rtf1 words}"), "Save it as PDF"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_cannot_be_attached_is_said_in_words_and_not_kept(file: NewFile, words: str, tmp_path: Path) -> None:
    with pytest.raises(KnownError, match=words):
        keep(file, Blobs(tmp_path / "blobs"))
    assert not (tmp_path / "blobs").exists()


def test_a_pdf_of_a_thousand_pages_is_kept(blobs: Blobs) -> None:
    assert keep(NewFile("a.pdf", make_pdf(*["x"] * 1_000)), blobs).pages == 1_000


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb\r\n.txt", "a b .txt"),
        ("\u202egpj.exe", "gpj.exe"),
        ("🧵.md", "🧵.md"),
        ("\udcff.txt", "\ufffd.txt"),
        ("", "file"),
        ("x" * 300 + ".pdf", "x" * 187 + "…" + "x" * 8 + ".pdf"),
    ],
)
def test_names_fit_in_a_line(name: str, shown: str) -> None:
    assert shown_name(name) == shown


# What a model gets


def test_a_model_gets_what_it_can_read(blobs: Blobs) -> None:
    picture = keep(PICTURE, blobs)
    paper = keep(NewFile("paper.pdf", make_pdf("Words")), blobs)
    text = keep(NewFile("a.md", b"# Title"), blobs)
    asked = with_files(request(picture, paper, text, TextPart(text="hi")), card(pdf=True), blobs)
    assert asked.rows[0].parts[:2] == (picture, paper)
    assert set(asked.files) == {picture.blob.sha256, paper.blob.sha256}
    assert asked.files[picture.blob.sha256] == PICTURE.data
    assert texts(asked) == ["File “a.md”:\n\n# Title", "hi"]


def test_a_model_that_reads_neither_gets_texts_and_notes(blobs: Blobs) -> None:
    picture = keep(PICTURE, blobs)
    paper = keep(NewFile("paper.pdf", make_pdf("Words", "More")), blobs)
    scan = keep(NewFile("scan.pdf", make_pdf("")), blobs)
    song = MediaPart(media_type="audio/mpeg", name="song.mp3", bytes=1, blob=picture.blob)
    asked = with_files(request(picture, paper, scan, song), card(pictures=False, pdf=False), blobs)
    assert asked.files == {}
    assert texts(asked) == [
        "[picture “photo.png”, left out: this model can't see pictures]",
        "File “paper.pdf” (2 pages):\n\n[page 1]\nWords\n\n[page 2]\nMore",
        "[file “scan.pdf” (1 page), left out: it holds no text, and this model can't read PDF files]",
        "[file “song.mp3”, left out: this model can't read files of this kind]",
    ]


@pytest.mark.parametrize(
    ("pages", "size", "use"),
    [
        (100, 22 * 2**20, Use.WHOLE),
        (101, 1_000, Use.TEXT),
        (1, 22 * 2**20 + 1, Use.TEXT),
        (None, 1_000, Use.WHOLE),
    ],
)
def test_of_a_pdf_no_provider_takes_the_text_goes(pages: int | None, size: int, use: Use) -> None:
    blob = Blob(sha256="0" * 64, bytes=size)
    paper = MediaPart(media_type="application/pdf", name="a.pdf", bytes=size, pages=pages, blob=blob, text_blob=blob)

    assert use_of(paper, card(pdf=True)) is use
    said = readable((paper,), card(pdf=True))
    assert said == (() if use is Use.WHOLE else ("Model M gets only the text of “a.pdf”.",))
    # Without a text there is nothing else to send.
    assert use_of(paper.model_copy(update={"text_blob": None}), card(pdf=True)) is Use.WHOLE


def test_pdf_files_that_are_too_much_together_go_as_text_and_the_earlier_ones_stay(blobs: Blobs) -> None:
    model = card(pictures=True, pdf=True)
    first = keep(NewFile("one.pdf", make_pdf(*["first"] * 60)), blobs)
    second = keep(NewFile("two.pdf", make_pdf(*["second"] * 60)), blobs)
    third = keep(NewFile("three.pdf", make_pdf(*["third"] * 40)), blobs)
    rows = tuple(Row(id=part.name, session="s", role="user", parts=(part,)) for part in (first, second, third))
    asked = with_files(ModelRequest(model="m", system="", rows=rows), model, blobs)
    assert set(asked.files) == {first.blob.sha256, third.blob.sha256}
    assert [text.partition("\n")[0] for text in texts(asked)] == ["File “two.pdf” (60 pages):"]
    before = with_files(ModelRequest(model="m", system="", rows=rows[:1]), model, blobs)
    assert asked.rows[:1] == before.rows
    assert readable((first, second, third), model) == ("Model M gets only the text of “two.pdf”.",)


def test_a_picture_takes_room_that_a_large_pdf_would_need(blobs: Blobs) -> None:
    picture = keep(PICTURE, blobs).model_copy(update={"bytes": 12 * 2**20})
    paper = keep(NewFile("paper.pdf", make_pdf("x")), blobs).model_copy(update={"bytes": 12 * 2**20})
    model = card(pictures=True, pdf=True)
    assert uses_of((picture, paper), model) == (Use.WHOLE, Use.TEXT)
    assert uses_of((paper, picture), model) == (Use.WHOLE, Use.WHOLE)


def test_pictures_go_to_a_model_nobody_knows_and_pdf_files_as_text(blobs: Blobs) -> None:
    picture = keep(PICTURE, blobs)
    paper = keep(NewFile("paper.pdf", make_pdf("Words")), blobs)
    asked = with_files(request(picture, paper), card(), blobs)
    assert list(asked.files) == [picture.blob.sha256]
    assert texts(asked) == ["File “paper.pdf” (1 page):\n\n[page 1]\nWords"]


def test_the_same_rows_give_the_same_request(blobs: Blobs) -> None:
    picture = keep(PICTURE, blobs)
    asked = request(picture, picture, keep(NewFile("a.txt", b"a"), blobs))
    first, second = (with_files(asked, card(), blobs) for _ in range(2))
    assert first == second
    assert list(first.files) == [picture.blob.sha256]


def test_a_request_without_files_stays_as_it_is(blobs: Blobs) -> None:
    asked = request(TextPart(text="hi"))
    assert with_files(asked, card(), blobs) is asked


@pytest.mark.parametrize("damage", ["gone", "altered", "no name"])
def test_a_file_that_is_gone_or_altered_becomes_a_note(damage: str, blobs: Blobs, tmp_path: Path) -> None:
    part = keep(NewFile("a\tb.txt", b"words"), blobs)
    path = tmp_path / "blobs" / part.blob.sha256
    match damage:
        case "gone":
            path.unlink()
        case "altered":
            path.write_bytes(b"other")
        case _:
            part = part.model_copy(update={"blob": Blob(sha256="../../chat.jsonl", bytes=5)})
    asked = with_files(request(part, TextPart(text="hi")), card(), blobs)
    assert texts(asked) == ["[file “a b.txt”, left out: its copy in this chat is gone or was altered]", "hi"]


def test_what_will_be_left_out_is_said_before(blobs: Blobs) -> None:
    picture = keep(PICTURE, blobs)
    paper = keep(NewFile("paper.pdf", make_pdf("Words")), blobs)
    scan = keep(NewFile("scan.pdf", make_pdf("")), blobs)
    text = keep(NewFile("a.txt", b"a"), blobs)
    every = (picture, paper, scan, text)
    assert readable(every, card(pictures=True, pdf=True)) == ()
    assert readable((picture, text), card()) == ()
    assert readable(every, card(pictures=False, pdf=False)) == (
        "Model M can't see pictures and won't get “photo.png”.",
        "Model M can't read PDF files, and no text was found in “scan.pdf”.",
        "Model M gets only the text of “paper.pdf”.",
    )
    assert readable([picture] * 4, card(pictures=False)) == ("Model M can't see pictures and won't get 4 files.",)


# In a chat


async def test_a_message_may_be_a_file_alone(program: Program) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, NewFile("a.txt", b"words"))
    program.provider.play(reply("ok"))
    outcome = await program.manager.send(chat.session, UserInput(program.new_id(), "", (part,)))
    assert outcome == Accepted()
    await chat.idle()
    assert chat.rows()[0].parts == (part,)
    assert (chat.files.blobs / part.blob.sha256).read_bytes() == b"words"
    assert texts(program.provider.requests[0]) == ["File “a.txt”:\n\nwords"]
    assert [summary.title for summary in await program.manager.list_chats()] == ["a.txt"]


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
async def test_a_chat_that_begins_with_a_file_alone_has_its_name(program: Program, text: str) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, NewFile("notes.md", b"words"))
    program.provider.play(reply("ok"), reply("ok"))
    await program.manager.send(chat.session, UserInput(program.new_id(), text, (part,)))
    await chat.idle()
    await chat.say("and more")
    assert [summary.title for summary in await program.manager.list_chats()] == ["notes.md"]
    await program.manager.leave_chat(chat.session)
    chat.files.meta.unlink()
    assert [summary.title for summary in await program.manager.list_chats()] == ["notes.md"]


async def test_a_file_stays_in_the_chat_for_later_turns_and_after_a_restart(program: Program) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, PICTURE)
    program.provider.play(reply("a house"), reply("red"))
    await program.manager.send(chat.session, UserInput(program.new_id(), "what is it?", (part,)))
    await chat.idle()
    await program.restart()
    await program.manager.open_chat(chat.session)
    await chat.say("which colour?")
    assert program.provider.requests[1].files == {part.blob.sha256: PICTURE.data}


async def test_a_draft_keeps_its_files(program: Program) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, PICTURE)
    await program.manager.save_draft(chat.session, DraftContent("look", (part,)))
    await program.restart()
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent("look", (part,))


async def test_sending_drops_only_the_draft_that_was_sent(program: Program) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, PICTURE)
    program.provider.play(reply("ok"), reply("ok"))
    await program.manager.save_draft(chat.session, DraftContent("look", (part,)))
    await chat.say("look")
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent("look", (part,))
    await program.manager.send(chat.session, UserInput(program.new_id(), "look", (part,)))
    await chat.idle()
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent()


async def test_a_broken_entry_of_a_draft_is_dropped_and_the_rest_kept(program: Program) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, PICTURE)
    broken: list[object] = [None, 7, {}, {"media_type": "x"}, part.model_dump(mode="json") | {"bytes": "many"}]
    gone = part.model_dump(mode="json") | {"blob": {"sha256": "0" * 64, "bytes": 1}}
    outside = part.model_dump(mode="json") | {"blob": {"sha256": "../session.json", "bytes": 1}}
    entries = [*broken, part.model_dump(mode="json"), gone, outside]
    chat.files.draft.write_text(json.dumps({"text": "kept", "attachments": entries}))
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent("kept", (part,))
    chat.files.draft.write_text(json.dumps({"text": "kept", "attachments": {"no": "list"}}))
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent("kept")


async def test_what_is_saved_while_the_draft_that_was_sent_is_dropped_stays(program: Program) -> None:
    chat = await program.new_chat()
    draft = DraftFile(chat.files)
    await draft.save(DraftContent("sent"))
    await asyncio.gather(draft.drop("sent"), draft.save(DraftContent("new")))
    assert await draft.load() == DraftContent("new")
    await asyncio.gather(draft.save(DraftContent("sent")), draft.save(DraftContent("sent")), draft.drop("sent"))
    assert await draft.load() == DraftContent()


async def test_a_broken_draft_is_left_to_the_process_that_holds_the_chat(program: Program) -> None:
    chat = await program.new_chat()
    other = Program(program.root, new_id=program.new_id)
    chat.files.draft.write_text("{")
    opened = await other.manager.open_chat(chat.session)
    assert (opened.access, opened.draft) == (Access.HELD_ELSEWHERE, DraftContent())
    assert chat.files.draft.read_text() == "{"
    await other.manager.close()
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent()
    assert not chat.files.draft.exists()


async def test_a_file_joins_the_draft_of_a_chat_that_is_not_shown(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.save_draft(chat.session, DraftContent("text"))
    await program.manager.leave_chat(chat.session)
    part = await program.manager.attach(chat.session, PICTURE)
    await program.manager.add_to_draft(chat.session, part)
    await program.manager.add_to_draft(chat.session, part)
    assert chat.files.lease.probe() is None
    assert (await program.manager.open_chat(chat.session)).draft == DraftContent("text", (part,))


async def test_attaching_does_not_bring_back_a_deleted_chat(program: Program) -> None:
    chat = await program.new_chat()
    await program.manager.delete_chat(chat.session)
    with pytest.raises(ChatNotFound):
        await program.manager.attach(chat.session, PICTURE)
    with pytest.raises(ChatNotFound):
        Blobs(chat.files.blobs).put(b"late")
    assert not chat.files.folder.exists()


async def test_a_disk_that_refuses_keeps_nothing_and_says_so(program: Program) -> None:
    chat = await program.new_chat()
    chat.files.blobs.write_text("in the way")
    with pytest.raises(StorageError, match="can't be saved"):
        await program.manager.attach(chat.session, PICTURE)
    assert chat.files.blobs.read_text() == "in the way"


async def test_a_chat_that_another_program_holds_takes_no_files(program: Program) -> None:
    chat = await program.new_chat()
    other = Program(program.root, provider=program.provider)
    await other.manager.open_chat(chat.session)
    with pytest.raises(ChatInUse):
        await other.manager.attach(chat.session, PICTURE)
    await other.manager.close()


async def test_the_content_of_a_file_can_be_asked_for(program: Program) -> None:
    chat = await program.new_chat()
    part = await program.manager.attach(chat.session, PICTURE)
    assert await program.manager.attached_file(chat.session, part.blob.sha256) == PICTURE.data
    with pytest.raises(StorageError):
        await program.manager.attached_file(chat.session, "../session.json")
