"""No key gets into a text that is shown or kept."""

from app.domain.errors import MAX_DETAIL_CHARS
from app.providers.redaction import quote, redact

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
