from datetime import UTC, datetime

import pytest

from app.domain.errors import ErrorKind
from app.domain.rows import (
    STEP_LIMIT,
    Boundary,
    ErrorInfo,
    Flag,
    Kind,
    ReasoningPart,
    Row,
    TextPart,
    ToolPart,
    UnknownPart,
)
from app.history.reader import DamagedEntry, Entry, RowEntry
from app.ui.chat.items import ItemAction, Speaker
from app.ui.chat.row_items import item_of, items_of, last_message, open_turn_item, with_action
from app.ui.wording import error_sentence


def row(**fields: object) -> Row:
    return Row.model_validate({"id": "r", "session": "s", "role": "assistant"} | fields)


def name(ref: str) -> str:
    return f"<{ref}>"


def test_a_message_shows_who_and_what() -> None:
    item = item_of(row(role="user", parts=[TextPart(text="hi")]), name)
    assert item is not None
    assert (item.speaker, [section.text for section in item.sections]) == (Speaker.USER, ["hi"])
    reply = item_of(row(request={"provider": "p", "model": "m"}), name)
    assert reply is not None
    assert reply.name == "<p/m>"


@pytest.mark.parametrize(
    ("because", "words"),
    [
        ("refusal", "instead of <p/big>, which declined"),
        ("overloaded", "instead of <p/big>, which was overloaded"),
        ("something else", "instead of <p/big>"),
        (None, "instead of <p/big>"),
    ],
)
def test_a_model_that_stepped_in_says_for_which_and_why(because: str | None, words: str) -> None:
    request = {"provider": "p", "model": "m", "instead_of": "p/big", "instead_because": because}
    reply = item_of(row(request=request), name)
    assert reply is not None
    assert (reply.name, reply.aside) == ("<p/m>", words)


def test_a_call_of_a_row_keeps_how_long_it_took_and_what_it_changed() -> None:
    call = ToolPart(call_id="c", name="edit_file", input={}, state="done", output="ok", seconds=1.5, diff="+new")
    item = item_of(row(parts=[call]), name)
    assert item is not None
    assert item.sections[0].tool is not None
    assert (item.sections[0].tool.seconds, item.sections[0].tool.diff) == (1.5, "+new")


def test_thoughts_that_only_go_back_are_not_shown() -> None:
    thoughts = [ReasoningPart(text="Hm.", seconds=4.2), ReasoningPart(text="", replay={"data": "x"})]
    item = item_of(row(parts=[*thoughts, TextPart(text="Hello")]), name)
    assert item is not None
    assert [(section.kind, section.seconds) for section in item.sections] == [("reasoning", 4.2), ("text", None)]


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_every_error_has_a_sentence_of_its_own(kind: ErrorKind) -> None:
    item = item_of(row(error=ErrorInfo(kind=kind, detail="detail", is_quote=True), flags=[Flag.FAILED]), name)
    assert item is not None
    assert item.is_error
    assert item.note == f"{error_sentence(kind)} The provider says: “detail”. Your message is kept."
    assert error_sentence(kind) != error_sentence("something else")


def test_a_sentence_of_our_own_stands_alone() -> None:
    item = item_of(
        row(error=ErrorInfo(kind="network", detail="The connection to x broke off."), flags=["failed"]), name
    )
    assert item is not None
    assert item.note == "The connection to x broke off. Your message is kept."


def test_an_error_says_when_to_come_back() -> None:
    error = ErrorInfo(kind="rate_limit", retry_at=datetime(2026, 11, 30, 14, 5, tzinfo=UTC))
    item = item_of(row(error=error), name)
    assert item is not None
    assert "Try again after" in item.note


@pytest.mark.parametrize(
    ("parts", "note", "action"),
    [
        ([TextPart(text="half")], "Interrupted here.", ItemAction.CONTINUE),
        ([], "Interrupted before the first word.", ItemAction.RETRY),
    ],
)
def test_a_reply_that_was_cut_off_offers_what_helps(parts: list[TextPart], note: str, action: ItemAction) -> None:
    cut_off = row(flags=[Flag.INTERRUPTED], parts=parts)
    item = item_of(cut_off, name)
    assert item is not None
    assert item.note == note
    assert not item.is_error
    assert with_action(item, cut_off).actions == (action,)


def test_thoughts_alone_are_tried_again() -> None:
    cut_off = row(flags=[Flag.INTERRUPTED], parts=[{"type": "reasoning", "text": "hm"}])
    item = item_of(cut_off, name)
    assert item is not None
    assert with_action(item, cut_off).actions == (ItemAction.RETRY,)


