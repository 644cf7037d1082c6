"""Finds the question a person asked among those that have an answer."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ENOUGH: Final = 0.65
"""A likeness from which on a message counts as asking a topic's question; tuned on the table of the tests."""
WORTH_SUGGESTING: Final = 0.4
"""A likeness from which on a topic is offered when none is close enough."""
MAX_SUGGESTIONS: Final = 3
MAX_QUESTION_CHARS: Final = 600
"""A longer message is a text, not a question."""
_PHRASING_SHARE: Final = 0.7
"""How much of the likeness is that to one phrasing; the rest is that to all words of the topic."""
_SENTENCE_SHARE: Final = 0.93
"""What a single sentence counts beside the whole message."""
_UNKNOWN_WORD: Final = 0.8
"""Weight of a word of no topic, as a share of the heaviest known word."""
_FRAME_WORD: Final = 0.3
"""Weight of a word that only frames a question (`how`, `can`, `my`), as a share of what it would be."""
_TELLING_SHARE: Final = 0.5
"""How much of the words that say what a message is about a phrasing must have to answer it."""
_FRAME_LIKENESS: Final = 0.85
"""Likeness to a phrasing that a message without such words needs instead."""
_SPELLING_PERCENT: Final = 80
"""Likeness from which on a word counts as a misspelling of a known one."""
_SHORTEST_MISSPELLING: Final = 4
"""Letters; shorter words resemble too many others."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A question, the phrasings it is asked in, and its answer."""

    id: str
    question: str
    """As a heading; empty for small talk."""
    asks: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Match:
    topic: Topic
    likeness: float
    """0 to 1."""


class Questions:
    """All topics, ready to be searched. Frozen after its making, so any thread may ask."""

    def __init__(
        self,
        topics: Sequence[Topic],
        *,
        synonyms: Iterable[Sequence[str]] = (),
        fillers: Iterable[str] = (),
        frames: Iterable[str] = (),
    ) -> None:
        """Prepare the search.

        `synonyms` are groups of words that count as the first of their group; `fillers` make no
        difference to what is asked, unless a message has no other words; `frames` make little, and never
        answer a message alone unless it is a phrasing that is made of them.
        """
        self._fillers = frozenset(fillers)
        self._frames = frozenset(_stem(word.replace("'", "")) for word in frames)
        self._canonical = {_stem(word): _stem(group[0]) for group in synonyms for word in group}
        self._profiles = [
            _Profile(topic, phrasings, frozenset[str]().union(*phrasings))
            for topic in topics
            if (phrasings := tuple(self._words(ask) for ask in (*topic.asks, topic.question) if ask))
        ]
        self._weights = {
            word: weight * (_FRAME_WORD if word in self._frames else 1)
            for word, weight in _weights([profile.words for profile in self._profiles]).items()
        }
        self._unknown = max(self._weights.values(), default=1.0) * _UNKNOWN_WORD
        self._spellings = sorted({*self._weights, *self._canonical, *self._frames})

    def find(self, message: str) -> Topic | None:
        """Return the topic whose question the message, or one of its sentences, asks."""
        best = next(iter(self.closest(message)), None)
        return best.topic if best is not None and best.likeness >= ENOUGH else None

    def suggest(self, message: str) -> list[Topic]:
        """Return the few topics that the message may have meant, most likely first."""
        return [match.topic for match in self.closest(message) if match.likeness >= WORTH_SUGGESTING][:MAX_SUGGESTIONS]

    def closest(self, message: str) -> list[Match]:
        """Return every topic with its likeness to the message, most alike first."""
        if len(message) > MAX_QUESTION_CHARS:
            return []
        whole, *sentences = [self._spelled(self._words(text)) for text in (message, *_sentences(message))]
        matches = [Match(profile.topic, self._best(whole, sentences, profile)) for profile in self._profiles]
        return sorted(matches, key=lambda match: -match.likeness)

    def _best(self, whole: frozenset[str], sentences: Sequence[frozenset[str]], profile: "_Profile") -> float:
        """Return the likeness of the message or of a sentence of it; a greeting before a question doesn't count."""
        best = self._likeness(whole, profile)
        if profile.topic.question and sentences:
            shares = (_SENTENCE_SHARE * self._likeness(sentence, profile) for sentence in sentences)
            best = max(best, *shares)
        return best

    def _likeness(self, asked: frozenset[str], profile: "_Profile") -> float:
        """Mix the likeness to the closest phrasing with how much of what is asked the topic knows."""
        weight = self._weight(asked)
        if not weight:
            return 0.0
        phrasing = max(self._overlap(asked, words) for words in profile.phrasings)
        covered = self._weight(asked & profile.words) / weight
        return _PHRASING_SHARE * phrasing + (1 - _PHRASING_SHARE) * covered

    def _overlap(self, asked: frozenset[str], phrasing: frozenset[str]) -> float:
        """Return how much two sets of words share; less if it isn't what the message is about."""
        common = asked & phrasing
        overlap = 2 * self._weight(common) / (self._weight(asked) + self._weight(phrasing))
        telling = self._weight(asked - self._frames)
        if not telling:
            return overlap if overlap >= _FRAME_LIKENESS else 0.0
        return overlap * min(1.0, self._weight(common - self._frames) / telling / _TELLING_SHARE)

    def _weight(self, words: Iterable[str]) -> float:
        return sum(map(self._weight_of, words))

    def _weight_of(self, word: str) -> float:
        return self._weights.get(word, self._unknown * (_FRAME_WORD if word in self._frames else 1))

    def _words(self, text: str) -> frozenset[str]:
        words = re.findall(r"[^\W_]+", text.casefold().replace("'", "").replace("’", ""))
        telling = [word for word in words if word not in self._fillers]
        stems = map(_stem, telling or words)
        return frozenset(self._canonical.get(stem, stem) for stem in stems)

    def _spelled(self, words: frozenset[str]) -> frozenset[str]:
        return frozenset(self._known(word) for word in words)

    def _known(self, word: str) -> str:
        """Return the known word that `word` is, or is a misspelling of; otherwise `word`."""
        is_known = word in self._weights or word in self._frames or word in self._fillers
        if is_known or len(word) < _SHORTEST_MISSPELLING:
            return word
        from rapidfuzz import fuzz, process

        # The first letter is hardly ever the wrong one; `report` is no misspelt `export`.
        alike = [spelling for spelling in self._spellings if spelling[0] == word[0]]
        found = process.extractOne(word, alike, scorer=fuzz.ratio, score_cutoff=_SPELLING_PERCENT)
        return word if found is None else self._canonical.get(found[0], found[0])


@dataclass(frozen=True, slots=True)
class _Profile:
    topic: Topic
    phrasings: tuple[frozenset[str], ...]
    words: frozenset[str]


def _weights(profiles: Sequence[frozenset[str]]) -> Mapping[str, float]:
    """Weigh each word by how few topics have it."""
    known = frozenset[str]().union(*profiles)
    return {word: math.log(1 + len(profiles) / sum(word in words for words in profiles)) for word in known}


def _sentences(message: str) -> list[str]:
    """Return the sentences of a message that has several."""
    sentences = [sentence for sentence in re.split(r"[.!?;\n]+", message) if sentence.strip()]
    return sentences if len(sentences) > 1 else []


def _stem(word: str) -> str:
    """Cut endings, so that `deleted`, `deleting` and `delete` are one word."""
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
