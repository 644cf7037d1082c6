from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.chat.items import Item, ItemAction, Section, Speaker
from app.ui.chat.transcript_model import Node, RowKind, Scale, TranscriptModel


def reply(name: str, *texts: str, streaming: bool = False, **more: object) -> Item:
    sections = [Section("reasoning" if text.startswith("?") else "text", text) for text in texts]
    return replace(Item(name, Speaker.ASSISTANT, sections=sections, streaming=streaming), **more)  # type: ignore[arg-type]


def asked(name: str, text: str = "hi") -> Item:
    return Item(name, Speaker.USER, sections=[Section("text", text)])


def model_of(*items: Item) -> TranscriptModel:
    model = TranscriptModel()
    model.set_items(items)
    return model


def expanded(model: TranscriptModel, name: str) -> Node:
    node = model.node(name)
    assert node is not None
    model.expand(node)
    cut_the_rest(model)
    return node


def cut_the_rest(model: TranscriptModel) -> None:
    while model.is_behind:
        model.catch_up()


def kinds(node: Node) -> list[str]:
    return [row.kind.name for row in node.rows]


def sources(node: Node) -> list[str]:
    return [row.block.source for row in node.rows if row.block is not None]


def sums_are_right(model: TranscriptModel) -> bool:
    return model.heights.total == sum(node.heights.total for node in model.nodes)


@pytest.mark.parametrize(
    ("item", "rows"),
    [
        (reply("a", "one\n\ntwo"), ["HEADER", "BLOCK", "BLOCK", "BAR"]),
        (reply("a", "?think", "say"), ["HEADER", "FOLD", "BLOCK", "BAR"]),
        (reply("a", streaming=True), ["HEADER", "WAIT", "BAR"]),
        (reply("a", "", streaming=True), ["HEADER", "WAIT", "BAR"]),
        (reply("a", "x", streaming=True), ["HEADER", "BLOCK", "BAR"]),
        (reply("a", "x", note="Stopped."), ["HEADER", "BLOCK", "FOOTER", "BAR"]),
        (reply("a", note="Failed.", actions=[ItemAction.RETRY]), ["HEADER", "FOOTER", "BAR"]),
        (asked("a", "x\n```\ny\n```"), ["HEADER", "BLOCK", "BLOCK", "BAR"]),
        (Item("a", Speaker.NOTICE, sections=[Section("text", "Rollover")]), ["BLOCK"]),
        (Item("a", Speaker.NOTICE), ["FOOTER"]),
    ],
)
def test_an_item_has_the_rows_it_needs(item: Item, rows: list[str]) -> None:
    assert kinds(expanded(model_of(item), "a")) == rows


def test_nothing_is_cut_into_blocks_before_it_is_looked_at() -> None:
    model = model_of(*(reply(str(number), "text\n\n" * 50) for number in range(100)))

    assert all(kinds(node) == ["PENDING"] for node in model.nodes)
    assert model.heights.total > 0


def test_an_unfolded_section_shows_its_blocks_and_folds_again() -> None:
    model = model_of(reply("a", "?one\n\ntwo", "say"))
    node = expanded(model, "a")

    model.toggle_fold(node, 0)
    assert kinds(node) == ["HEADER", "FOLD", "BLOCK", "BLOCK", "BLOCK", "BAR"]
    assert sums_are_right(model)

    model.toggle_fold(node, 0)
    assert kinds(node) == ["HEADER", "FOLD", "BLOCK", "BAR"]


def test_streamed_text_grows_the_last_block_and_leaves_the_rest_alone() -> None:
    model = model_of(reply("a", "one\n\ntwo", streaming=True))
    node = expanded(model, "a")
    first = node.rows[1]

    model.append_delta("a", "text", " more\n\nthree")
    model.catch_up()

    assert sources(node) == ["one", "two more", "three"]
    assert node.rows[1] is first
    assert sums_are_right(model)


def test_a_delta_of_another_kind_begins_a_section() -> None:
    model = model_of(reply("a", streaming=True))
    node = expanded(model, "a")

    for kind, text in (("reasoning", "hm"), ("reasoning", "m"), ("text", "so"), ("reasoning", "wait"), ("text", "yes")):
        model.append_delta("a", kind, text)  # type: ignore[arg-type]
        model.catch_up()

    assert [(section.kind, section.text) for section in node.sections] == [
        ("reasoning", "hmm"),
        ("text", "so"),
        ("reasoning", "wait"),
        ("text", "yes"),
    ]
    assert kinds(node) == ["HEADER", "FOLD", "BLOCK", "FOLD", "BLOCK", "BAR"]


