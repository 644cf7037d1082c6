"""Which paths a memory may have: each rule from both sides, and that none leads out of the root."""

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import KnownError
from app.domain.memories import MemoryScope
from app.memory.faults import BadPath
from app.memory.paths import MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_CHARS, parse_file_path, parse_path
from app.memory.store import MemoryStore

GOOD = [
    "/memories/global/a.md",
    "/memories/workspace/a.md",
    "/memories/workspace/deep/er/a.md",
    "/memories/workspace/with space.md",
    "/memories/workspace/a..b.md",
    "/memories/workspace/a.b.c",
    "/memories/workspace/100%.md",
    "/memories/workspace/%41.md",
    "/memories/workspace/2f.md",
    "/memories/workspace/console.md",
    "/memories/workspace/com10.txt",
    "/memories/workspace/lpt.txt",
    "/memories/workspace/nullable",
    "/memories/workspace/é.md",
    "/memories/workspace/日本語.md",
    "/memories/workspace/👩‍🚀.md",
    "/memories/workspace/-",
    f"/memories/workspace/{'a' * MAX_NAME_BYTES}",
    "/memories/workspace" + "/d" * MAX_DEPTH,
]
BAD = [
    ("", "begins with /memories/"),
    ("a.md", "begins with /memories/"),
    ("/a.md", "begins with /memories/"),
    ("memories/workspace/a.md", "begins with /memories/"),
    ("/memories", "begins with /memories/"),
    ("/memories/", "begins with /memories/"),
    ("/memories/a.md", "begins with /memories/"),
    ("/memories/globals/a.md", "begins with /memories/"),
    ("//memories/global/a.md", "begins with /memories/"),
    ("/etc/passwd", "begins with /memories/"),
    ("/memories/../global/a.md", "begins with /memories/"),
    ("/memories/workspace//a.md", "empty"),
    ("/memories/workspace/a//b", "empty"),
    ("/memories/workspace/a/", "empty"),
    ("/memories/workspace/./a", ". or .."),
    ("/memories/workspace/../global/a", ". or .."),
    ("/memories/workspace/a/..", ". or .."),
    ("/memories/workspace/...", "dot"),
    ("/memories/workspace/~", "~"),
    ("/memories/workspace/~root/a", "~"),
    ("/memories/workspace/NOTES~1.MD", "~"),
    ("/memories/workspace/a:b", ":"),
    ("/memories/workspace/C:/a", ":"),
    ("/memories/workspace/a.md::$DATA", ":"),
    ("/memories/workspace/a\\b", "\\"),
    ("/memories/workspace/..\\..\\a", "\\"),
    ("/memories/workspace/a\x00b", "can't be seen"),
    ("/memories/workspace/a\nb", "can't be seen"),
    ("/memories/workspace/a\x7fb", "can't be seen"),
    ("/memories/workspace/a\x85b", "can't be seen"),
    ("/memories/workspace/a\u2028b", "can't be seen"),
    ("/memories/workspace/a\u202eb", "can't be seen"),
    ("/memories/workspace/a\ud800b", "can't be seen"),
    ("/memories/workspace/a\u200bb", "can't be seen"),
    ("/memories/workspace/a\u00adb", "can't be seen"),
    ("/memories/workspace/a\u200eb", "can't be seen"),
    ("/memories/workspace/a\ufeffb", "can't be seen"),
    ("/memories/workspace/a\u2069b", "can't be seen"),
    ("/memories/workspace/a\U000e0041b", "can't be seen"),
    ("/memories/workspace/a%2fb", "percent-encoded"),
    ("/memories/workspace/%2e%2e%2Fa", "percent-encoded"),
    ("/memories/workspace/a%5Cb", "percent-encoded"),
    ("/memories/workspace/a%252fb", "percent-encoded"),
    ("/memories/workspace/a%00", "percent-encoded"),
    ("/memories/workspace/con", "device"),
    ("/memories/workspace/CON.txt", "device"),
    ("/memories/workspace/con .txt", "device"),
    ("/memories/workspace/nul.tar.gz", "device"),
    ("/memories/workspace/aux/a.md", "device"),
    ("/memories/workspace/Com1", "device"),
    ("/memories/workspace/lpt9.md", "device"),
    ("/memories/workspace/com²", "device"),
    ("/memories/workspace/conin$", "device"),
    ("/memories/workspace/a.", "end with a dot"),
    ("/memories/workspace/a /b", "space"),
    ("/memories/workspace/a ", "space"),
    ("/memories/workspace/ a", "space"),
    ("/memories/workspace/a\u00a0", "space"),
    ("/memories/workspace/.hidden", "begin with a dot"),
    ("/memories/workspace/.uses.json", "begin with a dot"),
    ('/memories/workspace/a"b', '"'),
    ("/memories/workspace/a<b", "<"),
    ("/memories/workspace/what?", "?"),
    ("/memories/workspace/*", "*"),
    (f"/memories/workspace/{'a' * (MAX_NAME_BYTES + 1)}", "longer"),
    ("/memories/workspace" + "/d" * (MAX_DEPTH + 1), "at most 8 names"),
    ("/memories/workspace/" + "a/" * MAX_PATH_CHARS, "longer"),
]


