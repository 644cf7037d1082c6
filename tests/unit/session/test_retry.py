"""When a failed step is tried again: both sides of each limit. See context-windows.md, 12."""

import pytest

from app.domain.errors import ErrorKind, ProviderError
from app.providers.base import TextPiece
from app.session.retry import retry_delay
from tests.fakes.scripted import reply
from tests.unit.session.conftest import Program


def delay(
    *,
    tries: int = 1,
    elapsed: float = 0,
    retry_after: float | None = None,
    random: float = 0,
    kind: ErrorKind = ErrorKind.SERVER,
) -> float | None:
    error = ProviderError(kind, retry_after_seconds=retry_after)
    return retry_delay(error, tries=tries, elapsed_seconds=elapsed, random=lambda: random)


def test_waits_double_up_to_a_limit() -> None:
    assert [delay(tries=tries) for tries in range(1, 7)] == [2, 4, 8, 16, 32, None]


@pytest.mark.parametrize("tries", range(1, 6))
def test_up_to_half_of_a_wait_is_taken_off_at_random(tries: int) -> None:
    whole = delay(tries=tries)
    assert whole is not None
    assert delay(tries=tries, random=1) == whole / 2


@pytest.mark.parametrize(
    ("retry_after", "expected"), [(1, 2), (2.5, 2.5), (299, 299), (300, 300), (300.5, None), (86_400, None)]
)
def test_what_the_provider_asks_for_is_the_least_and_over_five_minutes_too_much(
    retry_after: float, expected: float | None
) -> None:
    assert delay(retry_after=retry_after) == expected


@pytest.mark.parametrize(
    ("elapsed", "retry_after", "expected"), [(598, None, 2), (598.5, None, None), (300, 300, 300), (301, 300, None)]
)
def test_ten_minutes_after_the_first_try_nothing_is_tried_any_more(
    elapsed: float, retry_after: float | None, expected: float | None
) -> None:
    assert delay(elapsed=elapsed, retry_after=retry_after) == expected


async def test_the_ten_minutes_count_from_the_first_try_of_the_step(program: Program) -> None:
    chat = await program.new_chat()
    program.provider.play(*[[ProviderError(ErrorKind.RATE_LIMIT, retry_after_seconds=250)]] * 3, reply("too late"))
    await chat.say("hi")
    assert program.clock.naps == [250, 250]
    assert chat.rows()[-1].text == ""

    # A turn that the person goes on with begins to count anew.
    program.provider.scripts.clear()
    program.provider.play([ProviderError(ErrorKind.SERVER)], reply("ok"))
    await chat.resume()
    await chat.idle()
    assert chat.rows()[-1].text == "ok"


async def test_it_is_kept_when_to_come_back(program: Program) -> None:
    chat = await program.new_chat()
    limited = ProviderError(ErrorKind.RATE_LIMIT, "slow down", retry_after_seconds=3_600)
    program.provider.play([limited], [TextPiece("half"), ProviderError(ErrorKind.SERVER)])
    began = program.clock.now()
    await chat.say("hi")
    await chat.say("again")
    _, first, _, second = chat.rows()
    assert first.error is not None
    assert first.error.retry_at is not None
    assert (first.error.retry_at - began).total_seconds() == 3_600
    assert second.error is not None
    assert second.error.retry_at is None
