"""Converts a picture into one that models take, as a program of its own: the time depends on the picture's maker.

No argument is read. Standard input: the picture. Standard output: JSON, with `image` (base64), `media_type` and `said`,
or with `refused` if there is none. The format is detected from the content.
"""

from __future__ import annotations

import base64
import importlib
import io
from typing import Any

from PIL import Image, ImageOps, ImageSequence

from tool_api.documents import fence
from tool_api.documents.answering import BROKEN, answer, check_length, read_document
from tool_api.documents.kinds import is_drawing
from tool_api.documents.parts import RefusedDocumentError
from tool_api.text_encoding import UTF8, encoding_of, shown_text

MAX_PIXELS = 60_000_000
MAX_JPEG_PIXELS = 250_000_000
"""Size limit of a JPEG, of which no more is decoded than is shown."""
LONG_SIDE = 1568
"""The long side to which providers shrink larger pictures themselves."""
DRAWN_WIDTH = 1024
"""The width of a drawing, which has no size of its own."""
MIN_SIDE = 32
"""Smaller ones fail at open models."""
MAX_PNG_BYTES = 1_000_000
MAX_SENT_BYTES = 2_500_000
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "HEIF", "AVIF")
_JPEG = frozenset({"JPEG", "MPO"})
_LOSSY = frozenset({"JPEG", "HEIF", "AVIF"})


def main() -> None:
    fence.limit()
    data = read_document()
    answer(lambda: _make(data))


def _make(data: bytes) -> dict[str, str]:
    check_length(data)
    _load_formats()
    fence.install()
    drawing = is_drawing(data)
    if drawing:
        data = _drawn(data)
    with Image.open(io.BytesIO(data), formats=_FORMATS) as picture:
        name = "JPEG" if picture.format in _JPEG else picture.format or "picture"
        _check_size(picture)
        whole, frames = _upright(picture.size, picture), _frames(picture)
        shown = _shrink(picture)
    content, media_type = _encode(shown, is_photograph=name in _LOSSY)
    said = "SVG" if drawing else f"{name} {whole[0]} × {whole[1]}"
    if drawing or shown.size != whole:
        said += f", shown at {shown.width} × {shown.height}"
    if frames:
        said += "; it is animated or has several pages, and the first is shown"
    return {"image": base64.b64encode(content).decode("ascii"), "media_type": media_type, "said": said}


def _drawn(data: bytes) -> bytes:
    """A drawing in SVG as a PNG that is `DRAWN_WIDTH` wide. Nothing is fetched from the network, and its scripts do not
    run."""
    library: Any = importlib.import_module("resvg_py")
    try:
        return bytes(
            library.svg_to_bytes(svg_string=shown_text((encoding_of(data) or UTF8).decode(data)), width=DRAWN_WIDTH)
        )
    except ValueError as error:
        raise RefusedDocumentError(BROKEN) from error


def _load_formats() -> None:
    """Load the picture formats before the fence is up."""
    importlib.import_module("resvg_py")
    heif: Any = importlib.import_module("pi_heif")
    heif.register_heif_opener(thumbnails=False)
    Image.init()
    Image.MAX_IMAGE_PIXELS = None  # `_check_size` checks the size before anything is decoded


def _check_size(picture: Image.Image) -> None:
    pixels = picture.width * picture.height
    if pixels > (MAX_JPEG_PIXELS if picture.format in _JPEG else MAX_PIXELS):
        raise RefusedDocumentError(
            f"It is {picture.width} × {picture.height} pixels, which is more than is decoded. Make it smaller first."
        )


def _frames(picture: Image.Image) -> bool:
    """Whether there is more than one frame. Further frames of a JPEG are previews of it."""
    if picture.format in _JPEG:
        return False
    return sum(1 for _ in zip(range(2), ImageSequence.Iterator(picture), strict=False)) > 1 and not picture.seek(0)


def _upright(size: tuple[int, int], picture: Image.Image) -> tuple[int, int]:
    return (size[1], size[0]) if picture.getexif().get(0x0112, 1) in {5, 6, 7, 8} else size


def _shrink(picture: Image.Image) -> Image.Image:
    """The first frame in RGB, upright and no larger than is shown, on white where it is transparent."""
    picture.draft("RGB", (LONG_SIDE, LONG_SIDE))
    picture.load()
    orientation = picture.getexif().get(0x0112, 1)
    shown = _to_eight_bits(picture)
    if shown.mode in {"RGBA", "LA", "PA", "La", "RGBa"} or "transparency" in shown.info:
        shown = shown.convert("RGBA")
        shown.thumbnail((LONG_SIDE, LONG_SIDE), Image.Resampling.LANCZOS)
        ground = Image.new("RGBA", shown.size, "white")
        shown = Image.alpha_composite(ground, shown)
    shown = shown.convert("RGB")
    shown.thumbnail((LONG_SIDE, LONG_SIDE), Image.Resampling.LANCZOS)
    shown.getexif()[0x0112] = orientation
    shown = ImageOps.exif_transpose(shown)
    if min(shown.size) >= MIN_SIDE:
        return shown
    wide = Image.new("RGB", (max(shown.width, MIN_SIDE), max(shown.height, MIN_SIDE)), "white")
    wide.paste(shown, ((wide.width - shown.width) // 2, (wide.height - shown.height) // 2))
    return wide


def _to_eight_bits(picture: Image.Image) -> Image.Image:
    """The picture in eight bits a channel; Pillow would cut off values above 255."""
    if not picture.mode.startswith(("I", "F")):
        return picture
    wide: Any = picture.convert("F")  # its types are partly unknown
    low, high = wide.getextrema()
    if picture.mode.startswith("I;16"):
        low, high = 0, 65_535
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    scale = 255 / (high - low) if high > low else 1.0

    def scaled(value: Any) -> Any:
        return value * scale - low * scale

    return wide.point(scaled).convert("L")


def _encode(picture: Image.Image, *, is_photograph: bool) -> tuple[bytes, str]:
    if not is_photograph:
        content = _bytes_of(picture, "PNG")
        if len(content) <= MAX_PNG_BYTES:
            return content, "image/png"
    for quality in (85, 70, 50):
        content = _bytes_of(picture, "JPEG", quality=quality)
        if len(content) <= MAX_SENT_BYTES:
            return content, "image/jpeg"
    raise RefusedDocumentError("It is too large to be shown. Make it smaller first.")


def _bytes_of(picture: Image.Image, form: str, **options: int) -> bytes:
    written = io.BytesIO()
    picture.info.clear()
    picture.save(written, form, **options)
    return written.getvalue()


if __name__ == "__main__":
    main()
