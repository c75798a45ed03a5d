"""Pictures that are read: shown as models take them, whatever their format, and told where they can't be."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from contracts.tools import ImageDisplay, ToolResult
from support.documents import read
from support.photographs import png


def _written(picture: Image.Image, form: str, **options: object) -> bytes:
    written = io.BytesIO()
    picture.save(written, form, **options)
    return written.getvalue()


def _rotated() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return _written(Image.new("RGB", (400, 200), "red"), "JPEG", exif=exif.tobytes())


def _animated(form: str) -> bytes:
    frames = [Image.new("RGB", (60, 50), colour) for colour in ("red", "blue")]
    return _written(frames[0], form, save_all=True, append_images=frames[1:], duration=100)


RED = (60, 50), "red"
CASES: dict[str, tuple[Callable[[], bytes], str]] = {
    "jpeg": (lambda: _written(Image.new("RGB", *RED), "JPEG"), "JPEG 60 × 50"),
    "png": (lambda: _written(Image.new("RGB", *RED), "PNG"), "PNG 60 × 50"),
    "gif": (lambda: _animated("GIF"), "GIF 60 × 50; it is animated or has several pages, and the first is shown"),
    "webp": (lambda: _animated("WEBP"), "WEBP 60 × 50; it is animated or has several pages, and the first is shown"),
    "bmp": (lambda: _written(Image.new("RGB", *RED), "BMP"), "BMP 60 × 50"),
    "tiff": (lambda: _written(Image.new("RGB", *RED), "TIFF", compression="tiff_lzw"), "TIFF 60 × 50"),
    "avif": (lambda: _written(Image.new("RGB", *RED), "AVIF"), "AVIF 60 × 50"),
    "cmyk": (lambda: _written(Image.new("CMYK", (60, 50), (0, 255, 255, 0)), "JPEG"), "JPEG 60 × 50"),
    "palette": (lambda: _written(Image.new("RGB", *RED).convert("P"), "PNG"), "PNG 60 × 50"),
    "upright": (_rotated, "JPEG 200 × 400"),
    "large": (
        lambda: _written(Image.new("RGB", (4032, 3024), "red"), "JPEG"),
        "JPEG 4032 × 3024, shown at 1568 × 1176",
    ),
    "tiny": (lambda: _written(Image.new("RGB", (1, 1), "red"), "PNG"), "PNG 1 × 1, shown at 32 × 32"),
    "thin": (lambda: _written(Image.new("RGB", (4000, 2), "red"), "PNG"), "PNG 4000 × 2, shown at 1568 × 32"),
}


def _shown(result: ToolResult) -> Image.Image:
    assert result.success, result.output
    assert isinstance(result.display, ImageDisplay)
    picture = Image.open(io.BytesIO(base64.b64decode(result.display.image or "")))
    assert result.display.image_media_type in {"image/png", "image/jpeg"}
    assert Image.MIME[picture.format or ""] == result.display.image_media_type
    return picture


@pytest.mark.parametrize(("made", "said"), CASES.values(), ids=CASES)
async def test_a_picture_is_shown_whatever_its_name_says(made: Callable[[], bytes], said: str, tmp_path: Path) -> None:
    (tmp_path / "photo.txt").write_bytes(made())
    result = await read(tmp_path, "photo.txt")
    picture = _shown(result)
    assert result.output == f"photo.txt: {said}"
    assert f"{picture.width} × {picture.height}" in said
    across, down = picture.width // 2, picture.height // 2
    centre = picture.convert("RGB").crop((across - 2, down - 2, across + 2, down + 2))
    _, (least_green, _), (least_blue, _) = centre.getextrema()  # type: ignore[misc]
    assert least_green < 60
    assert least_blue < 60


async def test_what_is_transparent_is_shown_on_white(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(_written(Image.new("RGBA", (40, 40), (0, 0, 0, 0)), "PNG"))
    assert _shown(await read(tmp_path, "a.png")).convert("RGB").getpixel((20, 20)) == (255, 255, 255)


async def test_sixteen_bits_of_grey_keep_their_shades(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(_written(Image.new("I;16", (40, 40), 0x8000), "PNG"))
    assert _shown(await read(tmp_path, "a.png")).convert("L").getpixel((20, 20)) in {127, 128}


async def test_a_picture_that_is_cut_off_is_told_as_broken(tmp_path: Path) -> None:
    noise = Image.effect_noise((300, 300), 80)
    (tmp_path / "a.jpg").write_bytes(_written(noise, "JPEG")[:5000])
    result = await read(tmp_path, "a.jpg")
    assert not result.success
    assert result.output.startswith("Not shown: the picture a.jpg, 5000 bytes. It is corrupt")


async def test_a_picture_of_too_many_pixels_is_not_decoded(tmp_path: Path) -> None:
    bomb = bytearray(png())
    bomb[16:24] = struct.pack(">II", 60_000, 60_000)

    bomb[29:33] = struct.pack(">I", zlib.crc32(bytes(bomb[12:29])))
    (tmp_path / "a.png").write_bytes(bomb)
    result = await read(tmp_path, "a.png")
    assert not result.success
    assert "60000 × 60000 pixels, which is more than is decoded" in result.output


SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 50"><rect width="60" height="50" fill="red"/>{}</svg>'


@pytest.mark.parametrize(
    "data",
    [
        SVG.encode(),
        b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- <svg> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">'
        + SVG.encode(),
        ('<?xml version="1.0" encoding="gb18030"?>' + SVG.format("<text>销售额与利润</text>")).encode("gb18030"),
        SVG.format('<image href="http://127.0.0.1:1/x.png"/><script>while(true){}</script>').encode(),
    ],
    ids=["plain", "prologue", "gb18030", "from elsewhere"],
)
async def test_a_drawing_is_shown_beside_its_source(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "chart.svg").write_bytes(data)
    result = await read(tmp_path, "chart.svg")
    picture = _shown(result)
    assert picture.convert("RGB").getpixel((600, 400)) == (255, 0, 0)
    assert result.output.startswith("chart.svg: SVG, shown at 1024 × 854\nIts source:\n")
    assert 'fill="red"' in result.output


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (SVG.format("<g>").encode(), "It is corrupt"),
        (SVG.replace("60 50", "1 900000").encode(), "Reading it takes too long, or more memory"),
    ],
    ids=["broken", "endless"],
)
async def test_a_drawing_that_cannot_be_shown_is_read_all_the_same(data: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "chart.svg").write_bytes(data)
    result = await read(tmp_path, "chart.svg")
    assert (result.success, isinstance(result.display, ImageDisplay)) == (True, False)
    assert told in result.output
    assert 'fill="red"' in result.output
    assert told not in (await read(tmp_path, "chart.svg", start_line=1, as_text=True)).output
