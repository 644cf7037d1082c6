"""`read_file`: lines that fit, how to go on, and texts however they are written."""

import re
from dataclasses import replace

import pytest

from app.pdf import read_pages
from app.tools.cap import Cap
from app.tools.folder_arguments import ReadFile
from app.tools.folder_read import MOST_PAGES, Stretch
from app.tools.folder_stop import Stop, Stopped
from app.tools.folder_text import Lines, Span, decode
from tests.fakes.pdf import make_pdf
from tests.unit.tools.folder_desk import FolderDesk
from tests.unit.tools.history_chat import COUNTER


def body(answer: str) -> str:
    return answer.split("\n\n", 1)[1]


def going_on(answer: str) -> dict[str, int]:
    """Return what the first line of an answer says to go on with."""
    _, _, rest = answer.split("\n", maxsplit=1)[0].partition("Go on with ")
    return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", rest)}


async def test_a_short_file_comes_whole(desk: FolderDesk) -> None:
    desk.put("plan.md", "one\n\nthree\n")
    desk.put("line", "only")
    desk.put("empty")

    assert await desk.text("read_file", path="plan.md") == "plan.md: all 3 lines.\n\none\n\nthree"
    assert await desk.text("read_file", path="line") == "line: its only line.\n\nonly"
    assert await desk.text("read_file", path="empty") == "empty is empty."


async def test_lines_are_chosen_and_the_answer_says_how_to_go_on(desk: FolderDesk) -> None:
    desk.put("n.txt", "".join(f"{number}\n" for number in range(1, 11)))

    assert await desk.text("read_file", path="n.txt", start_line=3, max_lines=2) == (
        "n.txt: lines 3 to 4 of 10. Go on with start_line=5.\n\n3\n4"
    )
    assert await desk.text("read_file", path="n.txt", start_line=10) == "n.txt: line 10 of 10.\n\n10"
    assert await desk.text("read_file", path="n.txt", start_line="9") == "n.txt: lines 9 to 10 of 10.\n\n9\n10"
    assert await desk.fault("read_file", path="n.txt", start_line=11) == (
        "n.txt has 10 lines; start_line=11 is behind its end."
    )


@pytest.mark.parametrize("limit", [None, 200_000, 8_000, 1_000])
async def test_a_long_file_comes_in_pieces_that_make_the_whole(desk: FolderDesk, limit: int | None) -> None:
    text = "".join(f"line {number} {'狐 fox ' * (number % 9)}\n" for number in range(1, 601))
    desk.put("long.txt", text)
    desk.limit = limit
    arguments: dict[str, int] = {"start_line": 1}
    pieces: list[str] = []

    while arguments:
        answer = await desk.text("read_file", path="long.txt", **arguments)
        assert len(answer.encode()) <= 16_384
        pieces.append(body(answer))
        arguments = going_on(answer)

    assert len(pieces) > 1
    assert "\n".join(pieces) + "\n" == text


async def test_a_very_long_line_is_cut_by_characters(desk: FolderDesk) -> None:
    line = "".join(f"{number}, " for number in range(20_000))
    desk.put("data.json", f"first\n{line}\nlast\n")
    answer = await desk.text("read_file", path="data.json", start_line=2)
    assert answer.startswith(f"data.json: line 2 of 3, characters 0 to {len(body(answer))} of {len(line)}. Go on with")
    pieces = [body(answer)]

    while "start_char" in (arguments := going_on(answer)):
        answer = await desk.text("read_file", path="data.json", **arguments)
        pieces.append(body(answer))

    assert "".join(pieces) == line
    assert "line 2 of 3, from character" in answer
    assert going_on(answer) == {"start_line": 3}
    assert "is behind its end" in await desk.fault("read_file", path="data.json", start_line=1, start_char=6)


async def test_twenty_megabytes_are_read_like_any_other_file(desk: FolderDesk) -> None:
    desk.put("large.txt", b"0123456789abcde\n" * 1_250_000)

    answer = await desk.text("read_file", path="large.txt", start_line=1_249_999)

    assert answer == "large.txt: lines 1249999 to 1250000 of 1250000.\n\n0123456789abcde\n0123456789abcde"


async def test_a_file_over_the_limit_is_refused_without_reading_it(desk: FolderDesk) -> None:
    with (desk.root / "huge.txt").open("wb") as file:
        file.truncate(25_000_001)

    assert await desk.fault("read_file", path="huge.txt") == "“huge.txt” is too large: 25.0 MB, of at most 25 MB."


@pytest.mark.parametrize(
    ("data", "coding"),
    [
        ("grün 狐".encode(), ""),
        (b"\xef\xbb\xbf" + "grün 狐".encode(), ""),
        ("grün 狐".encode("utf-16"), " (UTF-16)"),
        (b"\xfe\xff" + "grün 狐".encode("utf-16-be"), " (UTF-16)"),
        ("grün „so“".encode("cp1252"), " (Windows-1252)"),
        (b"gr\xfcn \x81", " (Latin-1)"),
    ],
)
async def test_texts_are_read_however_they_are_written(desk: FolderDesk, data: bytes, coding: str) -> None:
    desk.put("text", data)

    answer = await desk.text("read_file", path="text")

    assert answer.startswith(f"text: its only line.{coding}\n\ngrün ")


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0", b"a\0b", b"\xff\xfe\0", b"\xff\xfe\0\0a\0\0\0", bytes(range(256))]
)
async def test_what_is_no_text_is_refused_in_words(desk: FolderDesk, data: bytes) -> None:
    desk.put("x.bin", data)

    assert "is no text and no PDF file" in await desk.fault("read_file", path="x.bin")


