import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import ErrorKind
from app.providers.practice.prose import count_words
from app.providers.practice.rules import SLOW_WORDS_PER_SECOND, Rules, Script, load_rules


@pytest.fixture(scope="module")
def rules() -> Rules:
    return load_rules()


@pytest.mark.parametrize("message", ["help", "HELP", " Help. ", "`help`", "/help", "help!"])
def test_help_lists_every_command(rules: Rules, message: str) -> None:
    text = rules.answer(message).text
    commands = ("help", "write 200 words", "think", "table", "code", "slow", "fail KIND", "fail KIND after text")
    tools = ("files", "read FILE", "find TEXT in files", "write FILE: TEXT", "change OLD to NEW in FILE")
    for command in (*commands, *tools, "note TEXT", "recall TEXT", "loop", "call NAME {…}"):
        assert f"| `{command}` |" in text


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("write 1 word", 1),
        ("Write 20 Words.", 20),
        ("please write me 1,200 words", 1_200),
        ("write 5000 words", 5_000),
        ("write 50", 50),
    ],
)
def test_write_gives_that_many_words(rules: Rules, message: str, words: int) -> None:
    assert count_words(rules.answer(message).text) == words


@pytest.mark.parametrize("message", ["write 0 words", "write 5001 words", "write words", "write " + "9" * 5_000])
def test_write_says_how_many_words_it_can(rules: Rules, message: str) -> None:
    assert "from 1 to 5,000" in rules.answer(message).text


def test_write_does_not_pretend_to_write_about_a_subject(rules: Rules) -> None:
    assert "can't write about a subject" in rules.answer("write 200 words about Kyoto").text


def test_think_reasons_before_it_answers(rules: Rules) -> None:
    script = rules.answer("Think")
    assert "3 × 4 = 12" in script.reasoning
    assert "12 panes" in script.text


def test_table_and_code_are_markdown(rules: Rules) -> None:
    assert "\n|---|" in rules.answer("table").text
    assert "```python\ndef count_panes" in rules.answer("code").text


def test_slow_slows_its_own_text_or_what_is_asked_behind_it(rules: Rules) -> None:
    assert rules.answer("slow").words_per_second == SLOW_WORDS_PER_SECOND
    written = rules.answer("Slow write 30 words")
    assert written.words_per_second == SLOW_WORDS_PER_SECOND
    assert count_words(written.text) == 30
    assert rules.answer("Slow down, please!").text == rules.answer("slow").text
    assert rules.answer("slow " * 10_000).text == rules.answer("slow").text
    assert rules.answer("write 30 words").words_per_second is None


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_every_kind_of_failure_can_be_had_before_and_after_text(rules: Rules, kind: ErrorKind) -> None:
    assert rules.answer(f"fail {kind}") == Script(failure=kind)
    later = rules.answer(f"FAIL {kind.upper().replace('_', ' ')} after text")
    assert later.failure is kind
    assert later.text
    assert "on purpose" in rules.explain_failure(kind)


@pytest.mark.parametrize("message", ["fail", "fail badly", "fail after text", "fail badly after text"])
def test_fail_lists_the_kinds_it_knows(rules: Rules, message: str) -> None:
    script = rules.answer(message)
    assert script.failure is None
    for kind in ErrorKind:
        assert f"`{kind}`" in script.text
    assert "`after text`" in script.text


@pytest.mark.parametrize(
    "message", ["call search", 'call search {"text": "temple"}', 'CALL files.read {"a": {"b": 1}}']
)
def test_a_call_is_answered_with_the_plain_fact_that_there_are_no_tools(rules: Rules, message: str) -> None:
    text = rules.answer(message).text
    assert f"`{message.split()[1]}`" in text
    assert text.startswith("Nothing was called.")
    assert "no tools in this chat" in text
    assert "JSON" not in text


@pytest.mark.parametrize("arguments", ["{", "{text: 1}", '{"a": 1} and more', '{"a":' * 100_000])
def test_a_call_with_broken_json_says_so(rules: Rules, arguments: str) -> None:
    script = rules.answer(f"call search {arguments}", tools=["search"])
    assert script.text.startswith("Nothing was called.")
    assert "isn't a JSON object" in script.text
    assert script.calls == ()


