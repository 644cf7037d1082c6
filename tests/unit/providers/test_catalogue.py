from pathlib import Path

import pytest
from pydantic import ValidationError

from app.domain.models import ModelCard
from app.providers.catalogue import load_catalogue


def test_the_practice_model_is_in_the_catalogue_that_ships() -> None:
    assert load_catalogue() == (
        ModelCard(
            id="practice",
            provider="practice",
            name="Practice model",
            limit=16_384,
            max_output=8_192,
            encoding="o200k_base",
            factor=1.0,
        ),
    )


def test_a_model_without_a_known_limit_has_none(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text(
        '{"models": [{"id": "a", "provider": "b", "name": "A", "limit": null, "max_output": null,'
        ' "encoding": "o200k_base", "factor": 1.2}]}'
    )
    (card,) = load_catalogue(file)
    assert card.limit is None
    assert card.max_output is None


def test_a_model_without_a_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text('{"models": [{"id": "a"}]}')
    with pytest.raises(ValidationError):
        load_catalogue(file)
