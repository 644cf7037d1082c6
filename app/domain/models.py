"""What is known of a model before asking it."""

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_ENCODING = "o200k_base"
UNKNOWN_FACTOR = 1.2
"""Tokens over `o200k_base` for a model nobody has counted (context-windows.md, 8)."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model can do; None where nobody knows."""

    sees_pictures: bool | None = None
    reads_pdf: bool | None = None
    calls_tools: bool | None = None
    reasons: bool | None = None


class ThinkingLevel(StrEnum):
    """How long a model may think before it answers; each provider has its own words for them."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens; None where nobody knows."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


class Origin(StrEnum):
    """Where an entry comes from."""

    CATALOGUE = "catalogue"
    """Ships with Muntin."""
    PROVIDER = "provider"
    """The provider's own list."""
    PERSON = "person"
    """Entered by hand."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model on offer. Figures in tokens; None where nobody knows."""

    id: str
    provider: str
    """Id of the endpoint that offers it."""
    name: str
    limit: int | None
    max_output: int | None
    encoding: str = DEFAULT_ENCODING
    """tiktoken's name of the vocabulary its texts are counted with."""
    factor: float = UNKNOWN_FACTOR
    """Tokens of the model over tokens of `encoding` (context-windows.md, 8)."""
    abilities: Abilities = Abilities()
    prices: Prices = Prices()
    levels: tuple[ThinkingLevel, ...] = ()
    """Those it can be asked for, least first; without a choice the provider's own default holds."""
    provider_name: str = ""
    """Name of the endpoint, for people."""
    is_favourite: bool = False
    origin: Origin = Origin.CATALOGUE
    source: str = ""
    """Where figures of the catalogue were taken from."""
    checked: str = ""
    """ISO date at which they were."""

    @property
    def ref(self) -> str:
        """`provider/model`: how chats name the model."""
        return f"{self.provider}/{self.id}"
