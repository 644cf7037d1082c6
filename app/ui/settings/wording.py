"""What the settings window says of keys, models and connections."""

from typing import Final

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from app.domain.connections import KeyPlace, KeyState, TestStep
from app.domain.errors import KnownError, ProviderError
from app.domain.models import ModelCard, Origin
from app.ui.level_wording import level_name
from app.ui.wording import told_error

_CONTEXT: Final = "Settings"


def _tr(text: str) -> str:
    return QCoreApplication.translate(_CONTEXT, text)


def sentence_of(error: KnownError) -> str:
    """Return what went wrong; a provider's own words follow ours."""
    if not isinstance(error, ProviderError):
        return str(error)
    return told_error(error.kind.value, error.detail, is_quote=error.is_quote)


def key_sentence(state: KeyState, *, needs_key: bool = True) -> str:
    """Return where a key is, in words."""
    ending = f" (…{state.ending})" if state.ending else ""
    match state.place:
        case KeyPlace.ENVIRONMENT:
            text = _tr("From {variable}{ending} (set outside Muntin; can't be changed here)")
            return text.format(variable=state.variable, ending=ending)
        case KeyPlace.STORE:
            return _tr("Saved in {store}{ending}").format(store=state.store_name or _tr("the key store"), ending=ending)
        case KeyPlace.SESSION:
            return _tr("Only for this session{ending}").format(ending=ending)
        case KeyPlace.FILE:
            return _tr("Saved in a file in Muntin's folder{ending}").format(ending=ending)
        case _:
            return _tr("No key yet") if needs_key else _tr("Needs no key")


def dialect_name(dialect: str) -> str:
    """Return what a kind of API is called."""
    names = {"anthropic": "Anthropic Messages", "responses": "OpenAI Responses", "chat": "OpenAI Chat Completions"}
    return names[dialect]


def step_name(step: TestStep, *, needs_key: bool) -> str:
    """Return what a step of a connection test looks at."""
    names = {
        TestStep.NAME: _tr("The server's name is known"),
        TestStep.CONNECT: _tr("The server can be reached"),
        TestStep.CERTIFICATE: _tr("Its certificate is trusted"),
        TestStep.KEY: _tr("The key is accepted") if needs_key else _tr("It can be used without a key"),
        TestStep.MODEL: _tr("A model answers"),
    }
    return names[step]


def number_text(number: int) -> str:
    """Return a number in groups of three digits, as the locale has them."""
    is_bare = QLocale().language() == QLocale.Language.C
    return f"{number:,}" if is_bare else QLocale().toString(number)


def count_text(tokens: int | None) -> str:
    """Return a number of tokens by the locale, a dash for an unknown one."""
    return number_text(tokens) if tokens is not None else "–"


def price_text(dollars: float | None) -> str:
    """Return a price for a million tokens, a dash for an unknown one."""
    return f"${dollars:,.2f}" if dollars is not None else "–"


def abilities_text(card: ModelCard) -> str:
    """Return what a model is known to do."""
    abilities = card.abilities
    known = [
        (abilities.sees_pictures, _tr("pictures")),
        (abilities.reads_pdf, _tr("PDF")),
        (abilities.calls_tools, _tr("tools")),
        (abilities.reasons, _tr("reasoning")),
    ]
    return ", ".join(word for can, word in known if can)


def by_provider(cards: tuple[ModelCard, ...]) -> dict[str, list[ModelCard]]:
    """Return models by the name of their provider, in their order."""
    found: dict[str, list[ModelCard]] = {}
    for card in cards:
        found.setdefault(card.provider_name or card.provider.capitalize(), []).append(card)
    return found


def levels_sentence(card: ModelCard) -> str:
    """Return how long a model can be asked to think, empty if nobody knows."""
    names = ", ".join(level_name(level) for level in card.levels)
    return _tr("Thinking: {levels}").format(levels=names) if names else ""


def origin_sentence(card: ModelCard) -> str:
    """Return where the figures of a model are from."""
    when = ""
    if card.checked:
        date = QDate.fromString(card.checked[:10], "yyyy-MM-dd")
        when = QLocale().toString(date, QLocale.FormatType.ShortFormat) if date.isValid() else card.checked
    match card.origin:
        case Origin.PERSON:
            return _tr("Entered by you")
        case Origin.PROVIDER:
            return (
                _tr("From the provider's list, {date}").format(date=when) if when else _tr("From the provider's list")
            )
        case _:
            if card.provider == "practice":
                return _tr("Built into Muntin")
            text = _tr("From Muntin's catalogue, checked {date}").format(date=when) if when else ""
            return text or _tr("From Muntin's catalogue")


def size_text(size_bytes: int) -> str:
    """Return a size by the locale."""
    return QLocale().formattedDataSize(size_bytes, 1, QLocale.DataSizeFormat.DataSizeTraditionalFormat)
