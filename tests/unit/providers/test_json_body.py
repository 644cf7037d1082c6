import json

import pytest

from app.providers.json_body import PIECE_CHARS, body_pieces, encode_body

BODY = {
    "model": "m",
    "stream": True,
    "max_tokens": 1_000,
    "temperature": 0.5,
    "nothing": None,
    "tools": [],
    "schema": {},
    'quo"ted': ("a", "b"),
    "messages": [{"role": "user", "content": [{"type": "text", "text": 'é 😀 "x"\n\\ \u2028 \x00' * 100_000}]}],
}


def test_the_body_is_what_pythons_own_encoder_makes() -> None:
    assert encode_body(BODY) == json.dumps(BODY, ensure_ascii=False, separators=(",", ":")).encode()


def test_no_piece_is_long() -> None:
    # A control character takes six.
    assert max(map(len, body_pieces(BODY))) <= 6 * PIECE_CHARS
    assert sum(1 for _ in body_pieces({"text": "x" * (3 * PIECE_CHARS)})) > 3


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_hold_is_no_body(value: object) -> None:
    with pytest.raises(ValueError, match=r"JSON|surrogates"):
        encode_body({"value": value})
