from pathlib import Path

import pytest

from tests.soak.calls import CallSoak


@pytest.mark.soak
def test_ten_kills_run_no_call_twice_and_lose_no_message(tmp_path: Path) -> None:
    tally = CallSoak(tmp_path, 20261130, lambda _line: None).run(10)
    assert tally.problems == []
    assert tally.kills == 10
    assert tally.acknowledged > tally.kills
    assert tally.found["calls done"] > tally.kills
    assert tally.found["calls interrupted"] > 0
    assert tally.found["versions"] > 0
