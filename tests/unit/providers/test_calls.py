import re

import pytest

from app.providers.calls import CallIds, fit_name

SHORT = re.compile(r"[a-z0-9_-]{1,12}")
NINE = re.compile(r"[a-zA-Z0-9]{9}")


def test_an_id_that_fits_stays_as_it_is() -> None:
    assert CallIds(SHORT).next("call_1") == "call_1"


@pytest.mark.parametrize("call_id", ["", "call:1", "ä", "\ud83d", "call_" * 200])
def test_another_id_becomes_one_that_fits_and_always_the_same(call_id: str) -> None:
    first, again = CallIds(SHORT).next(call_id), CallIds(SHORT).next(call_id)

    assert first == again
    assert NINE.fullmatch(first)


@pytest.mark.parametrize("fit", [SHORT, NINE])
def test_no_id_is_given_twice(fit: re.Pattern[str]) -> None:
    ids = CallIds(fit)

    given = [
        ids.next(call_id) for call_id in ("call_1", "call_1", "call_1_2", "call_1", "", "", "abcdefghi", "abcdefghi")
    ]

    assert len(set(given)) == len(given)
    assert all(fit.fullmatch(call_id) for call_id in given)


@pytest.mark.parametrize(
    ("name", "fitting"),
    [("look_up", "look_up"), ("functions.look", "functions_look"), ("", "unnamed"), ("x" * 90, "x" * 64)],
)
def test_names_are_made_fit(name: str, fitting: str) -> None:
    assert fit_name(name) == fitting
