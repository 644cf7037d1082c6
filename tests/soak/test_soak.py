from pathlib import Path

import pytest

from tests.soak.headless import Soak


@pytest.mark.soak
def test_five_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    tally = Soak(tmp_path, 20261130, lambda _line: None).run(5)
    assert tally.problems == []
    assert tally.kills == 5
    assert tally.acknowledged > 0
