"""docs/settings-format.md names every field there is."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from app.settings.schema import (
    Agents,
    Appearance,
    Endpoint,
    Experiments,
    General,
    ModelSettings,
    Network,
    Privacy,
    Profile,
    Rule,
    Settings,
)

SHAPES: list[type[BaseModel]] = [
    Settings,
    General,
    Appearance,
    Network,
    Privacy,
    Experiments,
    Endpoint,
    ModelSettings,
    Agents,
    Profile,
    Rule,
]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "settings-format.md"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_page_names_every_field(shape: type[BaseModel]) -> None:
    text = PAGE.read_text("utf-8")
    groups = {"general", "appearance", "network", "privacy", "agents", "experiments"}

    assert [name for name in shape.model_fields if name not in groups and f"{name}`" not in text] == []
