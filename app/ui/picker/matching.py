"""How well what was typed fits a model: its name first, then its id and its provider."""

from typing import Final, NamedTuple

from app.domain.models import ModelCard

_START: Final = 100
_WORD_START: Final = 80
_INSIDE: Final = 60
_SCATTERED: Final = 20
_NAME_BONUS: Final = 5


class Match(NamedTuple):
    """A fit: the greater `score` the better; `places` are the letters of the name that were found."""

    score: int
    places: tuple[int, ...]


def match_model(query: str, card: ModelCard) -> Match | None:
    """Return how `card` fits every word of `query`; None if one of them fits nowhere."""
    score, places = 0, set[int]()
    for word in query.split():
        in_name = _find(word, card.name)
        elsewhere = max((_find(word, text) for text in (card.id, card.provider_name, card.provider)), key=_score_of)
        if in_name is not None and _score_of(in_name) + _NAME_BONUS > _score_of(elsewhere):
            score += in_name.score + _NAME_BONUS
            places.update(in_name.places)
        elif elsewhere is not None:
            score += elsewhere.score
        else:
            return None
    return Match(score, tuple(sorted(places)))


def _find(word: str, text: str) -> Match | None:
    folded, lowered = text.casefold(), text.lower()
    if len(folded) == len(text):
        word = word.casefold()
    else:  # the places of letters that fold to several would be wrong
        folded, word = (lowered, word.lower()) if len(lowered) == len(text) else (text, word)
    at = folded.find(word)
    while at > 0 and folded[at - 1].isalnum():
        later = folded.find(word, at + 1)
        if later < 0:
            return Match(_INSIDE, tuple(range(at, at + len(word))))
        at = later
    if at >= 0:
        return Match(_START if at == 0 else _WORD_START, tuple(range(at, at + len(word))))
    return _find_scattered(word, folded)


def _find_scattered(word: str, folded: str) -> Match | None:
    """Find the letters of `word` in their order, with others between them."""
    places: list[int] = []
    at = -1
    for letter in word:
        at = folded.find(letter, at + 1)
        if at < 0:
            return None
        places.append(at)
    spread = places[-1] - places[0] + 1 - len(word)
    # Letters from all over a long name are chance.
    return Match(max(1, _SCATTERED - spread), tuple(places)) if spread <= 2 * len(word) + 2 else None


def _score_of(match: Match | None) -> int:
    return 0 if match is None else match.score
