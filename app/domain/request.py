"""What is asked of a model, independent of any provider's wire format."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.models import ThinkingLevel
from app.domain.rows import Row


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is advertised. `input_schema` is a JSON schema of type object."""

    name: str
    description: str
    input_schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One provider request, complete: nothing else is added on the way out."""

    model: str
    system: str
    rows: tuple[Row, ...]
    """The provider slice, oldest first: no boundary, rejected, empty or failed-empty rows.

    Parts: text; reasoning only with `replay` and only of this very model; tool calls with an object as
    input and a settled state, of assistant rows; media only of types the model reads natively, with
    their bytes in `files`.
    """
    max_tokens: int | None = None
    level: ThinkingLevel | None = None
    """One of the model's levels; None leaves it to the provider."""
    tools: tuple[ToolSpec, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Content of the media parts by SHA-256."""