@pytest.mark.parametrize("text", GOOD)
def test_a_path_that_keeps_the_rules_is_taken(text: str) -> None:
    assert str(parse_file_path(text)) == text


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_a_path_that_breaks_a_rule_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadPath) as fault:
        parse_file_path(text)
    assert reason in str(fault.value)
    assert str(fault.value).endswith(".")


@pytest.mark.parametrize("text", ["/memories/workspace", "/memories/workspace/"])
def test_a_scope_is_a_folder_and_no_file(text: str) -> None:
    assert str(parse_path(text)) == "/memories/workspace"
    with pytest.raises(BadPath):
        parse_file_path(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Plan.md", "plan.md"), ("É.md", "e\u0301.md"), ("STRASSE", "straße"), ("ΣΑΣ", "σας"), ("K.md", "k.md")],
)
def test_names_that_are_the_same_on_some_system_are_the_same(one: str, other: str, store: MemoryStore) -> None:
    first, second = (parse_file_path(f"/memories/global/{name}") for name in (one, other))
    assert first.key == second.key
    written = store.put(first, "text", expected="")
    assert store.read(second) == written
    assert [entry.name for entry in store.listing().entries] == [unicodedata.normalize("NFC", one)]


def test_the_scope_may_be_written_in_capitals() -> None:
    assert str(parse_path("/Memories/Global/A.md")) == "/memories/global/A.md"


_PIECES = st.one_of(
    st.sampled_from(
        ["..", ".", "", "~", "memories", "global", "workspace", "etc", "%2e%2e", "..%2f", "\\..", "link", "a", "C:"]
    ),
    st.text(max_size=6),
)


@given(st.lists(_PIECES, max_size=6), st.booleans())
def test_no_path_leads_out_of_the_root(pieces: list[str], has_scope: bool) -> None:
    text = "/".join(["", "memories", "global", *pieces] if has_scope else pieces)
    root = Path("/data/memory")
    try:
        path = parse_path(text)
    except BadPath:
        return
    assert path.scope in MemoryScope
    joined = os.path.normpath(root.joinpath(*path.names))
    assert joined == str(root) or joined.startswith(f"{root}{os.sep}")
    assert all(len(Path(name).parts) == 1 for name in path.names)
    assert parse_path(str(path)) == path


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
class TestLinks:
    """A link is never followed, wherever it leads."""

    @pytest.fixture
    def secret(self, tmp_path: Path, root: Path) -> Path:
        root.mkdir()
        secret = tmp_path / "secret"
        secret.mkdir()
        (secret / "key.md").write_text("outside")
        return secret

    def test_to_a_file_outside(self, root: Path, secret: Path, store: MemoryStore) -> None:
        (root / "link.md").symlink_to(secret / "key.md")
        path = parse_file_path("/memories/global/link.md")
        for work in (
            lambda: store.read(path),
            lambda: store.put(path, "mine", expected=None),
            lambda: store.delete(path),
            lambda: store.rename(path, parse_file_path("/memories/global/b.md")),
            lambda: store.rename(parse_file_path("/memories/global/a.md"), path),
        ):
            with pytest.raises(KnownError):
                work()
        assert (secret / "key.md").read_text() == "outside"
        listing = store.listing()
        assert (listing.entries, listing.others) == ((), 1)

    def test_to_a_folder_outside(self, root: Path, secret: Path, store: MemoryStore) -> None:
        (root / "link").symlink_to(secret)
        for name in ("link/key.md", "link/new.md", "LINK/key.md"):
            path = parse_file_path(f"/memories/global/{name}")
            with pytest.raises(BadPath, match="link"):
                store.read(path)
            with pytest.raises(BadPath, match="link"):
                store.put(path, "mine", expected=None)
        assert [each.name for each in secret.iterdir()] == ["key.md"]
        assert store.listing().entries == ()

    def test_in_a_folder_that_is_deleted(self, root: Path, secret: Path, store: MemoryStore) -> None:
        (root / "folder").mkdir()
        (root / "folder" / "link").symlink_to(secret)
        store.delete(parse_path("/memories/global/folder"))
        assert not (root / "folder").exists()
        assert (secret / "key.md").read_text() == "outside"

    def test_to_nothing(self, root: Path, secret: Path, store: MemoryStore) -> None:
        (root / "link.md").symlink_to(secret / "none.md")
        with pytest.raises(BadPath):
            store.put(parse_file_path("/memories/global/link.md"), "mine", expected="")
        assert not (secret / "none.md").exists()

    def test_a_pipe_is_no_memory(self, root: Path, secret: Path, store: MemoryStore) -> None:
        os.mkfifo(root / "pipe.md")
        with pytest.raises(BadPath):
            store.read(parse_file_path("/memories/global/pipe.md"))
        assert store.listing().others == 1
        assert secret.is_dir()
