import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.assets import resource
from app.budget.tokens import MAX_CHUNK_CHARS, TokenCounter
from app.domain.errors import KnownError

O200K = "o200k_base"
O200K_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    counter = TokenCounter()
    counter.load(O200K)
    return counter


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("Hello", 1),
        ("Hello, world!", 4),
        ("12345", 2),
        ("\n\n", 1),
    ],
)
def test_known_texts_have_known_counts(counter: TokenCounter, text: str, tokens: int) -> None:
    assert counter.count_text(text, O200K) == tokens


def test_the_name_of_a_special_token_is_plain_text(counter: TokenCounter) -> None:
    assert counter.count_text("<|endoftext|>", O200K) > 1


def test_a_lone_surrogate_counts_as_the_replacement_character(counter: TokenCounter) -> None:
    assert counter.count_text("a\ud800b", O200K) == counter.count_text("a\ufffdb", O200K)


@pytest.mark.parametrize("text", ["", "héllo", "\ud800"])
def test_an_encoding_that_does_not_ship_costs_a_token_a_byte(counter: TokenCounter, text: str) -> None:
    assert counter.count_text(text, "no_such_base") == len(text.encode("utf-8", "surrogatepass"))


def test_a_million_spaces_are_counted(counter: TokenCounter) -> None:
    assert 0 < counter.count_text(" " * 1_000_000, O200K) < 100_000


@given(text=st.text(alphabet=st.characters()) | st.text(alphabet=st.characters(categories=["Cs", "Zs", "Cc"])))
def test_any_string_has_a_count(counter: TokenCounter, text: str) -> None:
    tokens = counter.count_text(text, O200K)
    assert (tokens == 0) == (text == "")
    assert tokens <= len(text.encode("utf-8", "surrogatepass"))


SCRIPTS = {
    "words": "abcdefghijklmnopqrstuvwxyz   ",
    "prose lines": "aeinorst aeinorst aeinorst ,.\n",
    "one endless word": "abcdefghijklmnopqrstuvwxyz",
    "base64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "Chinese": "的一是不了人我在有他这中大来上国个到说们",
    "code": "def (x):\n    return [x, None]\n\n",
}


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), script=st.sampled_from(sorted(SCRIPTS)), extra=st.integers(1, 2 * MAX_CHUNK_CHARS))
def test_counting_in_chunks_is_at_most_a_fifth_of_a_percent_off(
    counter: TokenCounter, seed: int, script: str, extra: int
) -> None:
    text = "".join(random.Random(seed).choices(SCRIPTS[script], k=MAX_CHUNK_CHARS + extra))
    import tiktoken

    whole = len(tiktoken.get_encoding(O200K).encode(text, disallowed_special=()))
    assert abs(counter.count_text(text, O200K) - whole) <= 0.002 * whole


@pytest.mark.parametrize("length", [MAX_CHUNK_CHARS - 1, MAX_CHUNK_CHARS, MAX_CHUNK_CHARS + 1])
def test_a_text_around_the_length_of_a_chunk_is_counted_like_the_whole(counter: TokenCounter, length: int) -> None:
    text = ("two words\n" * (length // 10 + 1))[:length]
    import tiktoken

    assert counter.count_text(text, O200K) == len(tiktoken.get_encoding(O200K).encode(text))


@pytest.fixture
def copied_vocabularies(tmp_path: Path) -> Path:
    (tmp_path / O200K_FILE).write_bytes(resource("tokenizers", O200K_FILE).read_bytes())
    return tmp_path


def test_a_damaged_vocabulary_is_refused_and_left_alone(copied_vocabularies: Path) -> None:
    file = copied_vocabularies / O200K_FILE
    file.write_bytes(damaged := file.read_bytes()[:-1])
    counter = TokenCounter(copied_vocabularies)

    with pytest.raises(KnownError, match="damaged"):
        counter.count_text("a", O200K)
    with pytest.raises(KnownError, match="damaged"):
        counter.load(O200K)

    assert file.read_bytes() == damaged


def test_a_missing_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="can't be read"):
        TokenCounter(tmp_path).count_text("a", O200K)
    assert not list(tmp_path.iterdir())


def test_a_repaired_vocabulary_is_taken_without_a_restart(copied_vocabularies: Path) -> None:
    file = copied_vocabularies / O200K_FILE
    whole = file.read_bytes()
    file.write_bytes(b"")
    counter = TokenCounter(copied_vocabularies)
    with pytest.raises(KnownError):
        counter.count_text("a", O200K)

    file.write_bytes(whole)

    assert counter.count_text("a", O200K) == 1


def test_counting_writes_nothing_beside_the_vocabulary(copied_vocabularies: Path) -> None:
    """As in an installed program, whose folder can't be written."""
    (copied_vocabularies / O200K_FILE).chmod(0o400)
    copied_vocabularies.chmod(0o500)

    assert TokenCounter(copied_vocabularies).count_text("Hello", O200K) == 1

    copied_vocabularies.chmod(0o700)
    assert [path.name for path in copied_vocabularies.iterdir()] == [O200K_FILE]


def test_many_threads_may_ask_for_the_first_count() -> None:
    counter = TokenCounter()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: counter.count_text("Hello, world!", O200K), range(32))) == {4}


def test_tiktoken_is_not_imported_before_the_first_count() -> None:
    code = (
        "import sys, app.budget.tokens as t; c = t.TokenCounter(); assert 'tiktoken' not in sys.modules;"
        "c.count_text('a', 'o200k_base'); assert 'tiktoken' in sys.modules; assert 'requests' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_counts_are_the_same_whether_they_are_kept_or_forgotten() -> None:
    counter = TokenCounter(most_kept=3)
    texts = [f"This is text number {number}, {'very ' * number} long." for number in range(8)]
    counts = [counter.count_text(text, "o200k_base") for text in texts]
    assert [counter.count_text(text, "o200k_base") for text in (*texts, *texts)] == [*counts, *counts]
    assert counts == [TokenCounter().count_text(text, "o200k_base") for text in texts]
