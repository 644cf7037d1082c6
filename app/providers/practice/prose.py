"""Readable text of any length, word by word the same every time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MAX_WORDS: Final = 5_000
_MIN_WORDS_FOR_HEADINGS: Final = 100
_ROOMS_PER_MONTH: Final = 6


@dataclass(frozen=True, slots=True)
class ProseKit:
    """What the text is made of: `resources/practice-prose.json`.

    Sentences of `openings`, `middles` and `endings` have names of a month's and a room's fields in
    braces. The n-th sentence of `closings` has exactly n words.
    """

    title: str
    months: Sequence[Mapping[str, str]]
    rooms: Sequence[Mapping[str, str]]
    openings: Sequence[str]
    middles: Sequence[str]
    endings: Sequence[str]
    closings: Sequence[str]


def write_prose(words: int, kit: ProseKit) -> str:
    """Return Markdown of exactly `words` words, headings not counted.

    `words` is from 1 to `MAX_WORDS`. The text is cut at a sentence, and sentences of fitting length close it.
    """
    with_headings = words >= _MIN_WORDS_FOR_HEADINGS
    blocks = [f"# {kit.title}"] if with_headings else []
    left = words
    for block in _blocks(kit):
        if block.heading and with_headings:
            blocks.append(f"## {block.heading}")
        paragraph: list[str] = []
        for sentence in block.sentences:
            if count_words(sentence) > left:
                return "\n\n".join([*blocks, " ".join([*paragraph, *_close(left, kit)])])
            paragraph.append(sentence)
            left -= count_words(sentence)
        blocks.append(" ".join(paragraph))
    raise ValueError(f"the kit has too few sentences for {words} words")


def count_words(text: str) -> int:
    """Count what white space separates, Markdown headings left out."""
    return sum(len(line.split()) for line in text.splitlines() if not line.startswith("#"))


@dataclass(frozen=True, slots=True)
class _Block:
    sentences: Sequence[str]
    heading: str = ""


def _blocks(kit: ProseKit) -> Iterator[_Block]:
    """Yield a paragraph on each month, then one for each of some rooms, no two months alike."""
    visit = 0
    for month in kit.months:
        yield _Block(_sentences(month["opening"]), heading=month["name"])
        for _ in range(_ROOMS_PER_MONTH):
            yield _Block(_visit(visit, month, kit))
            visit += 1


def _visit(number: int, month: Mapping[str, str], kit: ProseKit) -> list[str]:
    # Each tour of the rooms shifts the sentences by one, so that no room meets the same ones again.
    turn, place = divmod(number, len(kit.rooms))
    room = kit.rooms[place]
    opening = kit.openings[(number + turn) % len(kit.openings)]
    middle = kit.middles[(number + turn) % len(kit.middles)]
    ending = kit.endings[(number * 2 + turn) % len(kit.endings)]
    known = room["glass"] if turn % 2 == 0 else room["thing"]
    fields = {**month, "month": month["name"], "room": room["name"], "view": room["view"]}
    return [opening.format_map(fields), known, middle.format_map(fields), room["habit"], ending.format_map(fields)]


def _sentences(text: str) -> list[str]:
    return [sentence if sentence.endswith(".") else f"{sentence}." for sentence in text.split(". ")]


def _close(words: int, kit: ProseKit) -> list[str]:
    """Return closing sentences of `words` words together, the short ones first."""
    chosen: list[int] = []
    for length in range(len(kit.closings), 0, -1):
        if length <= words:
            chosen.append(length)
            words -= length
    if words:
        raise ValueError("the closing sentences are too short for what is left")
    return [kit.closings[length - 1] for length in reversed(chosen)]
