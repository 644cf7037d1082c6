"""No key gets into a text that is shown or kept."""

import pytest

from app.domain.errors import MAX_DETAIL_CHARS
from app.logs import hide_keys
from app.providers.redaction import one_line, quote

KEY = "sk-ant-api03-abcdefghijklmnop"


def test_keys_are_cut_out() -> None:
    text = f"Incorrect key {KEY}, or sk-proj-ABCDEFGHIJKLMNOP12, or Bearer abcdefghijklmno, or AIzaSyA1234567890abc."

    clean = hide_keys(text, (KEY,))

    assert clean == "Incorrect key [key], or [key], or Bearer [key], or [key]."
    assert hide_keys("my-local-secret is wrong", ("my-local-secret",)) == "[key] is wrong"
    assert hide_keys("risk-averse task-oriented desk-jockey", ()) == "risk-averse task-oriented desk-jockey"


def test_a_key_at_the_cap_is_cut_out_whole() -> None:
    text = "x" * (MAX_DETAIL_CHARS - 10) + " " + KEY + " y" * 400

    clean = quote(text, (KEY,))

    assert len(clean) == MAX_DETAIL_CHARS
    assert "sk-ant" not in clean


def test_what_can_not_be_seen_is_left_out() -> None:
    assert quote("\u202etxt.exe\u2066\x1b[31m\x00 \ud800end\u200b\n", ()) == "txt.exe[31m end"
    assert quote("sk-ant\u200b-api03-abcdefghijklmnop", (KEY,)) == "[key]"
    assert (
        one_line("\U0001f469\u200d\U0001f52c \u0645\u06cc\u200c\u0634\u0648\u062f")
        == "\U0001f469\u200d\U0001f52c \u0645\u06cc\u200c\u0634\u0648\u062f"
    )


@pytest.mark.parametrize(
    "key", ["hf_abcdefgh1234", "AIzaSyA-1234567890abc", "nvapi-abc123defgh", "SK-ANT-ABCDEF1234", "pplx-0123456789ab"]
)
def test_keys_of_every_vendor_are_blackened(key: str) -> None:
    assert hide_keys(f"with {key}, then", ()) == "with [key], then"


def test_names_of_modules_are_no_keys() -> None:
    text = "app/settings/key_account.py:12 in key_of_the_session"
    assert hide_keys(text, ("x",)) == text
