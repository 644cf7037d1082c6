from dataclasses import replace

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QApplication

from app.ui.chat.furniture import footer_height, footer_targets, header_height, header_text, note_height
from app.ui.chat.items import ItemAction
from app.ui.chat.style import Style, make_style
from app.ui.chat.transcript_view import TranscriptView
from app.ui.theme import load_theme
from tests.ui.chat.conftest import reply


def _style() -> Style:
    return make_style(load_theme(dark=False), QApplication.font())


def test_a_note_with_an_address_breaks_between_words_where_it_can(qapp: QApplication) -> None:
    style = _style()
    words = "word " * 40
    alone = note_height(style, reply("a", note=words), 200)
    one_line = note_height(style, reply("a", note="word"), 200)
    address = "https://platform.example/account/very/long/path/that/no/line/holds/at/all"
    together = note_height(style, reply("a", note=words + address), 200)
    lines_of_address = note_height(style, reply("a", note=address), 200)
    assert lines_of_address > one_line, "an address that is wider than the room is broken"
    assert alone <= together <= alone + lines_of_address


def test_buttons_that_find_no_room_begin_a_new_line(qapp: QApplication) -> None:
    style = _style()
    item = reply("a", note="Failed.", actions=(ItemAction.SETTINGS, ItemAction.RETRY))
    wide = [target.rect for target in footer_targets(style, item, QRectF(0, 0, 600, 0))]
    narrow = [target.rect for target in footer_targets(style, item, QRectF(0, 0, 160, 0))]
    assert wide[0].top() == wide[1].top()
    assert narrow[1].top() > narrow[0].bottom()
    assert narrow[1].left() == narrow[0].left()
    assert footer_height(style, item, 160) - footer_height(style, item, 600) == narrow[1].top() - narrow[0].top()


def test_in_whose_place_a_model_answered_stands_beside_its_name_or_below_it(
    qapp: QApplication, view: TranscriptView
) -> None:
    style = _style()
    item = replace(reply("a", "Hello."), name="Small model", aside="instead of Large model, which was overloaded")
    assert header_text(item)[0] == "Small model · instead of Large model, which was overloaded"
    assert header_height(style, item, 700) == header_height(style, replace(item, aside=""), 200)
    assert header_height(style, item, 200) == 2 * header_height(style, item, 700)
    view.set_items([item], more_above=False)
    wide = view.nodes[0].heights[0]
    view.resize(240, 400)
    view.grab()
    assert view.nodes[0].heights[0] > wide
