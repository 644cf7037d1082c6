"""The models that ship with Muntin: what `resources/models.json` knows of them."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from app.assets import resource
from app.domain.models import ModelCard

_DATED: Final = re.compile(r"(?P<model>.+)-(?:20\d{6}|20\d\d-\d\d-\d\d)")
"""Anthropic ends the id of a fixed version with `-20260205`, OpenAI with `-2026-04-23`."""


class _File(BaseModel):
    models: tuple[ModelCard, ...]


class Catalogue:
    """Entries by maker and id; `provider` of an entry is its maker."""

    def __init__(self, entries: Iterable[ModelCard]) -> None:
        self.entries = tuple(entries)
        self._by_id = {(entry.provider, entry.id): entry for entry in self.entries}

    def of_maker(self, maker: str) -> tuple[ModelCard, ...]:
        """Return the entries of one maker, in their order."""
        return tuple(entry for entry in self.entries if entry.provider == maker)

    def find(self, maker: str, model: str) -> ModelCard | None:
        """Return the entry of a model, also for a dated version of it; None if there is none."""
        return self._by_id.get((maker, model)) or self._by_id.get((maker, undated(model)))


def undated(model: str) -> str:
    """Return the id of a model without the date of a fixed version."""
    found = _DATED.fullmatch(model)
    return found["model"] if found else model


def load_catalogue(path: Path | None = None) -> Catalogue:
    """Return the catalogue; by default the one that ships."""
    return Catalogue(_File.model_validate_json((path or resource("models.json")).read_bytes()).models)
