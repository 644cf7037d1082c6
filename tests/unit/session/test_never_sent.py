"""Rows that are shown to the person and never sent to a model. See context-windows.md, 4."""

import pytest

from app.domain.models import ModelCard
from app.domain.rows import Boundary, Flag, Kind, Row, TextPart
from app.session.assemble import assemble

CARD = ModelCard("m", "p", "M", limit=1_000, max_output=100)


def row(text: str, *, role: str = "user", **fields: object) -> Row:
    return Row.model_validate({"id": text, "session": "s", "role": role, "parts": (TextPart(text=text),), **fields})


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("never", [{"flags": (Flag.REJECTED,)}, {"kind": "of tomorrow"}], ids=["rejected", "notice"])
def test_a_rejected_row_and_a_notice_are_never_sent(role: str, never: dict[str, object]) -> None:
    window = [row("asked"), row("told", role="assistant"), row("odd", role=role, **never), row("more")]
    assert [sent.text for sent in assemble(window, CARD).rows] == ["asked", "told", "more"]


@pytest.mark.parametrize("kind", ["rollover", "reset", "compaction", "somersault"])
def test_of_boundaries_only_a_summary_is_sent(kind: str) -> None:
    boundary = row("summary", boundary=Boundary(kind=kind), kind=kind)
    window = [row("before"), boundary, row("told", role="assistant"), row("asked")]
    sent = [each.text for each in assemble(window, CARD).rows]
    assert sent == (["summary", "told", "asked"] if kind == "compaction" else ["told", "asked"])


def test_what_was_sent_once_is_the_begin_of_all_that_is_sent_later() -> None:
    window: list[Row] = []
    before: tuple[Row, ...] = ()
    for number in range(4):
        hidden = row(f"go on {number}", kind=Kind.CONTINUE, flags=(Flag.HIDDEN,))
        window += [row(f"asked {number}"), row(f"told {number}", role="assistant"), hidden]
        sent = assemble(window, CARD).rows
        assert sent[: len(before)] == before
        window.append(row(f"told more {number}", role="assistant"))
        before = assemble(window, CARD).rows
        assert before[: len(sent)] == sent
