"""Context windows as files for other programs, from real histories."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.domain.chats import ChatSummary
from app.domain.errors import HistoryChanged, StorageError
from app.domain.exports import ExportKind, ExportReport
from app.domain.rows import (
    Blob,
    Boundary,
    ErrorInfo,
    Flag,
    MediaPart,
    ReasoningPart,
    RequestInfo,
    Row,
    TextPart,
    ToolPart,
    Usage,
)
from app.domain.windows import WindowInfo, WindowKind
from app.exchange.window_file import write_window
from app.exchange.window_rows import Heading
from app.history.blobs import Blobs, fit_row
from app.history.codec import encode_row
from app.history.files import ChatFiles
from app.history.reader import HistoryReader
from app.history.store import Store
from tests.unit.history.rows import text_row

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
CHAT = ChatSummary(id="s1", title="Trip to Kyoto", created=NOW, updated=NOW, model="p/m")


class Written:
    """A history to export from."""

    def __init__(self, root: Path) -> None:
        self.files = ChatFiles(root / "chat")
        self.files.folder.mkdir(exist_ok=True)
        self.path = root / "out.txt"
        self.seq = 0

    def row(self, text: str = "", **fields: Any) -> Row:
        self.seq += 1
        parts = (TextPart(text=text),) if text else ()
        given = {"id": f"r{self.seq}", "session": "s1", "seq": self.seq, "role": "user", "created": NOW, "parts": parts}
        return Row.model_validate({**given, **fields})

    def add(self, *rows: Row | bytes, to: str = "chat") -> int:
        """Add lines; return where they begin in the history."""
        path = self.files.chat if to == "chat" else self.files.archive
        before = sum(file.stat().st_size for file in (self.files.archive, self.files.chat) if file.exists())
        with path.open("ab") as file:
            file.writelines((line if isinstance(line, bytes) else encode_row(line)) + b"\n" for line in rows)
        return before

    def export(
        self,
        kind: ExportKind,
        *,
        start: int = 0,
        began: WindowKind = "first",
        go_on: Callable[[], None] = lambda: None,
        **fields: Any,
    ) -> ExportReport:
        window = WindowInfo(id="w:0", number=1, kind=began, start=start, end=1 << 40, rows=0, **fields)
        heading = Heading(CHAT, window, exported=NOW)
        return write_window(self.path, kind, HistoryReader(self.files), heading, go_on)

    def markdown(self, *rows: Row | bytes) -> str:
        self.add(*rows)
        self.export("markdown")
        return self.path.read_text("utf-8")

    def json(self, *rows: Row | bytes) -> dict[str, Any]:
        self.add(*rows)
        self.export("json")
        found: dict[str, Any] = json.loads(self.path.read_bytes())
        return found


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def reply(written: Written, *parts: object, **fields: Any) -> Row:
    request = RequestInfo(provider="practice", model="practice")
    return written.row(role="assistant", request=request, parts=parts, **fields)


def test_markdown_says_who_said_what_and_when(written: Written) -> None:
    text = written.markdown(written.row("Which *temples*?\n\n# none"), reply(written, TextPart(text="Three.")))
    local = f"{NOW.astimezone():%Y-%m-%d %H:%M}"
    assert text.startswith("# Trip to Kyoto\n")
    assert f"## You · {local}\n\nWhich *temples*?\n\n# none\n" in text
    assert f"## Assistant (practice/practice) · {local}\n\nThree.\n" in text


def test_only_the_window_is_exported(written: Written) -> None:
    written.add(written.row("before"), to="archive")
    start = written.add(written.row(boundary=Boundary(kind="rollover"), kind="rollover"), to="archive")
    written.add(written.row("inside"), to="archive")
    written.add(written.row("inside too"))
    written.add(written.row(boundary=Boundary(kind="reset"), kind="reset"), written.row("behind"))
    report = written.export("markdown", start=start, began="rollover")
    text = written.path.read_text("utf-8")
    assert report.rows == 2
    assert "inside\n" in text
    assert "inside too\n" in text
    assert "before\n" not in text
    assert "behind" not in text


def test_a_summary_that_opens_a_window_is_exported_with_it(written: Written) -> None:
    start = written.add(
        written.row("what was before", boundary=Boundary(kind="compaction"), kind="compaction"), written.row("next")
    )
    assert written.export("markdown", start=start, began="compaction").rows == 2
    text = written.path.read_text("utf-8")
    assert "## Summary of what was before" in text
    assert text.index("what was before\n") < text.index("next\n")


def test_a_window_above_the_floor_is_exported_and_says_so(written: Written) -> None:
    written.add(written.row("secret"))
    written.export("markdown", is_above_floor=True)
    text = written.path.read_text("utf-8")
    assert "secret" in text
    assert "no model reads it any more" in text


@pytest.mark.parametrize("output", ["```\nfence\n```", "`````", "plain", "a ```` b"])
def test_no_text_of_a_tool_ends_its_fence(written: Written, output: str) -> None:
    call = ToolPart(call_id="c", name="read_file", input={"path": "a"}, state="done", output=output)
    lines = written.markdown(reply(written, call)).split("\n")
    assert '{"path":"a"}' in lines
    opened = lines[lines.index("Result:") + 2]
    assert set(opened) == {"`"}
    closed = lines.index(opened, lines.index("Result:") + 3)
    assert "\n".join(lines[lines.index("Result:") + 3 : closed]) == output


def test_reasoning_is_folded_and_can_not_end_its_fold(written: Written) -> None:
    text = written.markdown(reply(written, ReasoningPart(text="one\n\ntwo"), ReasoningPart(text="a </details> b")))
    assert "<details>\n<summary>Reasoning</summary>\n\n> one\n>\n> two\n\n</details>" in text
    assert "**Reasoning**\n\n> a </details> b" in text


def test_long_texts_are_whole(written: Written) -> None:
    blobs = Blobs(written.files.blobs)
    long_text = "word " * 300_000
    row = fit_row(reply(written, TextPart(text=long_text)), blobs)
    tool = fit_row(reply(written, ToolPart(call_id="c", name="t", state="done", output={"x": long_text})), blobs)
    found = written.json(row, tool)
    assert found["rows"][0]["parts"] == [{"type": "text", "text": long_text}]
    assert found["rows"][1]["parts"][0]["output"] == {"x": long_text}
    assert found["left_out"] == {}


def test_a_long_text_that_is_gone_is_told(written: Written) -> None:
    part = TextPart(text="begin … end", blob=Blob(sha256="0" * 64, bytes=2_000_000))
    written.add(written.row(parts=(part,)))
    assert written.export("json") == ExportReport(rows=1, missing=1)
    found = json.loads(written.path.read_bytes())
    assert found["rows"][0]["parts"] == [{"type": "text", "text": "begin … end", "is_cut": True}]
    assert found["left_out"] == {"missing": 1}
    written.export("markdown")
    assert "1 long text was gone" in written.path.read_text("utf-8")


def test_damage_is_counted_and_told_where_it_lies(written: Written) -> None:
    written.add(written.row("one"), b"{broken", b"7", b'{"x":"' + b"x" * 2**20 + b'"}', written.row("two"))
    report = written.export("json")
    assert report == ExportReport(rows=2, damaged=2, oversized=1)
    assert not report.is_whole
    rows = json.loads(written.path.read_bytes())["rows"]
    assert rows[1] == {"left_out": {"damaged": 2}}
    assert rows[2]["left_out"]["oversized_bytes"] > 2**20
    written.export("markdown")
    text = written.path.read_text("utf-8")
    assert "2 damaged entries are left out" in text
    assert "1 entry of 1.0 MB is too long" in text


def test_what_is_said_to_the_model_alone_is_left_out(written: Written) -> None:
    written.add(
        written.row("said"),
        written.row("Continue", kind="continue", flags=(Flag.HIDDEN,)),
        written.row("said", copy_of="r1"),
        written.row("too long", flags=(Flag.REJECTED,)),
    )
    assert written.export("markdown") == ExportReport(rows=2, hidden=2)
    text = written.path.read_text("utf-8")
    assert "Continue" not in text
    assert "too long\n\n*This message was not sent.*" in text


def test_how_a_reply_ended_is_told(written: Written) -> None:
    failed = ErrorInfo(kind="network", detail="The *line*\nbroke.")
    text = written.markdown(
        reply(written, TextPart(text="half"), flags=(Flag.INTERRUPTED,)), reply(written, error=failed)
    )
    assert "half\n\n*Interrupted here.*" in text
    assert "*The reply failed: The \\*line\\* broke.*" in text


def test_json_has_what_the_format_page_says(written: Written) -> None:
    part = ReasoningPart(text="hm", replay={"signature": "sig"})
    file = MediaPart(media_type="application/pdf", name="a.pdf", bytes=7, pages=2, blob=Blob(sha256="1" * 64, bytes=7))
    row = reply(written, part, TextPart(text="Yes."), usage=Usage(input=14, output=3))
    found = written.json(written.row(parts=(file, {"type": "new"})), row)
    assert (found["format"], found["version"]) == ("muntin-window", 1)
    assert found["chat"] == {"title": "Trip to Kyoto", "created": "2026-11-30T14:02:00Z", "model": "p/m"}
    assert found["window"]["id"] == "w:0"
    asked, answered = found["rows"]
    assert asked["parts"][0]["sha256"] == "1" * 64
    assert asked["parts"][1] == {"type": "unknown", "name": "new"}
    assert answered["usage"] == {"input": 14, "output": 3}
    assert answered["model"] == "practice/practice"
    assert answered["parts"] == [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Yes."}]
    assert "sig" not in written.path.read_text("utf-8")


def test_each_row_has_a_line_of_its_own(written: Written) -> None:
    written.json(written.row("one\u2028two"), written.row("three"))
    lines = written.path.read_bytes().split(b"\n")
    assert [json.loads(line.removesuffix(b","))["seq"] for line in lines[1:3]] == [1, 2]


@pytest.mark.parametrize("kind", ["markdown", "json"])
def test_an_empty_window_is_a_file_too(written: Written, kind: ExportKind) -> None:
    assert written.export(kind) == ExportReport()
    assert written.path.stat().st_size > 0


@pytest.mark.parametrize("kind", ["markdown", "json"])
def test_a_row_nested_too_deeply_is_left_out(written: Written, kind: ExportKind) -> None:
    deep = b'{"v":1,"id":"d","session":"s1","seq":9,"role":"user","parts":[{"type":"tool","call_id":"c","name":"t",'
    deep += b'"state":"done","output":' + b"[" * 900 + b'"\\ud800"' + b"]" * 900 + b"}]}"
    written.add(written.row("one"), deep, written.row("two"))
    report = written.export(kind)
    assert report.rows + report.damaged == 3
    assert b"two" in written.path.read_bytes()


def test_a_chats_title_can_not_make_markdown(written: Written) -> None:
    chat = ChatSummary(id="s1", title="a\n# b <i>", created=NOW, updated=NOW, model="p/m")
    window = WindowInfo(id="w:0", number=1, kind="first", start=0, end=0, rows=0)
    reader = HistoryReader(written.files)
    write_window(written.path, "markdown", reader, Heading(chat, window, NOW), lambda: None)
    assert written.path.read_text("utf-8").startswith("# a \\# b \\<i\\>\n")


def test_a_file_that_was_there_is_replaced_as_a_whole(written: Written) -> None:
    written.path.write_text("old " * 1000)
    written.add(written.row("new"))
    written.export("markdown")
    assert "old" not in written.path.read_text("utf-8")
    assert not list(written.path.parent.glob(".muntin-*"))


def test_an_export_that_is_given_up_keeps_what_was_there(written: Written) -> None:
    written.path.write_text("old")
    written.add(written.row("new"))

    def go_on() -> None:
        raise StorageError("given up")

    with pytest.raises(StorageError, match="given up"):
        written.export("markdown", go_on=go_on)
    assert written.path.read_text() == "old"
    assert not list(written.path.parent.glob(".muntin-*"))


def test_a_chat_that_is_rewritten_meanwhile_is_no_file_of_two_halves(written: Written) -> None:
    store = Store(written.files, session="s1")
    for start in range(0, 1200, 200):
        rows = [text_row(f"r{n}", "x" * 1000).model_copy(update={"batch": None}) for n in range(start, start + 200)]
        store.append(rows, expected_last_seq=start)
    written.path.write_text("old")
    rewrites = iter([True])

    def go_on() -> None:
        if next(rewrites, False):
            store.rewrite(lambda row: None if row.id == "r3" else row)

    with pytest.raises(HistoryChanged):
        written.export("markdown", go_on=go_on)
    assert written.path.read_text() == "old"
    assert written.export("markdown").rows == 1199


def test_refusals_are_sentences(written: Written, tmp_path: Path) -> None:
    written.path = tmp_path / "gone" / "out.md"
    with pytest.raises(StorageError, match=r"^“out.md” can't be saved: the folder is not there\.$"):
        written.export("markdown")
    written.path = tmp_path / "folder"
    written.path.mkdir()
    with pytest.raises(StorageError, match="there is a folder of that name"):
        written.export("markdown")
    assert not list(tmp_path.glob(".muntin-*"))


def test_a_full_disk_keeps_what_was_there(written: Written) -> None:
    written.add(written.row("x" * 5000))
    written.path.write_text("old")
    script = f"""
import resource, signal
from pathlib import Path
from app.domain.errors import StorageError
from tests.unit.exchange.test_window_export import Written
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
written = Written(Path({str(written.path.parent)!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    written.export("markdown")
except StorageError as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert "refused: “out.txt” can't be saved" in done.stdout, done.stderr
    assert written.path.read_text() == "old"
    assert not list(written.path.parent.glob(".muntin-*"))
