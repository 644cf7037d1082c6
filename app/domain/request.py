"""What is asked of a model, independent of any provider's wire format."""

from dataclasses import dataclass

from app.domain.rows import Row


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One provider request, complete: nothing else is added on the way out."""

    model: str
    system: str
    rows: tuple[Row, ...]
    """The provider slice, oldest first: no boundary, rejected, empty or failed-empty rows."""
    max_tokens: int | None = None
