from app.domain.rows import Row, TextPart, UnknownPart, Usage


def test_an_unknown_part_keeps_its_fields() -> None:
    row = Row.model_validate(
        {
            "id": "a",
            "session": "s",
            "role": "user",
            "parts": [{"type": "hologram", "angle": 3}, {"type": "text", "text": "x"}],
        }
    )
    unknown, text = row.parts
    assert isinstance(unknown, UnknownPart)
    assert unknown.model_extra == {"angle": 3}
    assert isinstance(text, TextPart)


def test_a_token_count_that_is_no_count_is_absent() -> None:
    assert Usage.model_validate({"input": -1, "output": "12", "cache_read": 1.5}) == Usage()
    assert Usage.model_validate({"input": 0}).input == 0


def test_a_token_count_beyond_all_measure_is_absent() -> None:
    assert Usage.model_validate({"input": 2**53, "output": 10**400}) == Usage()
    assert Usage.model_validate({"input": 2**53 - 1}).input == 2**53 - 1
