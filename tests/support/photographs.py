"""Small pictures with true heads, for what is decided by these alone."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 40, height: int = 40, *, shade: int = 0) -> bytes:
    """A whole PNG in grey."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = (b"\0" + bytes([shade % 256]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def jpeg(width: int = 640, height: int = 400, *, size: int = 200, shade: int = 0) -> bytes:
    """Head and end of a JPEG of this many bytes; nothing can be seen on it."""
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\1\x11\0"
    begin = b"\xff\xd8\xff\xe0\x00\x10JFIF\0\1\1\0\0\1\0\1\0\0" + frame + b"\xff\xda\x00\x08\1\1\0\0\x3f\0"
    return begin + bytes([shade % 250]) * (size - len(begin) - 2) + b"\xff\xd9"


def webp(kind: bytes, content: bytes) -> bytes:
    """A WebP of one chunk."""
    body = b"WEBP" + kind + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", len(body)) + body
