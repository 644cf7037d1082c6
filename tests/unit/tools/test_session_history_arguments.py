import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.tools.arguments import BadArguments
from app.tools.history_arguments import (
    ACTIONS,
    ListItems,
    ListWindows,
    ReadItem,
    Search,
    parse,
)
from app.tools.history_schema import SPEC

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_FIELDS = sorted(SPEC.input_schema["properties"])  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ({"action": "list_windows"}, ListWindows()),
        ({"action": "List-Windows ", "limit": "7"}, ListWindows(limit=7)),
        ({"action": "list_windows", "limit": 5_000}, ListWindows(limit=50)),
        ({"action": "list_items", "limit": 51.0}, ListItems(limit=50)),
        ({"action": "list_items", "limit": 10**30}, ListItems(limit=50)),
        ({"action": "list_items", "max_chars_per_item": 900}, ListItems(max_chars_per_item=200)),
        ({"action": "list_items", "window_id": 57}, ListItems(window_id="w:57")),
        ({"action": "list_items", "window_id": 57.0}, ListItems(window_id="w:57")),
        ({"action": "list_items", "role": "User"}, ListItems(role="user")),
        ({"action": "list_items", "role": None, "window_id": "", "cursor": None}, ListItems()),
        ({"action": "list_items", "recent_first": "false"}, ListItems(recent_first=False)),
        ({"action": "search", "query": "a", "limit": 26}, Search(query="a", limit=25)),
        ({"action": "search", "query": 2043}, Search(query="2043")),
        ({"action": "search", "query": 2043.0}, Search(query="2043")),
        ({"action": "search", "query": 0.5}, Search(query="0.5")),
        ({"action": "search", "query": "x" * 1_024}, Search(query="x" * 1_024)),
        ({"action": "search", "query": " two "}, Search(query=" two ")),
        ({"action": "search", "query": "\ud83d"}, Search(query="\ufffd")),
        ({"action": "read_item", "item_id": 12}, ReadItem(item_id="#12")),
        ({"action": "read_item", "item_id": 12.0}, ReadItem(item_id="#12")),
        ({"action": "read_item", "item_id": "[#12]"}, ReadItem(item_id="#12")),
        ({"action": "read_item", "item_id": "#12", "limit_chars": 99_999}, ReadItem(item_id="#12", limit_chars=16_000)),
        ({"action": "read_item", "item_id": "#1", "offset_chars": "40"}, ReadItem(item_id="#1", offset_chars=40)),
    ],
)
def test_what_can_be_understood_is(arguments: dict[str, object], call: object) -> None:
    assert parse(arguments).call == call


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, 'action must be one of "search"'),
        ({"action": "delete"}, 'action must be one of "search"'),
        ({"action": ["search"]}, 'action must be one of "search"'),
        ({"action": "search"}, "query must be the words"),
        ({"action": "search", "query": ""}, "query must be the words"),
        ({"action": "search", "query": "x" * 1_025}, "query must be the words"),
        ({"action": "search", "query": ["a"]}, "query must be the words"),
        ({"action": "search", "query": True}, "query must be the words"),
        ({"action": "search", "query": "a", "limit": 0}, "limit must be a whole number"),
        ({"action": "search", "query": "a", "limit": True}, "limit must be a whole number"),
        ({"action": "search", "query": "a", "limit": 2.5}, "limit must be a whole number"),
        ({"action": "search", "query": "a", "limit": float("nan")}, "limit must be a whole number"),
        ({"action": "search", "query": "a", "role": "system"}, 'role must be "user" or "assistant"'),
        ({"action": "list_items", "recent_first": "perhaps"}, "recent_first must be true or false"),
        ({"action": "list_items", "window_id": {"id": 1}}, "window_id must be a text"),
        ({"action": "read_item"}, "item_id must be a text"),
        ({"action": "read_item", "item_id": "#1", "offset_chars": -1}, "offset_chars must be a whole number"),
        ({"action": "read_item", "item_id": "#1", "limit_chars": "many"}, "limit_chars must be a whole number"),
        ({"action": "list_windows", "cursor": 12}, "cursor must be the text"),
    ],
)
def test_what_can_not_be_understood_is_said_with_what_to_send_instead(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(BadArguments, match=said) as caught:
        parse(arguments)

    assert "pydantic" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadArguments, match=r"search: query must be .*; limit must be .*\."):
        parse({"action": "search", "limit": "x"})


def test_fields_nobody_asked_for_are_named_and_passed_over() -> None:
    asked = parse({"action": "list_windows", "mode": "words", "query": "a", "role": None, "x" * 99: 1})

    assert asked.call == ListWindows()
    assert asked.ignored[:2] == ("mode", "query")
    assert len(asked.ignored[2]) == 40


@given(
    st.dictionaries(st.sampled_from(_FIELDS) | st.text(), _VALUES)
    | st.fixed_dictionaries({"action": st.sampled_from(list(ACTIONS))}, optional=dict.fromkeys(_FIELDS[1:], _VALUES))
)
def test_any_arguments_are_understood_or_refused(arguments: dict[str, Any]) -> None:
    with contextlib.suppress(BadArguments):
        assert parse(arguments).action in ACTIONS


def test_every_field_of_the_schema_is_taken_by_an_action_and_the_other_way_round() -> None:
    taken = {name for model in ACTIONS.values() for name in model.model_fields}

    assert {"action", *taken} == set(_FIELDS)
    assert SPEC.input_schema["type"] == "object"


def test_every_example_in_the_description_is_understood() -> None:
    examples = [line.split("Example: ", 1)[1] for line in SPEC.description.splitlines() if "Example: " in line]

    assert [json.loads(example)["action"] for example in examples] == list(ACTIONS)
    assert all(parse(json.loads(example)).ignored == () for example in examples)


def fits(value: object, schema: dict[str, Any]) -> bool:
    """Whether a value is what a field of the schema says."""
    kind = {"string": str, "integer": int, "boolean": bool}[schema["type"]]
    if type(value) is not kind or value not in schema.get("enum", [value]):
        return False
    size = len(value) if isinstance(value, str) else value
    least, most = (schema.get(name) for name in (("minLength", "maxLength") if kind is str else ("minimum", "maximum")))
    return (least is None or size >= least) and (most is None or size <= most)


def test_every_example_is_what_the_schema_says() -> None:
    fields: dict[str, dict[str, Any]] = SPEC.input_schema["properties"]  # type: ignore[assignment]
    calls = [json.loads(line.split("Example: ", 1)[1]) for line in SPEC.description.splitlines() if "Example: " in line]
    in_fields = {
        name: json.loads(schema["description"].split("Example: ", 1)[1])
        for name, schema in fields.items()
        if "Example: " in schema["description"]
    }

    assert len(in_fields) >= len(fields) - 3
    for example in [*calls, in_fields]:
        assert [name for name, value in example.items() if not fits(value, fields[name])] == []
    for name, value in in_fields.items():
        action = next(action for action, model in ACTIONS.items() if name in model.model_fields)
        needed = {"search": {"query": "a"}, "read_item": {"item_id": "#1"}}.get(action, {})
        assert getattr(parse({"action": action, **needed, name: value}).call, name) == value
