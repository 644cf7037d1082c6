"""The models that ship with Muntin: what `resources/models.json` knows of them."""

from pathlib import Path

from pydantic import BaseModel

from app.assets import resource
from app.domain.models import ModelCard


class _Catalogue(BaseModel):
    models: tuple[ModelCard, ...]


def load_catalogue(path: Path | None = None) -> tuple[ModelCard, ...]:
    """Return every model of the catalogue, in its order; by default of the one that ships."""
    return _Catalogue.model_validate_json((path or resource("models.json")).read_bytes()).models
