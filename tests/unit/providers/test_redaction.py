"""No key gets into a text that is shown or kept."""

from app.domain.errors import MAX_DETAIL_CHARS
from app.providers.redaction import one_line, quote, redact

KEY = "sk-ant-api03-abcdefghijklmnop"


def test_keys_are_cut_out() -> None:
    text = f"Incorrect key {KEY}, or sk-proj-ABCDEFGHIJKLMNOP12, or Bearer abcdefghijklmno, or AIzaSyA1234567890abc."

    clean = redact(text, (KEY,))

    assert clean == "Incorrect key [key], or [key], or Bearer [key], or [key]."
    assert redact("my-local-secret is wrong", ("my-local-secret",)) == "[key] is wrong"
    assert redact("risk-averse task-oriented desk-jockey", ()) == "risk-averse task-oriented desk-jockey"


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
