"""Files in the real window: given by dialog, drop and paste, shown, sent, kept, refused."""

import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QGuiApplication, QImage, QImageWriter, QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QWidget

from app.domain.models import Abilities
from app.domain.rows import MediaPart, TextPart
from app.history.files import ChatFiles
from app.ui.chat.attachments_tray import Chip
from app.ui.chat.composer import Composer
from tests.fakes.pdf import make_pdf
from tests.fakes.scripted import Hold, reply
from tests.ui.conftest import Desk


def picture(width: int = 40, height: int = 30, colour: str = "teal") -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    return image


def composer(desk: Desk) -> Composer:
    return desk.window.page.composer


def chips(desk: Desk) -> list[Chip]:
    return composer(desk).tray.chips


def names(desk: Desk) -> list[str]:
    return [part.name for part in desk.window.controller.files.parts]


def hint(desk: Desk) -> str:
    return composer(desk)._hint.text()


def notice(desk: Desk) -> str:
    line = composer(desk)._notice_line
    return line.text() if line.isVisible() else ""


def give(desk: Desk, *paths: Path) -> None:
    """Paste files as a file manager has them on the clipboard."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    paste(desk, data)


def paste(desk: Desk, data: QMimeData) -> None:
    QGuiApplication.clipboard().setMimeData(data)
    composer(desk).field.paste()


def paste_text(desk: Desk, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    paste(desk, data)


def settled(desk: Desk) -> None:
    """Wait until no file is being read any more."""
    desk.until(lambda: not desk.window.controller.files._jobs)


def attach(desk: Desk, path: Path, content: bytes = b"words") -> None:
    path.write_bytes(content)
    give(desk, path)
    settled(desk)


def send(desk: Desk, text: str = "") -> None:
    desk.provider.play(reply("ok"))
    before = len(desk.rows())
    desk.type(text)
    desk.press(Qt.Key.Key_Return)
    desk.until(lambda: len(desk.rows()) == before + 2)
    desk.idle()


def media(desk: Desk) -> list[MediaPart]:
    return [part for row in desk.rows() for part in row.parts if isinstance(part, MediaPart)]


def blob(desk: Desk, sha256: str) -> bytes:
    return (ChatFiles(desk.root / "sessions" / desk.session).blobs / sha256).read_bytes()


def test_a_file_is_chosen_in_the_dialog_and_sent(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Überschrift\n", "utf-8")
    desk.window.actions_.attach.trigger()
    dialog = desk.window.findChild(QFileDialog)
    assert dialog is not None
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    field.setText(str(tmp_path / "notes.md"))
    dialog.accept()
    desk.until(lambda: names(desk) == ["notes.md"])
    send(desk, "what is this?")
    part = media(desk)[0]
    assert (part.media_type, part.name) == ("text/markdown", "notes.md")
    content = (tmp_path / "notes.md").read_bytes()
    assert part.blob.sha256 == hashlib.sha256(content).hexdigest()
    assert blob(desk, part.blob.sha256) == content
    asked = desk.provider.requests[0].rows[0].parts
    assert [part.text for part in asked if isinstance(part, TextPart)] == [
        "File “notes.md”:\n\n# Überschrift\n",
        "what is this?",
    ]
    assert chips(desk) == []
    assert names(desk) == []


def test_a_picture_is_scaled_and_goes_to_the_model(desk: Desk, tmp_path: Path) -> None:
    picture(3000, 2000).save(str(tmp_path / "photo.jpg"))
    give(desk, tmp_path / "photo.jpg")
    desk.until(lambda: names(desk) == ["photo.jpg"])
    send(desk)
    part = media(desk)[0]
    assert (part.media_type, part.width, part.height) == ("image/jpeg", 1568, 1045)
    request = desk.provider.requests[0]
    assert request.files == {part.blob.sha256: blob(desk, part.blob.sha256)}
    assert len(request.files[part.blob.sha256]) == part.bytes
    assert (
        QImage.fromData(request.files[part.blob.sha256]).size() == QImage(1568, 1045, QImage.Format.Format_RGB32).size()
    )
    assert "photo.jpg, 1568 × 1045" in desk.spoken()
    assert desk.shown() == "[photo.jpg]\n\nok"
    thumbnails = desk.window.page.transcript.rows.files._thumbnails
    desk.until(lambda: list(thumbnails) == [part.blob.sha256])
    desk.restart()
    thumbnails = desk.window.page.transcript.rows.files._thumbnails
    desk.until(lambda: list(thumbnails) == [part.blob.sha256])
    assert desk.titles() == ["photo.jpg"]


def test_files_dropped_anywhere_on_the_chat_are_attached(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").write_text("b")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / name)) for name in ("a.txt", "b.txt")])
    page, zone = desk.window.page, desk.window.page._drop_zone
    enter(page, data)
    assert zone.isVisible()
    assert zone.geometry() == page.rect()
    enter(zone, data)
    drop = QDropEvent(
        QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    drop.setDropAction(Qt.DropAction.MoveAction)
    QApplication.sendEvent(zone, drop)
    assert drop.isAccepted()
    assert drop.dropAction() is Qt.DropAction.CopyAction
    assert not zone.isVisible()
    desk.until(lambda: names(desk) == ["a.txt", "b.txt"])


def test_text_that_is_dragged_over_the_chat_brings_no_hint(desk: Desk) -> None:
    data = QMimeData()
    data.setText("words")
    assert not enter(desk.window.page, data).isAccepted()
    assert not desk.window.page._drop_zone.isVisible()


def enter(target: QWidget, data: QMimeData) -> QDragEnterEvent:
    event = QDragEnterEvent(
        QPoint(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(target, event)
    return event


def test_a_picture_is_pasted(desk: Desk) -> None:
    data = QMimeData()
    data.setImageData(picture())
    paste(desk, data)
    desk.until(lambda: names(desk) == ["Pasted picture"])
    part = desk.window.controller.files.parts[0]
    assert (part.media_type, part.width, part.height) == ("image/png", 40, 30)


def test_text_with_a_picture_of_itself_is_pasted_as_text(desk: Desk) -> None:
    data = QMimeData()
    data.setImageData(picture())
    data.setText("three cells")
    paste(desk, data)
    assert composer(desk).text() == "three cells"
    assert chips(desk) == []


def test_a_long_paste_becomes_a_file_and_undo_takes_that_back(desk: Desk) -> None:
    text = "word " * 2_001
    paste_text(desk, text)
    desk.until(lambda: len(names(desk)) == 1)
    assert names(desk)[0] == f"Pasted text ({QLocale().toString(10_005)} characters)"
    assert composer(desk).text() == ""
    desk.qtbot.keySequence(composer(desk).field, QKeySequence(QKeySequence.StandardKey.Undo))
    assert composer(desk).text() == text
    assert chips(desk) == []
    desk.qtbot.keySequence(composer(desk).field, QKeySequence(QKeySequence.StandardKey.Undo))
    assert composer(desk).text() == ""


def test_the_menu_undoes_a_long_paste_too(desk: Desk) -> None:
    paste_text(desk, "x" * 10_001)
    desk.window.actions_.undo.trigger()
    assert composer(desk).text() == "x" * 10_001
    settled(desk)
    assert chips(desk) == []
    composer(desk).set_text("")


def test_a_paste_of_ten_thousand_characters_stays_text(desk: Desk) -> None:
    paste_text(desk, "x" * 10_000)
    assert composer(desk).text() == "x" * 10_000
    composer(desk).set_text("")


def test_a_long_paste_can_still_be_inserted_by_its_button(desk: Desk) -> None:
    paste_text(desk, "y" * 10_001)
    settled(desk)
    desk.type("before ")
    button = chips(desk)[0].stops()[0]
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert composer(desk).text() == "before " + "y" * 10_001
    assert names(desk) == []
    composer(desk).set_text("")


def test_a_paste_that_is_too_long_for_the_field_is_only_taken_out(desk: Desk) -> None:
    paste_text(desk, "z" * 1_000_001)
    settled(desk)
    assert len(chips(desk)[0].stops()) == 1
    composer(desk).field.undo()
    assert (names(desk), composer(desk).text()) == ([], "")


def test_a_paste_with_a_line_the_field_would_freeze_over_stays_a_file(desk: Desk) -> None:
    paste_text(desk, "a line\n" + "z" * 50_001)
    settled(desk)
    assert len(chips(desk)[0].stops()) == 1
    composer(desk).field.undo()
    assert (names(desk), composer(desk).text()) == ([], "")
    paste_text(desk, ("z" * 50_000 + "\n") * 2)
    settled(desk)
    assert len(chips(desk)[0].stops()) == 2


def test_undo_of_a_text_that_was_pasted_twice_puts_it_in_once(desk: Desk) -> None:
    text = "y" * 10_001
    for _ in range(2):
        paste_text(desk, text)
        settled(desk)
    assert len(names(desk)) == 1
    composer(desk).field.undo()
    assert (names(desk), composer(desk).text()) == ([], text)
    composer(desk).set_text("")


def test_undo_after_a_paste_there_was_no_room_for_is_about_the_text(desk: Desk, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(20)]
    for path in paths:
        path.write_text(path.name)
    give(desk, *paths)
    settled(desk)
    desk.type("abc")
    paste_text(desk, "z" * 10_001)
    assert "At most 20 files" in hint(desk)
    composer(desk).field.undo()
    assert composer(desk).text() == ""


def test_undo_after_a_refused_paste_leaves_the_earlier_one(desk: Desk) -> None:
    paste_text(desk, "y" * 10_001)
    settled(desk)
    paste_text(desk, "x" * (20 * 2**20))
    settled(desk)
    assert "texts of up to 10 MB can be attached" in hint(desk)
    composer(desk).field.undo()
    assert len(names(desk)) == 1
    assert composer(desk).text() == ""


def test_files_may_be_chosen_only_where_messages_may_be_written(desk: Desk) -> None:
    assert desk.window.actions_.attach.isEnabled()
    desk.window.controller.close()
    assert not desk.window.actions_.attach.isEnabled()


def test_a_file_is_taken_out_by_keyboard(desk: Desk, tmp_path: Path) -> None:
    attach(desk, tmp_path / "a.txt", b"a")
    attach(desk, tmp_path / "b.txt", b"b")
    composer(desk).field.setFocus()
    desk.qtbot.keyClick(composer(desk).field, Qt.Key.Key_Backtab)
    second = chips(desk)[1].remove_button
    assert QApplication.focusWidget() is second
    assert second.accessibleName() == "Remove b.txt"
    desk.qtbot.keyClick(second, Qt.Key.Key_Delete)
    assert names(desk) == ["a.txt"]
    desk.qtbot.keyClick(chips(desk)[0].remove_button, Qt.Key.Key_Space)
    assert names(desk) == []
    assert composer(desk).field.hasFocus()


def test_a_draft_with_files_survives_a_restart(desk: Desk, tmp_path: Path) -> None:
    picture().save(str(tmp_path / "photo.png"))
    give(desk, tmp_path / "photo.png")
    settled(desk)
    attach(desk, tmp_path / "b.txt", b"b")
    desk.type("look at this")
    desk.restart()
    assert composer(desk).text() == "look at this"
    assert names(desk) == ["photo.png", "b.txt"]
    assert [chip.key for chip in chips(desk)] == list(desk.window.controller.files.parts)
    desk.until(lambda: chips(desk)[0]._face._image is not None)
    send(desk)
    assert [part.name for part in media(desk)] == ["photo.png", "b.txt"]
    desk.restart()
    assert (composer(desk).text(), names(desk)) == ("", [])


def test_a_file_that_is_gone_from_the_draft_is_dropped_and_the_rest_stays(desk: Desk, tmp_path: Path) -> None:
    attach(desk, tmp_path / "a.txt", b"a")
    attach(desk, tmp_path / "b.txt", b"b")
    desk.type("text")
    folder = ChatFiles(desk.root / "sessions" / desk.session).blobs
    (folder / hashlib.sha256(b"a").hexdigest()).unlink()
    desk.restart()
    assert (composer(desk).text(), names(desk)) == ("text", ["b.txt"])
    composer(desk).set_text("")


def test_a_file_that_is_being_read_when_the_window_closes_is_in_the_draft(desk: Desk, tmp_path: Path) -> None:
    picture(3000, 2000).save(str(tmp_path / "photo.png"))
    desk.type("look")
    give(desk, tmp_path / "photo.png")
    desk.restart()
    assert names(desk) == ["photo.png"]
    assert composer(desk).text() == "look"


def test_an_address_that_is_no_file_name_is_refused_in_words(desk: Desk) -> None:
    data = QMimeData()
    data.setUrls([QUrl("file:///tmp/a%00b.txt")])
    paste(desk, data)
    settled(desk)
    assert hint(desk) == "“a b.txt” is not there any more."


def test_the_same_file_is_attached_once(desk: Desk, tmp_path: Path) -> None:
    attach(desk, tmp_path / "a.txt", b"a")
    attach(desk, tmp_path / "a.txt", b"a")
    assert names(desk) == ["a.txt"]
    assert len(chips(desk)) == 1


def bomb(path: Path) -> None:
    """A PNG that says it has 50,000 by 50,000 pixels."""
    image = bytearray(png(picture()))
    image[16:24] = (50_000).to_bytes(4, "big") * 2
    image[29:33] = zlib.crc32(image[12:29]).to_bytes(4, "big")
    path.write_bytes(image)


def png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(data.data())


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(33 * 2**20)


REFUSED: list[tuple[str, Callable[[Path], object], str]] = [
    ("bomb.png", bomb, "“bomb.png” is too large: a picture of 50,000 by 50,000 pixels can't be attached."),
    ("pipe", make_pipe, "“pipe” is no file that could be attached."),
    ("zero", make_device, "“zero” is no file that could be attached."),
    ("huge.txt", make_huge, "“huge.txt” is too large: files of up to 32 MB can be attached."),
    ("gone.txt", lambda _path: None, "“gone.txt” is not there any more."),
    ("empty.txt", lambda path: path.write_bytes(b""), "“empty.txt” is empty."),
    ("long.txt", lambda path: path.write_bytes(b"x" * (20 * 2**20)), "texts of up to 10 MB can be attached."),
    ("song.mp3", lambda path: path.write_bytes(b"ID3\x00\x01"), "Muntin can attach pictures, PDF files and texts."),
    ("letter.docx", lambda path: path.write_bytes(b"PK\x03\x04\x00"), "Save it as PDF or text there, and attach that."),
    ("cut.pdf", lambda path: path.write_bytes(b"%PDF-1.7\nnothing"), "It is broken, or no PDF file."),
    ("photo.heic", lambda path: path.write_bytes(b"\0\0\0\x18ftypheic\0\0"), "Save it as JPEG or PNG first."),
]


@pytest.mark.parametrize(("name", "make", "words"), REFUSED, ids=[name for name, _, _ in REFUSED])
def test_what_cannot_be_attached_is_refused_in_words(
    desk: Desk, tmp_path: Path, name: str, make: Callable[[Path], object], words: str
) -> None:
    make(tmp_path / name)
    give(desk, tmp_path / name)
    settled(desk)
    assert words in hint(desk)
    assert composer(desk)._hint.property("isError")
    assert chips(desk) == []


def test_a_file_that_may_not_be_read_is_named(desk: Desk, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        # Root may read everything; a folder in the way of a path is refused alike.
        (tmp_path / "file").write_text("x")
        give(desk, tmp_path / "file" / "below.txt")
        settled(desk)
        assert "“below.txt” can't be read" in hint(desk)
        return
    path = tmp_path / "secret.txt"
    path.write_text("x")
    path.chmod(0)
    give(desk, path)
    settled(desk)
    assert "“secret.txt” may not be read by this account." in hint(desk)


@pytest.mark.parametrize("name", ["🧵 Fäden.txt", "two\nlines.txt", "a" * 240 + ".txt", "\u202egnp.txt"])
def test_strange_names_are_shown_in_one_line(desk: Desk, tmp_path: Path, name: str) -> None:
    attach(desk, tmp_path / name)
    shown = names(desk)[0]
    assert "\n" not in shown
    assert len(shown) <= 200
    assert shown.endswith(".txt")
    send(desk, "hi")
    assert media(desk)[0].name == shown
    assert shown in desk.spoken()


def test_a_full_disk_is_told_and_nothing_is_attached(desk: Desk, tmp_path: Path) -> None:
    folder = ChatFiles(desk.root / "sessions" / desk.session).blobs
    folder.write_text("in the way")
    attach(desk, tmp_path / "a.txt")
    assert "can't be saved" in hint(desk)
    assert chips(desk) == []
    folder.unlink()
    give(desk, tmp_path / "a.txt")
    settled(desk)
    assert names(desk) == ["a.txt"]


def test_a_picture_goes_to_the_chat_it_was_given_to(desk: Desk, tmp_path: Path) -> None:
    desk.provider.play(reply("one"))
    desk.say("first chat")
    first = desk.session
    picture(2000, 1500).save(str(tmp_path / "photo.png"))
    give(desk, tmp_path / "photo.png")
    desk.window.actions_.new_chat.trigger()
    desk.until(lambda: desk.session not in ("", first))
    settled(desk)
    assert chips(desk) == []
    desk.window.chats.open(first)
    desk.until(lambda: desk.session == first)
    assert names(desk) == ["photo.png"]
    desk.restart()
    if desk.session != first:
        desk.window.chats.open(first)
        desk.until(lambda: desk.session == first)
    assert names(desk) == ["photo.png"]


def test_a_chat_that_is_deleted_meanwhile_comes_not_back(desk: Desk, tmp_path: Path) -> None:
    desk.provider.play(reply("one"))
    desk.say("first chat")
    first = desk.session
    picture(2000, 1500).save(str(tmp_path / "photo.png"))
    give(desk, tmp_path / "photo.png")
    desk.window._delete_open_chat()
    desk.until(lambda: not (desk.root / "sessions" / first).exists())
    settled(desk)
    desk.until(lambda: bool(desk.session))
    assert "is deleted" in desk.window.toast._text.text()
    assert not (desk.root / "sessions" / first).exists()


def test_nothing_is_sent_while_a_file_is_being_read(desk: Desk, tmp_path: Path) -> None:
    picture(2000, 1500).save(str(tmp_path / "photo.png"))
    give(desk, tmp_path / "photo.png")
    desk.press(Qt.Key.Key_Return)
    assert desk.rows() == []
    assert "still being read" in hint(desk)
    settled(desk)
    assert "Enter sends" in hint(desk)
    send(desk)
    assert len(media(desk)) == 1


def test_a_file_that_comes_while_a_message_goes_out_waits_for_the_next(desk: Desk, tmp_path: Path) -> None:
    hold = Hold()
    desk.provider.play([hold, *reply("ok")])
    attach(desk, tmp_path / "a.txt", b"a")
    desk.type("go")
    desk.press(Qt.Key.Key_Return)
    desk.reached(hold)
    desk.until(lambda: composer(desk).text() == "")
    attach(desk, tmp_path / "b.txt", b"b")
    assert names(desk) == ["b.txt"]
    hold.release()
    desk.until(lambda: len(desk.rows()) == 2)
    desk.idle()
    assert names(desk) == ["b.txt"]


def test_at_most_twenty_files_go_with_a_message(desk: Desk, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(23)]
    for number, path in enumerate(paths):
        path.write_text(str(number))
    give(desk, *paths)
    settled(desk)
    assert len(names(desk)) == 20
    assert hint(desk) == "At most 20 files can go with one message."


def test_many_files_leave_room_for_the_chat_in_a_small_window(desk: Desk, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.txt" for number in range(8)]
    for number, path in enumerate(paths):
        path.write_text(str(number))
    give(desk, *paths)
    settled(desk)
    for height, rows in ((360, 1), (900, 3)):
        desk.window.resize(360, height)
        assert desk.window.height() == height
        page = desk.window.page
        assert composer(desk).tray.height() < (rows + 0.5) * (chips(desk)[0].height() + 6)
        assert composer(desk).geometry().bottom() <= page.height()
        assert page.empty.isVisible()
        assert all(chip.width() <= composer(desk).tray.viewport().width() for chip in chips(desk))


def test_what_a_model_in_no_list_would_not_get_is_said_too(desk: Desk, tmp_path: Path) -> None:
    attach(desk, tmp_path / "paper.pdf", make_pdf("words"))
    files = desk.window.controller.files
    files.show(desk.session, "scripted/vendor/new-model", files.parts)
    desk.until(lambda: notice(desk) == "vendor/new-model gets only the text of “paper.pdf”.")


def test_what_the_model_cannot_see_is_said_before_sending(desk: Desk, tmp_path: Path) -> None:
    desk.provider.abilities = Abilities(sees_pictures=False)
    desk.restart()
    picture().save(str(tmp_path / "photo.png"))
    give(desk, tmp_path / "photo.png")
    settled(desk)
    desk.until(lambda: notice(desk) == "Scripted model can't see pictures and won't get “photo.png”.")
    give(desk, tmp_path / "gone.txt")
    settled(desk)
    assert "not there any more" in hint(desk)
    assert notice(desk) == "Scripted model can't see pictures and won't get “photo.png”."
    send(desk, "what is it?")
    assert desk.provider.requests[0].files == {}
    assert "[picture “photo.png”, left out: this model can't see pictures]" in desk.provider.requests[0].rows[0].text
    assert "Enter sends" in hint(desk)
    assert notice(desk) == ""
