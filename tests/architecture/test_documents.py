"""What the documents say of the repository is there: links, decisions, commands, fields, files."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from pydantic import BaseModel

from app.domain import errors, rows
from app.domain.rows import BOUNDARY_KINDS, Flag, Kind, Row
from app.history.codec import decode_line, encode_row
from app.history.files import ChatFiles

ROOT = Path(__file__).resolve().parents[2]
FORMAT = ROOT / "docs" / "history-format.md"

MADE_BY_SCRIPTS = (ROOT / "docs" / "performance.md", ROOT / "docs" / "images")
"""Made by `make bench` and `make screenshots`. Until they are there for the first time, links may lead to them."""
PLANNED_MODULES = {"wire.py", "api.py"}
"""What a provider to come will consist of."""
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(<?([^)>\s]+)>?(?: \"[^\"]*\")?\)")
CODE = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"(?:\w+\.)*(?!(?:py|toml|json|md)\b)\w+(?:\(.*\))?")
"""A name of the code as the pages write it, `Class.method(arguments)`; no paths, no commands."""
ADR_NUMBER = re.compile(r"ADR-(\d{4})")
MAKE_TARGET = re.compile(r"\bmake (?:-\S+ )*([a-z]+)\b")
SECTIONS = ["Status", "Context", "Decision", "Consequences"]


def documents() -> list[Path]:
    """All Markdown files of the repository."""
    folders = ("adr", "docs", "resources", "packaging", "tests")
    return sorted([*ROOT.glob("*.md"), *(path for name in folders for path in (ROOT / name).rglob("*.md"))])


def decisions() -> list[Path]:
    return sorted((ROOT / "adr").glob("[0-9]*.md"))


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_resolve(document: Path) -> None:
    text = FENCE.sub("", document.read_text("utf-8"))
    assert [link for link in LINK.findall(text) if not _resolves(link, document)] == []


def test_every_decision_is_in_the_index_under_its_title() -> None:
    index = (ROOT / "adr" / "README.md").read_text("utf-8")
    missing = []
    for path in decisions():
        number, title = _title(path)
        assert path.name.startswith(number)
        if f"[{number}]({path.name})" not in index or title not in index:
            missing.append(path.name)
    assert missing == []
    assert [f"{number:04}" for number in range(1, len(decisions()) + 1)] == [path.name[:4] for path in decisions()]


@pytest.mark.parametrize("decision", decisions(), ids=lambda path: path.name)
def test_a_decision_has_its_four_sections_and_stays_short(decision: Path) -> None:
    text = decision.read_text("utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS
    assert 20 <= len(text.splitlines()) <= 60


def test_decisions_that_are_referred_to_exist() -> None:
    known = {path.name[:4] for path in decisions()}
    wrong = [
        f"{path.relative_to(ROOT)}: ADR-{number}"
        for path in _sources()
        for number in ADR_NUMBER.findall(path.read_text("utf-8"))
        if number not in known
    ]
    assert wrong == []


def test_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"run", "test"} <= targets
    named = {
        (document.name, target)
        for document in documents()
        for code in _code(document.read_text("utf-8"))
        for target in MAKE_TARGET.findall(code)
    }
    assert ("README.md", "run") in named
    assert sorted((name, target) for name, target in named if target not in targets) == []


def test_modules_that_the_architecture_page_names_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"\b\w+\.py\b", text)) - PLANNED_MODULES
    there = {path.name for folder in ("app", "tests") for path in (ROOT / folder).rglob("*.py")}
    assert len(named) > 50
    assert sorted(named - there) == []


def test_names_that_the_architecture_page_uses_are_in_the_code() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "app").rglob("*.py"))
    in_code = set(re.findall(r"\w+", code))
    pieces = [piece for piece in CODE.findall(FENCE.sub("", text)) if NAME.fullmatch(piece)]
    names = {name for piece in pieces for name in re.findall(r"\w+", piece.partition("(")[0])}
    assert len(names) > 60
    assert sorted(names - in_code) == []


def test_the_architecture_page_names_every_error() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    known = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    drawn = set(re.findall(r"^[│ ]*[├└]── (\w+)", text, re.MULTILINE)) | {"MuntinError"}
    assert drawn == known


def test_the_format_page_names_every_field_of_a_row_and_its_parts() -> None:
    named = set(CODE.findall(FENCE.sub("", FORMAT.read_text("utf-8"))))
    assert [f"{model.__name__}.{field}" for model, field in _fields() if field not in named] == []


def test_the_format_page_names_every_value_that_is_written() -> None:
    named = set(CODE.findall(FENCE.sub("", FORMAT.read_text("utf-8"))))
    values = {*_constants(Flag), *_constants(Kind), *BOUNDARY_KINDS}
    assert sorted(values - named) == []


def test_the_format_page_names_every_file_of_a_chat(tmp_path: Path) -> None:
    files = ChatFiles(tmp_path)
    paths = {value for value in vars(files).values() if isinstance(value, Path)} - {tmp_path}
    with files.appending():
        files.lease.take()
        paths |= set(tmp_path.iterdir())
        files.lease.release()
    assert {"chat.jsonl", "append.lock", "session.lock"} <= {path.name for path in paths}
    text = FORMAT.read_text("utf-8")
    assert sorted(path.name for path in paths if path.name not in text) == []


def test_the_rows_on_the_format_page_are_what_is_written() -> None:
    lines = [line.strip() for line in FORMAT.read_text("utf-8").splitlines() if line.startswith('{"v":')]
    lines = [line for line in lines if not line.startswith('{"v":1,"branch":')]
    assert len(lines) >= 3
    for line in lines:
        row = decode_line(line.encode("utf-8"))
        assert isinstance(row, Row), line
        assert encode_row(row).decode("utf-8") == line


def _resolves(link: str, document: Path) -> bool:
    if re.match(r"[a-z]+:", link):
        return True
    name, _, anchor = unquote(link).partition("#")
    target = (document.parent / name).resolve() if name else document
    if not target.exists():
        return any(made in (target, target.parent) and not made.exists() for made in MADE_BY_SCRIPTS)
    return not anchor or anchor in _anchors(target)


def _anchors(document: Path) -> set[str]:
    """Return the anchors of a page's headings, made the way code forges make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", document.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _title(decision: Path) -> tuple[str, str]:
    first = decision.read_text("utf-8").splitlines()[0]
    found = re.fullmatch(r"# (\d{4})\. (.+)", first)
    assert found is not None, first
    return found[1], found[2]


def _sources() -> Iterator[Path]:
    yield from (ROOT / "Makefile", ROOT / "pyproject.toml", ROOT / "README.md")
    for folder in ("app", "tests", "packaging", "docs", "adr", "resources"):
        for suffix in ("py", "sh", "md"):
            yield from (ROOT / folder).rglob(f"*.{suffix}")


def _code(text: str) -> Iterator[str]:
    """Yield fenced blocks and pieces of inline code."""
    yield from (found[0] for found in FENCE.finditer(text))
    yield from CODE.findall(FENCE.sub("", text))


def _fields() -> Iterator[tuple[type[BaseModel], str]]:
    for model in vars(rows).values():
        if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == rows.__name__:
            yield from ((model, field) for field in model.model_fields)


def _constants(holder: type) -> set[str]:
    return {value for name, value in vars(holder).items() if name.isupper() and isinstance(value, str)}