def test_a_chat_that_has_outgrown_its_model_is_helped_by_a_new_one_or_another_model() -> None:
    failed = row(error=ErrorInfo(kind="context_exceeded"), flags=[Flag.FAILED], parts=[TextPart(text="half")])
    item = item_of(failed, name)
    assert item is not None
    assert with_action(item, failed).actions == (ItemAction.NEW_CHAT, ItemAction.MODEL)


@pytest.mark.parametrize(
    ("kind", "helps"),
    [
        (ErrorKind.AUTHENTICATION, ItemAction.SETTINGS),
        (ErrorKind.QUOTA, ItemAction.MODEL),
        (ErrorKind.MODEL_NOT_FOUND, ItemAction.MODEL),
        (ErrorKind.INVALID_REQUEST, ItemAction.MODEL),
        (ErrorKind.NETWORK, ItemAction.CONTINUE),
    ],
)
def test_an_error_offers_what_helps_and_says_what_is_kept(kind: ErrorKind, helps: ItemAction) -> None:
    failed = row(error=ErrorInfo(kind=kind), flags=[Flag.FAILED], parts=[TextPart(text="half")])
    item = item_of(failed, name)
    assert item is not None
    assert with_action(item, failed).actions[0] == helps
    assert with_action(item, failed).actions[-1] == ItemAction.CONTINUE
    assert "What came before is kept." in item.note


def test_an_address_that_does_not_fit_is_mended_in_the_settings() -> None:
    error = ErrorInfo(kind=ErrorKind.INVALID_REQUEST, detail="x is not a model API. Check the address.")
    failed = row(error=error, flags=[Flag.FAILED])
    item = item_of(failed, name)
    assert item is not None
    assert with_action(item, failed).actions == (ItemAction.SETTINGS, ItemAction.MODEL, ItemAction.RETRY)


def test_a_reply_without_a_word_says_so() -> None:
    item = item_of(row(), name)
    assert item is not None
    assert (item.note, item.is_error) == ("The model answered without a word.", False)


def test_hidden_rows_show_nothing_and_strange_ones_a_notice() -> None:
    assert item_of(row(flags=[Flag.HIDDEN]), name) is None
    for strange in (row(kind="from_the_future"), row(boundary=Boundary(kind="rollover"), kind="rollover")):
        item = item_of(strange, name)
        assert item is not None
        assert item.speaker is Speaker.NOTICE
    parts = [UnknownPart(type="hologram"), ToolPart(call_id="c", name="look", state="done")]
    item = item_of(row(parts=parts), name)
    assert item is not None
    assert "hologram" in item.sections[0].text
    assert item.sections[1].tool is not None
    assert item.sections[1].tool.name == "look"


def test_damage_is_shown_in_its_place() -> None:
    entries: list[Entry] = [
        RowEntry(row(id="a"), "chat", 0),
        DamagedEntry("chat", 10, 5, "not JSON"),
        DamagedEntry("chat", 15, 5, "not JSON"),
        DamagedEntry("chat", 20, 3 * 2**20, "too long", is_oversized=True),
    ]
    _, damaged, oversized = items_of(entries, name)
    assert [section.text for section in damaged.sections] == ["2 damaged entries are kept on disk and not shown."]
    (single,) = items_of([DamagedEntry("chat", 10, 5, "not JSON")], name)
    assert [section.text for section in single.sections] == ["1 damaged entry is kept on disk and not shown."]
    assert "3.0 MB" in oversized.sections[0].text


def test_the_last_message_is_no_request_to_go_on() -> None:
    rows = [row(id="a"), row(id="b", kind=Kind.CONTINUE, role="user")]
    found = last_message([RowEntry(each, "chat", 0) for each in rows])
    assert found is not None
    assert found.id == "a"
    beyond = [*rows, row(id="c", boundary=Boundary(kind="reset"))]
    assert last_message([RowEntry(each, "chat", 0) for each in beyond]) is None
    assert open_turn_item("u").actions == (ItemAction.RETRY,)


def test_results_the_model_has_not_answered_can_be_continued() -> None:
    settled = row(parts=[ToolPart(call_id="c", name="look", input={}, state="done", output="seen")])
    item = item_of(settled, name)
    assert item is not None
    assert item.note == ""
    offered = with_action(item, settled)
    assert (offered.note, offered.actions) == ("The model has not gone on from here.", (ItemAction.CONTINUE,))
    error = ErrorInfo(kind=STEP_LIMIT, detail="It was stopped here.")
    limited = settled.model_copy(update={"error": error, "flags": (Flag.FAILED,)})
    item = item_of(limited, name)
    assert item is not None
    assert (item.note, item.is_error) == ("It was stopped here.", False), "nothing has failed"
    assert with_action(item, limited).actions == (ItemAction.CONTINUE,)