async def test_line_ends_of_every_system_read_alike(desk: FolderDesk) -> None:
    for name, end in (("unix", "\n"), ("windows", "\r\n"), ("mac", "\r")):
        desk.put(name, f"one{end}two{end}")
        assert await desk.text("read_file", path=name) == f"{name}: all 2 lines.\n\none\ntwo"


async def test_a_pdf_file_is_read_page_by_page(desk: FolderDesk) -> None:
    desk.put("report.pdf", make_pdf("first page", "", "third page"))

    assert await desk.text("read_file", path="report.pdf") == (
        "report.pdf: pages 1 to 3 of 3.\n\n[page 1]\nfirst page\n\n[page 2: no text]\n\n[page 3]\nthird page"
    )
    assert await desk.text("read_file", path="report.pdf", page=3) == (
        "report.pdf: page 3 of 3.\n\n[page 3]\nthird page"
    )
    assert await desk.text("read_file", path="report.pdf", page=3, max_lines=1) == (
        "report.pdf, page 3 of 3: its only line.\n\nthird page"
    )
    assert "page=4 is behind its end" in await desk.fault("read_file", path="report.pdf", page=4)


async def test_a_long_pdf_file_goes_on_with_the_next_page(desk: FolderDesk) -> None:
    desk.put("long.pdf", make_pdf(*(f"page {number} {'word ' * 40}" for number in range(1, 31))))
    desk.limit = 1_600
    arguments: dict[str, int] = {"page": 1}
    answers: list[str] = []

    while arguments:
        answers.append(await desk.text("read_file", path="long.pdf", **arguments))
        arguments = going_on(answers[-1])

    assert len(answers) > 3
    assert re.findall(r"\[page (\d+)\]", "\n".join(answers)) == [str(number) for number in range(1, 31)]


def test_a_page_too_long_for_an_answer_goes_on_inside_of_it(desk: FolderDesk) -> None:
    stretch = Stretch("wide.pdf, page 2 of 2", ["word " * 400] * 20, ReadFile(path="x", page=2), going_on="page=2, ")

    some, part = (stretch.fitted(Cap.of(replace(desk.context, limit=limit), COUNTER)) for limit in (20_000, 2_000))

    assert some is not None
    assert part is not None
    assert some.startswith("wide.pdf, page 2 of 2: lines 1 to ")
    assert set(going_on(some)) == {"page", "start_line"}
    assert part.startswith("wide.pdf, page 2 of 2: line 1 of 20, characters 0 to ")
    assert set(going_on(part)) == {"page", "start_line", "start_char"}


async def test_a_thousand_pages_without_text_are_read_in_stretches_and_may_be_stopped(desk: FolderDesk) -> None:
    desk.put("scan.pdf", make_pdf(*[""] * 1_000, "the end"))

    first = await desk.text("read_file", path="scan.pdf")
    last = await desk.text("read_file", path="scan.pdf", page=1_001)

    assert first.startswith(f"scan.pdf: pages 1 to {MOST_PAGES} of 1001. They hold no text")
    assert f"Go on with page={MOST_PAGES + 1}." in first
    assert last == "scan.pdf: page 1001 of 1001.\n\n[page 1001]\nthe end"
    stop = Stop()
    pages = read_pages(desk.data("scan.pdf"), first=990, most_chars=9, most_pages=99, go_on=stop.check)
    assert pages.texts == ("",) * 11 + ("the end",)
    stop.set()
    with pytest.raises(Stopped):
        read_pages(desk.data("scan.pdf"), first=1, most_chars=9, most_pages=9, go_on=stop.check)


async def test_pdf_files_without_text_or_with_a_lock_say_so(desk: FolderDesk) -> None:
    desk.put("scan.pdf", make_pdf("", ""))
    desk.put("locked.pdf", make_pdf("x", is_locked=True))
    desk.put("broken.pdf", b"%PDF-1.4 nonsense")

    assert "They hold no text" in await desk.text("read_file", path="scan.pdf")
    assert "locked by a password" in await desk.fault("read_file", path="locked.pdf")
    assert "is broken" in await desk.fault("read_file", path="broken.pdf")


async def test_a_window_too_small_for_a_character_is_told(desk: FolderDesk) -> None:
    desk.put("a.txt", "x" * 100)
    desk.limit = 40

    assert "context window is too small" in await desk.fault("read_file", path="a.txt")


async def test_without_a_folder_every_tool_says_so(desk: FolderDesk) -> None:
    for name, tool in desk.tools.items():
        arguments = {"path": "a", "query": "a", "content": "a", "old_text": "a", "new_text": "b"}
        context = replace(desk.context, folder=None)

        outcome = await tool.run(arguments, context)

        assert outcome.is_error
        assert outcome.output == "No folder is attached to this chat. The user can attach one.", name
        assert await tool.question(arguments, context) is None


@pytest.mark.parametrize(
    ("raw", "newline"),
    [("a\nb\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\nb\nc\r\n", "\n"), ("a\rb", "\r"), ("", "\n"), ("\r\n", "\r\n")],
)
def test_untouched_line_ends_stay_as_they_were(raw: str, newline: str) -> None:
    lines = Lines(raw)

    assert lines.newline == newline
    assert lines.replaced((), "x") == raw
    end = len(lines.text)
    assert lines.replaced([Span(end, end)], "x\ny") == f"{raw}x{newline}y"
    for at, char in enumerate(lines.text):
        assert lines.replaced([Span(at, at + 1)], char).replace("\r\n", "\n").replace("\r", "\n") == lines.text


def test_a_text_goes_back_as_it_was_written() -> None:
    for data in ("grün\r\n".encode("utf-16"), b"\xef\xbb\xbfx", b"gr\xfcn", b""):
        found = decode(data)
        assert found is not None
        assert found.encoded(found.text) == data
