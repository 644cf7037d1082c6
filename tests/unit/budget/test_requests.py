import pytest

from app.budget.requests import FRAME_TOKENS, fit_output, pdf_tokens, picture_tokens
from app.domain.models import ModelCard
from app.domain.request import ModelRequest, ToolSpec
from app.domain.rows import Blob, MediaPart, Part, Row, TextPart, ToolPart


class WordCounter:
    """One token a word; remembers whether it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def count_text(self, text: str, encoding: str) -> int:
        self.asked += 1
        return len(text.split())


def card(limit: int | None, max_output: int | None, factor: float = 1.0) -> ModelCard:
    return ModelCard("m", "p", "M", limit=limit, max_output=max_output, factor=factor)


def request(*parts: Part, role: str = "user") -> ModelRequest:
    row = Row.model_validate({"id": "r", "session": "s", "role": role, "parts": parts})
    return ModelRequest(model="m", system="", rows=(row,))


def picture(width: int | None, height: int | None) -> MediaPart:
    return MediaPart(media_type="image/png", bytes=9, width=width, height=height, blob=Blob(sha256="0" * 64, bytes=9))


@pytest.mark.parametrize(("limit", "most", "expected"), [(None, None, None), (None, 500, 500), (100_000, 500, 500)])
def test_a_short_request_gets_the_models_maximum_and_is_not_counted(
    limit: int | None, most: int | None, expected: int | None
) -> None:
    counter = WordCounter()
    assert fit_output(request(TextPart(text="hello")), card(limit, most), counter) == expected
    assert counter.asked == 0


@pytest.mark.parametrize(("words", "expected"), [(600, 388), (100, 500), (980, 1), (2000, 1)])
def test_a_long_request_leaves_what_the_window_has_left(words: int, expected: int) -> None:
    # 1,000 - number - number // 50, where the number is the words and the frame of one message.
    text = "word " * (words - FRAME_TOKENS)
    assert fit_output(request(TextPart(text=text)), card(1_000, 500), WordCounter()) == expected


def test_the_factor_of_the_model_counts() -> None:
    text = "word " * 200
    assert fit_output(request(TextPart(text=text)), card(1_000, 900, factor=2.0), WordCounter()) == 1_000 - 408 - 8


def test_without_a_maximum_the_window_is_the_maximum() -> None:
    text = "word " * 92
    assert fit_output(request(TextPart(text=text)), card(1_000, None), WordCounter()) == 1_000 - 100 - 2


@pytest.mark.parametrize(
    ("size", "tokens"),
    [((750, 1), 1), ((751, 1), 2), ((1568, 1568), 1_600), ((None, 10), 1_024), ((None, None), 1_024)],
)
def test_pictures_cost_by_their_pixels(size: tuple[int | None, int | None], tokens: int) -> None:
    assert picture_tokens(*size) == tokens


@pytest.mark.parametrize(
    ("pages", "size", "tokens"), [(12, 1, 36_000), (None, 1, 3_000), (None, 20_481, 6_000), (None, 10**9, 300_000)]
)
def test_pdf_files_cost_by_their_pages(pages: int | None, size: int, tokens: int) -> None:
    assert pdf_tokens(pages, size) == tokens


def test_files_calls_and_tools_are_part_of_the_number() -> None:
    counter = WordCounter()
    plain = fit_output(request(TextPart(text="w " * 400)), card(10_000, 9_000), counter)
    seen = fit_output(request(TextPart(text="w " * 400), picture(750, 750)), card(10_000, 9_000), counter)
    assert plain == 9_000
    assert seen == 10_000 - 400 - 750 - 8 - 1158 // 50
    call = ToolPart(call_id="c", name="n", input={"a": "b " * 9_000}, state="done", output="ok")
    with_call = fit_output(request(call, role="assistant"), card(10_000, 9_000), counter)
    assert with_call is not None
    assert with_call < 1_000
    tools = (ToolSpec("n", "words " * 2_000, {"type": "object"}),)
    advertised = fit_output(ModelRequest(model="m", system="", rows=(), tools=tools), card(10_000, 9_000), counter)
    assert advertised is not None
    assert advertised < 8_000
