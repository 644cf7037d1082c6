"""What a request is given right before it is written and sent."""

from pathlib import Path

import pytest

from app.budget.tokens import TokenCounter
from app.domain.models import ModelCard
from app.domain.request import ModelRequest
from app.domain.rows import Row, TextPart
from app.history.blobs import Blobs
from app.session.prepare import prepare

CARD = ModelCard(id="m", provider="p", name="M", limit=2_000, max_output=1_900, factor=1.0)


def request(text: str) -> ModelRequest:
    row = Row(id="r", session="s", role="user", parts=(TextPart(text=text),))
    return ModelRequest(model="m", system="", rows=(row,), max_tokens=1_900)


@pytest.mark.parametrize(("text", "most"), [("hello", 1_900), ("hello " * 500, 2_000 - 509 - 10)])
def test_a_reply_may_be_as_long_as_the_window_has_room_for(tmp_path: Path, text: str, most: int) -> None:
    assert prepare(request(text), CARD, Blobs(tmp_path), TokenCounter()).max_tokens == most


def test_with_a_damaged_vocabulary_the_models_maximum_remains(tmp_path: Path) -> None:
    counter = TokenCounter(tmp_path)
    assert prepare(request("hello " * 500), CARD, Blobs(tmp_path), counter).max_tokens == 1_900