def test_the_final_item_keeps_the_blocks_that_were_streamed() -> None:
    model = model_of(reply("a", streaming=True))
    node = expanded(model, "a")
    for piece in ("first\n\nsec", "ond\n\n```py\nx = 1\n", "```\n\nlast"):
        model.append_delta("a", "text", piece)
        model.catch_up()
    before = [row.block for row in node.rows if row.block is not None]

    model.update(reply("a", "first\n\nsecond\n\n```py\nx = 1\n```\n\nlast"))
    cut_the_rest(model)

    after = [row.block for row in node.rows if row.block is not None]
    assert len(after) == 4
    assert all(one is other for one, other in zip(before, after, strict=True))


def test_a_changed_text_keeps_the_blocks_that_say_the_same() -> None:
    model = model_of(reply("a", "one\n\ntwo\n\nthree"))
    node = expanded(model, "a")
    one, two, three = (row.block for row in node.rows[1:-1])

    model.update(reply("a", "one\n\nchanged\n\nthree"))

    assert sources(node) == ["one", "changed", "three"]
    assert node.rows[1].block is one
    assert node.rows[2].block is not two
    assert node.rows[3].block is three


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_streaming_ends_with_the_rows_of_the_whole(data: st.DataObject) -> None:
    text = data.draw(
        st.lists(st.sampled_from(["a", "\n\n", "# h\n", "```\n", "- x\n", "|a|\n|-|\n", "\r", "\n"]), max_size=30)
    )
    model = model_of(reply("a", streaming=True))
    node = expanded(model, "a")
    for piece in text:
        model.append_delta("a", "text", piece)
        if data.draw(st.booleans()):
            model.catch_up()
    final = reply("a", "".join(text)) if text else reply("a")
    model.update(final)
    cut_the_rest(model)

    whole = expanded(model_of(final), "a")
    assert kinds(node) == kinds(whole)
    assert sources(node) == sources(whole)


def test_a_long_text_is_cut_a_slice_at_a_time() -> None:
    model = model_of(reply("a", "word " * 50_000 + "\n\n" + "- item\n" * 20_000))
    node = model.node("a")
    assert node is not None

    model.expand(node)
    assert model.is_behind
    assert "PENDING" in kinds(node)

    cut_the_rest(model)
    assert "PENDING" not in kinds(node)
    assert sums_are_right(model)


def test_prepending_and_removing_keep_order_and_sums() -> None:
    model = model_of(asked("c"), reply("d", "x"))
    node = expanded(model, "d")

    model.prepend([asked("a"), reply("b", "y"), asked("c", "twice")])
    model.append(asked("e"))
    model.remove("b")

    assert [each.item.id for each in model.nodes] == ["a", "c", "d", "e"]
    assert [model.index_of(each) for each in model.nodes] == [0, 1, 2, 3]
    assert model.node_of_order(node.order) is node
    assert "b" not in model
    assert sums_are_right(model)


def test_measured_heights_survive_what_happens_to_other_rows() -> None:
    model = model_of(reply("a", "?think", "one\n\ntwo", streaming=True))
    node = expanded(model, "a")
    block = next(at for at, row in enumerate(node.rows) if row.kind is RowKind.BLOCK)
    model.set_height(node, block, 777)
    node.rows[block].measured = 5

    model.append_delta("a", "text", "\n\nthree")
    model.catch_up()
    model.toggle_fold(node, 0)

    kept = next(at for at, row in enumerate(node.rows) if row.key == (1, 0))
    assert node.heights[kept] == 777
    assert node.rows[kept].measured == 5


def test_a_new_scale_estimates_what_nobody_looked_at() -> None:
    model = model_of(reply("a", "word " * 500), reply("b", "word " * 500))
    known = expanded(model, "b").heights.total
    before = model.heights.total

    model.rescale(Scale(line_height=40, line_chars=20))

    assert model.heights.total > before
    assert model.nodes[1].heights.total == known


@pytest.mark.parametrize("change", [lambda m: m.update(reply("z")), lambda m: m.append_delta("z", "text", "x")])
def test_an_unknown_id_changes_nothing(change: Callable[[TranscriptModel], object]) -> None:
    model = model_of(asked("a"))

    assert change(model) is None
    assert model.remove("z") is None
    assert len(model.nodes) == 1


def test_an_order_is_never_given_twice() -> None:
    model = model_of(reply("a", "one"), reply("b", "two"))
    seen = {node.order for node in model.nodes}

    def add(order: int) -> None:
        assert order not in seen
        seen.add(order)

    model.remove("b")
    add(model.append(reply("c", "three")).order)
    model.remove("a")
    model.prepend([reply("d", "four")])
    add(model.nodes[0].order)
    model.set_items([reply("e", "five"), reply("f", "six")])
    for node in model.nodes:
        add(node.order)
    assert [node.order for node in model.nodes] == sorted(node.order for node in model.nodes)


def test_a_row_below_what_has_become_code_is_measured_again() -> None:
    model = model_of(reply("a", "one\n\ntwo"))
    node = expanded(model, "a")
    for row in node.rows:
        row.measured = 5

    model.update(reply("a", "```\none\n```\n\ntwo"))

    assert node.rows[-2].block is not None
    assert node.rows[-2].measured == 0