@pytest.mark.parametrize("name", ["Search", "searching", "look"])
def test_a_call_of_a_tool_that_is_not_there_names_those_that_are(rules: Rules, name: str) -> None:
    script = rules.answer(f"call {name}", tools=["search", "read"])
    assert f"no tool `{name}`" in script.text
    assert "What there is: `read`, `search`." in script.text
    assert script.calls == ()


@pytest.mark.parametrize(
    ("message", "name", "expected"),
    [
        ("call search", "search", {}),
        ('call search {"text": "temple"}', "search", {"text": "temple"}),
        ('`CALL files.read{"a": {"b": 1}}`', "files.read", {"a": {"b": 1}}),
        ('slow call search {"a":\n 1}', "search", {"a": 1}),
    ],
)
def test_a_call_is_made_exactly_as_it_was_typed(
    rules: Rules, message: str, name: str, expected: dict[str, object]
) -> None:
    script = rules.answer(message, tools=["search", "files.read"])
    (call,) = script.calls
    assert (call.name, call.input, script.text) == (name, expected, "")


def test_what_nobody_knows_is_answered_with_what_can_be_done(rules: Rules) -> None:
    text = rules.answer("asdf qwer zxcv").text
    assert "not an AI model" in text
    assert "`help`" in text


def test_what_is_not_quite_understood_is_answered_with_the_closest_questions(rules: Rules) -> None:
    text = rules.answer("why does it say next try in 4 seconds").text
    assert "- Does Muntin try again by itself?" in text
    assert "`help`" in text


@given(
    message=st.text(max_size=200)
    | st.from_regex(r"(?i)(slow )?(write|fail|call|think|table|code|help)( .{0,30})?", fullmatch=True)
)
def test_any_message_has_a_reply(rules: Rules, message: str) -> None:
    script = rules.answer(message)
    assert script.text or script.failure
    json.dumps(script.text)


SCRIPTS = [
    Script("One two.\n\n- three\n- four  \n\n```\n  five\n```"),
    Script("Answer.", reasoning="First this.\n\nThen that."),
    Script("Before it.", failure=ErrorKind.SERVER, after_failure="\n\nAfter it."),
]


@given(script=st.sampled_from(SCRIPTS), data=st.data())
def test_what_was_said_and_the_rest_are_the_whole(script: Script, data: st.DataObject) -> None:
    whole = script.text + script.after_failure
    cut = data.draw(st.integers(1, len(whole) - 1))
    rest = script.rest(said=whole[:cut])
    if cut < len(script.text):
        assert rest.failure is script.failure
        assert whole[:cut] + rest.text + rest.after_failure == whole
    else:
        assert rest.failure is None
        assert whole[:cut] + rest.text == whole
    assert rest.reasoning == ""


@given(cut=st.integers(0, 10))
def test_a_reply_cut_in_its_reasoning_goes_on_there(cut: int) -> None:
    script = Script("Answer.", reasoning="0123456789")
    rest = script.rest(said="", reasoned="0123456789"[:cut])
    assert rest.reasoning == "0123456789"[cut:]
    assert rest.text == "Answer."


@pytest.mark.parametrize(
    ("said", "rest"),
    [
        ("One", " two three"),
        ("One ", "two three"),
        ("One\n\ntwo", " three"),
        ("Onetwo", " three"),
        ("  One", " two three"),
    ],
)
def test_white_space_that_was_trimmed_does_not_matter(said: str, rest: str) -> None:
    assert Script("One two three").rest(said=said).text == rest


def test_a_reply_that_was_said_whole_or_not_at_all_is_not_repeated() -> None:
    assert Script("One two").rest(said="One two").text == "That was the whole reply."
    assert "can't tell where" in Script("One two").rest(said="Three").text
    assert "can't tell where" in Script("One two").rest(said="One two three").text


def test_a_failure_before_any_text_stays_one() -> None:
    assert Script(failure=ErrorKind.QUOTA).rest(said="") == Script(failure=ErrorKind.QUOTA)
