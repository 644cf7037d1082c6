"""What the picker lists: favourites, then the models of each provider, then what has no key yet."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from PySide6.QtCore import QCoreApplication, QLocale

from app.domain.models import ModelCard, Prices
from app.ui.picker.matching import match_model


@dataclass(frozen=True, slots=True)
class Offer:
    """The models there are to choose from."""

    usable: tuple[ModelCard, ...] = ()
    known: tuple[ModelCard, ...] = ()
    """Also those of endpoints that have no key yet."""

    def find(self, ref: str) -> ModelCard | None:
        """Return a model that is known, by `provider/model`."""
        return next((card for card in (*self.usable, *self.known) if card.ref == ref), None)

    def is_usable(self, ref: str) -> bool:
        """Return whether a request can be sent to the model."""
        return any(card.ref == ref for card in self.usable)


class EntryKind(Enum):
    """What a row of the list is."""

    HEADING = auto()
    MODEL = auto()
    KEYLESS = auto()
    """A provider that has no key yet, or one that is not there yet: without a card."""
    NOTE = auto()
    """Says that nothing was found."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the list."""

    kind: EntryKind
    text: str
    card: ModelCard | None = None
    shows_provider: bool = False
    """The heading above doesn't name it."""
    places: tuple[int, ...] = ()
    """Letters of `text` that were typed."""


def list_entries(offer: Offer, query: str) -> list[Entry]:
    """Return the rows for what was typed; with nothing typed, all in sections."""
    return _found(offer, query) if query.strip() else list(_in_sections(offer))


def _in_sections(offer: Offer) -> Iterator[Entry]:
    favourites = [card for card in offer.usable if card.is_favourite]
    if favourites:
        yield Entry(EntryKind.HEADING, _tr("Favourites"))
        yield from (Entry(EntryKind.MODEL, name_of(card), card, shows_provider=True) for card in favourites)
    for provider in dict.fromkeys(card.provider for card in offer.usable):
        cards = [card for card in offer.usable if card.provider == provider]
        others = [card for card in cards if not card.is_favourite]
        if others:
            yield Entry(EntryKind.HEADING, provider_of(cards[0]))
            yield from (Entry(EntryKind.MODEL, name_of(card), card) for card in others)
    yield Entry(EntryKind.HEADING, _tr("Not set up yet"))
    yield from map(_keyless_entry, _keyless(offer))
    yield _server_entry()


def _found(offer: Offer, query: str) -> list[Entry]:
    """Return what fits, the best first; of equals, favourites first."""
    matches = [(match, card) for card in offer.usable if (match := match_model(query, card)) is not None]
    matches.sort(key=lambda found: (-found[0].score, not found[1].is_favourite))
    entries = [
        Entry(EntryKind.MODEL, name_of(card), card, shows_provider=True, places=match.places if card.name else ())
        for match, card in matches
    ]
    without_key = {card.provider for card in _without_key(offer) if match_model(query, card) is not None}
    entries += [_keyless_entry(card) for card in _keyless(offer) if card.provider in without_key]
    server = _server_entry()
    if all(word in server.text.casefold() for word in query.casefold().split()):
        entries.append(server)
    return entries or [Entry(EntryKind.NOTE, _tr("No model fits “{query}”").format(query=query.strip()[:80]))]


def _keyless_entry(card: ModelCard) -> Entry:
    return Entry(EntryKind.KEYLESS, _tr("{provider}: add a key…").format(provider=provider_of(card)), card)


def _server_entry() -> Entry:
    return Entry(EntryKind.KEYLESS, _tr("Ollama, LM Studio or another server…"))


def _without_key(offer: Offer) -> Iterable[ModelCard]:
    usable = {card.provider for card in offer.usable}
    return (card for card in offer.known if card.provider not in usable)


def _keyless(offer: Offer) -> Sequence[ModelCard]:
    """Return one model of each provider that has no key."""
    return tuple({card.provider: card for card in _without_key(offer)}.values())


def name_of(card: ModelCard) -> str:
    """Return what people call the model."""
    return card.name or card.id


def provider_of(card: ModelCard) -> str:
    """Return what people call its provider."""
    return card.provider_name or (_tr("Practice") if card.provider == "practice" else card.provider)


def details_of(entry: Entry) -> str:
    """Return the quiet line below a model's name: provider, limit and price."""
    card = entry.card
    if card is None or entry.kind is not EntryKind.MODEL:
        return ""
    parts = [provider_of(card)] if entry.shows_provider else []
    return " · ".join([*parts, limit_text(card.limit), *filter(None, [price_text(card.prices)])])


def limit_text(limit: int | None) -> str:
    """Return a context limit, short: "200k tokens", "1M tokens"."""
    return _tr("limit unknown") if limit is None else _tr("{count} tokens").format(count=_short(limit))


def _short(limit: int) -> str:
    locale = QLocale()
    if limit >= 1_000_000:
        return locale.toString(limit / 1_000_000, "f", 0 if limit % 1_000_000 < 50_000 else 1) + "M"
    return f"{locale.toString(round(limit / 1000))}k" if limit >= 1000 else locale.toString(limit)


def price_text(prices: Prices) -> str:
    """Return prices in dollars for a million tokens in and out; empty if they are unknown or nothing."""
    if prices.input is None or prices.output is None or not (prices.input or prices.output):
        return ""
    return _tr("{input} / {output} per 1M").format(input=_dollars(prices.input), output=_dollars(prices.output))


def ability_texts(card: ModelCard) -> list[tuple[str, str]]:
    """Return the icon and the words for what the model can do."""
    abilities = card.abilities
    signs = (
        (abilities.sees_pictures, "image", _tr("sees pictures")),
        (abilities.reads_pdf, "file-text", _tr("reads PDF files")),
        (abilities.reasons, "lightbulb", _tr("reasons before it answers")),
    )
    return [(icon, words) for can, icon, words in signs if can]


def spoken_text(entry: Entry, *, is_current: bool) -> str:
    """Return what a screen reader says of a row."""
    card = entry.card
    if card is None or entry.kind is not EntryKind.MODEL:
        return entry.text
    parts = [entry.text, details_of(entry), *(words for _icon, words in ability_texts(card))]
    if card.is_favourite:
        parts.append(_tr("favourite"))
    if is_current:
        parts.append(_tr("this chat's model"))
    return ", ".join(parts)


def _dollars(amount: float) -> str:
    text = QLocale().toString(
        float(amount), "f", 0 if amount == int(amount) else 2 if round(amount, 2) == amount else 3
    )
    return f"${text}"


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModelPicker", text)
