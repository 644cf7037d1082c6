import pytest

from app.ui.chat.blocks import BlockKind
from app.ui.chat.items import Item, Section, Speaker
from app.ui.chat.selection import Selection, item_text, selected_html, selected_text
from app.ui.chat.transcript_model import Node, Place, TranscriptModel


class SourceReader:
    """Reads the source in place of a laid out document."""

    def length(self, node: Node, at: int) -> int:
        return len(self._text(node, at))

    def text(self, node: Node, at: int, start: int, end: int) -> str:
        return self._text(node, at)[start:end].replace("**", "")

    def _text(self, node: Node, at: int) -> str:
        block = node.rows[at].block
        if block is None:
            return ""
        return block.code if block.kind is BlockKind.CODE else block.source


def transcript() -> TranscriptModel:
    model = TranscriptModel()
    model.set_items(
        [
            Item("q", Speaker.USER, sections=[Section("text", "What?\nNow.")]),
            Item(
                "a",
                Speaker.ASSISTANT,
                sections=[Section("reasoning", "secret"), Section("text", "one **b**\n\ntwo\n\n```py\nx = 1\n```")],
            ),
            Item("n", Speaker.NOTICE, sections=[Section("text", "Rolled over")]),
        ]
    )
    for node in model.nodes:
        model.expand(node)
    return model


@pytest.mark.parametrize(
    ("anchor", "head", "text"),
    [
        ((1, 1, 0, 0), (1, 1, 0, 9), "one **b**"),
        ((1, 1, 0, 0), (1, 1, 0, 8), "one b*"),
        ((1, 1, 0, 4), (1, 1, 1, 2), "b\n\ntw"),
        ((1, 1, 1, 2), (1, 1, 0, 4), "b\n\ntw"),
        ((1, 1, 2, 0), (1, 1, 2, 5), "x = 1"),
        ((1, 1, 2, 2), (1, 1, 2, 5), "= 1"),
        ((1, 1, 1, 3), (1, 1, 2, 5), "x = 1"),
        ((1, 1, 1, 0), (1, 1, 2, 5), "two\n\n```py\nx = 1\n```"),
        ((1, 1, 1, 0), (1, 1, 2, 3), "two\n\nx ="),
        ((0, 0, 0, 6), (1, 1, 0, 3), "Now.\n\none"),
        ((0, 0, 0, 0), (2, 0, 0, 6), "What?\nNow.\n\none **b**\n\ntwo\n\n```py\nx = 1\n```\n\nRolled"),
        ((1, 1, 1, 1), (1, 1, 1, 1), ""),
        ((1, -1, 0, 0), (1, 1, 0, 3), "one"),
    ],
)
def test_whole_blocks_are_markdown_and_parts_are_what_is_seen(
    anchor: tuple[int, int, int, int], head: tuple[int, int, int, int], text: str
) -> None:
    selection = Selection()
    selection.select(Place(*anchor), Place(*head))

    assert selected_text(transcript(), selection, SourceReader()) == text


def test_all_is_the_text_of_every_item_without_what_is_folded() -> None:
    model, selection = transcript(), Selection()
    selection.select_all(model)

    text = selected_text(model, selection, SourceReader())

    assert text == "\n\n".join(item_text(node) for node in model.nodes)
    assert "secret" not in text
    model.toggle_fold(model.nodes[1], 0)
    assert "secret" in selected_text(model, selection, SourceReader())


def test_text_as_shown_has_no_markup() -> None:
    model, selection = transcript(), Selection()
    selection.select_all(model)

    shown = selected_text(model, selection, SourceReader(), as_shown=True)

    assert shown == "What?\nNow.\n\none b\n\ntwo\n\nx = 1\n\nRolled over"


def test_html_is_rendered_for_whole_blocks_and_escaped_for_parts() -> None:
    model, selection = transcript(), Selection()
    selection.select(Place(1, 1, 0, 0), Place(1, 1, 2, 3))

    html = selected_html(model, selection, SourceReader())

    assert html == "<p>one <strong>b</strong></p>\n<p>two</p>\n<pre>x =</pre>"


def test_a_selection_stays_with_its_text_when_older_items_come() -> None:
    model, selection = transcript(), Selection()
    selection.select(Place(1, 1, 0, 4), Place(1, 1, 1, 2))

    model.prepend([Item("o", Speaker.USER, sections=[Section("text", "old")])])

    assert selected_text(model, selection, SourceReader()) == "b\n\ntw"


def test_a_selection_past_the_end_of_a_shorter_text_is_cut_off() -> None:
    model, selection = transcript(), Selection()
    selection.select(Place(1, 1, 0, 4), Place(1, 1, 2, 5))

    model.update(Item("a", Speaker.ASSISTANT, sections=[Section("reasoning", "secret"), Section("text", "one **b**")]))

    assert selected_text(model, selection, SourceReader()) == "b"


def long_code() -> TranscriptModel:
    code = "\n".join(f"line {number}" for number in range(1_000))
    model = TranscriptModel()
    model.set_items([Item("a", Speaker.ASSISTANT, sections=[Section("text", f"one\n\n```\n{code}\n```\n\ntwo")])])
    while model.nodes[0].sections[0].is_pending or not model.nodes[0].is_expanded:
        model.expand(model.nodes[0])
    return model


def test_code_in_several_rows_has_a_fence_only_as_a_whole_and_with_something_beside_it() -> None:
    model, selection = long_code(), Selection()
    rows = [row for row in model.nodes[0].rows if row.block is not None]
    assert [row.block.kind is BlockKind.CODE for row in rows if row.block] == [False, True, True, False]
    end = SourceReader().length(model.nodes[0], model.nodes[0].rows.index(rows[2]))

    def selected(anchor: tuple[int, int], head: tuple[int, int]) -> str:
        selection.select(Place(0, 0, *anchor), Place(0, 0, *head))
        return selected_text(model, selection, SourceReader())

    assert selected((1, 0), (2, end)).startswith("line 0\n")
    assert "```" not in selected((1, 0), (2, end))
    assert "```" not in selected((0, 0), (1, 500_000))
    assert "```" not in selected((0, 0), (2, end - 1))
    assert selected((0, 0), (2, end)).startswith("one\n\n```\nline 0")
    assert selected((0, 0), (2, end)).endswith("line 999\n```")
