"""A picture for a document: its bytes, its kind, and how large it is shown, in the unit of Office's formats."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 20 * 1024 * 1024
PER_PIXEL = 9525
PNG = b"\x89PNG\r\n\x1a\n"
FRAMES = {0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}


@dataclass
class Picture:
    data: bytes
    extension: str
    width: int
    height: int


def read_picture(path: Path, widest: int, highest: int) -> Picture:
    """Read a picture, scaled into the bounds. Raises ValueError and OSError."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"{path} is over 20 MB")
    if data.startswith(PNG) and len(data) > 24:
        extension, (width, height) = "png", struct.unpack(">II", data[16:24])
    elif data.startswith(b"\xff\xd8"):
        extension, (width, height) = "jpeg", jpeg_size(data)
    else:
        raise ValueError(f"{path} is not a PNG or JPEG")
    if not width or not height:
        raise ValueError(f"{path} has no size")
    scale = min(PER_PIXEL, widest / width, highest / height)
    return Picture(data, extension, max(1, int(width * scale)), max(1, int(height * scale)))


def jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in FRAMES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(length, 2)
    raise ValueError("a JPEG is corrupt")
