import pytest

from app.providers.base import ReasoningPiece, TextPiece
from app.providers.openai.think_tags import ThinkTags


def heard(*deltas: str) -> tuple[str, str]:
    """Return thoughts and text, each joined."""
    tags = ThinkTags()
    pieces = [piece for delta in deltas for piece in tags.add(delta)] + list(tags.end())
    thoughts = "".join(piece.text for piece in pieces if isinstance(piece, ReasoningPiece))
    return thoughts, "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


@pytest.mark.parametrize(
    ("content", "thoughts", "text"),
    [
        ("<think>\nHm.\n</think>\n\nHi", "Hm.\n", "Hi"),
        ("\n <think>Hm.</think>Hi", "Hm.", "Hi"),
        # Nothing thought, as Qwen says it.
        ("<think>\n\n</think>\n\nHi", "", "Hi"),
        # Only at the very beginning.
        ("Hi <think>x</think>", "", "Hi <think>x</think>"),
        ("<thinking>x</thinking>", "", "<thinking>x</thinking>"),
        ("<b>x</b>", "", "<b>x</b>"),
        # Once.
        ("<think>A</think>B<think>C</think>", "A", "B<think>C</think>"),
        ("<think>a < b </thin k></think>B", "a < b </thin k>", "B"),
        # Cut.
        ("<think>Hm.</thi", "Hm.</thi", ""),
        ("<thi", "", "<thi"),
        ("  ", "", "  "),
        ("", "", ""),
    ],
)
def test_thoughts_are_told_from_text_however_they_are_split(content: str, thoughts: str, text: str) -> None:
    assert heard(content) == (thoughts, text)
    assert heard(*content) == (thoughts, text)
    for middle in range(len(content)):
        assert heard(content[:middle], content[middle:]) == (thoughts, text)


def test_text_is_not_held_back_longer_than_needed() -> None:
    tags = ThinkTags()

    assert list(tags.add("<")) == []
    assert list(tags.add("b>")) == [TextPiece("<b>")]
    assert list(tags.add("<")) == [TextPiece("<")]


def test_thoughts_come_as_they_are_thought() -> None:
    tags = ThinkTags()

    assert list(tags.add("<think>one ")) == [ReasoningPiece("one ")]
    assert list(tags.add("two<")) == [ReasoningPiece("two")]
    assert list(tags.add("3")) == [ReasoningPiece("<3")]
