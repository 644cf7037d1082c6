"""Pictures as models get them: scaled, upright, and without what else is in their files."""

import random

import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QColor, QColorSpace, QImage, QImageWriter

from app.domain.errors import KnownError
from app.ui.chat.pictures import read_picture, scale_picture, thumbnail_of


def painted(width: int, height: int, form: QImage.Format = QImage.Format.Format_RGB32) -> QImage:
    """Return a picture that is red at the left and blue at the right."""
    image = QImage(width, height, form)
    image.fill(QColor("blue"))
    for x in range(width // 2):
        for y in range(height):
            image.setPixelColor(x, y, QColor("red"))
    return image


def encoded(image: QImage, form: bytes, *, text: str = "") -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(form))
    if text:
        writer.setText("Comment", text)
    assert writer.write(image)
    return bytes(data.data())


def with_exif(jpeg: bytes, orientation: int) -> bytes:
    """Return a JPEG with a camera's data in it: how it was held, and a place."""
    entry = b"\x01\x12\x00\x03\x00\x00\x00\x01" + orientation.to_bytes(2, "big") + b"\x00\x00"
    exif = b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01" + entry + b"\x00\x00\x00\x00" + b"GPS 52.5200 N"
    return jpeg[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + jpeg[2:]


def test_a_photo_stands_upright_and_tells_no_place() -> None:
    picture = read_picture(with_exif(encoded(painted(40, 20), b"jpeg"), 6), "photo.jpg")
    assert picture is not None
    assert (picture.file.width, picture.file.height, picture.file.media_type) == (20, 40, "image/jpeg")
    assert b"Exif" not in picture.file.data
    assert b"GPS" not in picture.file.data
    shown = QImage.fromData(picture.file.data)
    assert shown.pixelColor(10, 5).red() > 200
    assert shown.pixelColor(10, 35).blue() > 200


def test_a_comment_in_a_picture_stays_behind() -> None:
    picture = read_picture(encoded(painted(8, 8), b"png", text="my secret"), "a.png")
    assert picture is not None
    assert b"secret" not in picture.file.data
    assert QImage.fromData(picture.file.data).textKeys() == []


@pytest.mark.parametrize(
    ("size", "scaled"),
    [
        ((1568, 10), (1568, 10)),
        ((1569, 10), (1568, 10)),
        ((3136, 1000), (1568, 500)),
        ((10, 3136), (5, 1568)),
        ((9000, 1), (1568, 1)),
    ],
)
def test_the_long_edge_is_at_most_1568(size: tuple[int, int], scaled: tuple[int, int]) -> None:
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    for picture in (read_picture(encoded(image, b"png"), "a.png"), scale_picture(image, "a")):
        assert picture is not None
        assert (picture.file.width, picture.file.height) == scaled
        assert QImage.fromData(picture.file.data).size().toTuple() == scaled


def test_what_can_be_seen_through_stays_so() -> None:
    image = QImage(10, 10, QImage.Format.Format_ARGB32)
    image.fill(QColor(255, 0, 0, 0))
    picture = read_picture(encoded(image, b"png"), "a.png")
    assert picture is not None
    assert picture.file.media_type == "image/png"
    assert QImage.fromData(picture.file.data).pixelColor(5, 5).alpha() == 0


def test_a_large_png_becomes_a_jpeg() -> None:
    noise = random.Random(1).randbytes(1400 * 1400 * 4)
    image = QImage(noise, 1400, 1400, QImage.Format.Format_RGB32)
    picture = read_picture(encoded(image, b"bmp"), "a.bmp")
    assert picture is not None
    assert picture.file.media_type == "image/jpeg"
    assert len(picture.file.data) < 3_500_000


def test_a_wide_gamut_is_brought_to_srgb() -> None:
    image = painted(10, 10)
    image.setColorSpace(QColorSpace(QColorSpace.NamedColorSpace.DisplayP3))
    picture = read_picture(encoded(image, b"png"), "a.png")
    assert picture is not None
    assert QImage.fromData(picture.file.data).pixelColor(2, 2) == QColor(255, 0, 0)


GIF = (
    b"GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\x00\x00\x00\x00\xff"
    b"!\xf9\x04\x00\x0a\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x84Q\x00"
    b"!\xf9\x04\x00\x0a\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x8co\x00;"
)


def test_of_an_animation_the_first_picture_is_taken() -> None:
    picture = read_picture(GIF, "a.gif")
    assert picture is not None
    assert (picture.file.media_type, picture.file.width) == ("image/png", 2)
    assert QImage.fromData(picture.file.data).pixelColor(0, 0) == QColor(255, 0, 0)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"words",
        b"BMW is a firm",
        b"P3 is no picture here",
        b"%PDF-1.7",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    ],
)
def test_what_is_no_picture_is_none(data: bytes) -> None:
    assert read_picture(data, "a") is None


@pytest.mark.parametrize("kept_bytes", [20, 30])
def test_a_broken_picture_is_said_to_be(kept_bytes: int) -> None:
    with pytest.raises(KnownError, match="is broken"):
        read_picture(encoded(painted(8, 8), b"png")[:kept_bytes], "a.png")


@pytest.mark.parametrize("form", ["tiff", "bmp", "webp", "png", "jpeg"])
def test_every_format_becomes_one_that_models_take(form: str) -> None:
    data = encoded(painted(40, 30), form.encode())

    picture = read_picture(data, f"a.{form}")

    assert picture is not None
    assert picture.file.media_type in ("image/png", "image/jpeg")
    assert (picture.file.width, picture.file.height) == (40, 30)
    assert not thumbnail_of(data).isNull()


def test_a_thumbnail_is_the_middle_as_a_square() -> None:
    image = thumbnail_of(encoded(painted(600, 200), b"png"))
    assert image.size().toTuple() == (128, 128)
    assert thumbnail_of(b"no picture").isNull()
    assert thumbnail_of(b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>").isNull()
