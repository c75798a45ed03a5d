"""What bytes that users or agents made are served as: decided here, by name and content, and never by who made them."""

from __future__ import annotations

import codecs

HEAD_BYTES = 4096
"""What must be seen of a content, where it has as much."""
OPAQUE = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"
PDF = "application/pdf"

_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
)
_SOUNDS = (
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
)
_BRANDS = {b"avif": "image/avif", b"avis": "image/avif", b"M4A ": "audio/mp4"}
_MOVIE_BRANDS = (b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"M4V ", b"dash")
# Short marks that a text may begin with as well: the name must say so too.
_NAMES = {"image/bmp": (".bmp",), "image/x-icon": (".ico",), "audio/mpeg": (".mp3",)}
# What a browser runs or lays out where it is told to: shown on no origin of ours but the one for such content.
_ACTIVE = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}


def image_type(head: bytes) -> str | None:
    """The raster image that it is by its first bytes."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        found = _BRANDS.get(head[8:12], "")
        return found if found.startswith("image/") else None
    return next((media_type for mark, media_type in _IMAGES if head.startswith(mark)), None)


def inert_type(name: str, head: bytes) -> str:
    """A type under which no browser runs anything of it. `head` are its first `HEAD_BYTES`, or all."""
    found = image_type(head) or _played_type(head) or (PDF if head.startswith(b"%PDF-") else None)
    if found is not None and name.lower().endswith(_NAMES.get(found, "")):
        return found
    if name.lower().endswith(".zip") and head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "application/zip"
    return TEXT if _is_text(head) else OPAQUE


def active_type(name: str, head: bytes) -> str:
    """The type it claims by its name, for an origin that has nothing to lose; else as `inert_type`."""
    found = inert_type(name, head)
    _, dot, ending = name.rpartition(".")
    return _ACTIVE.get(f".{ending.lower()}", found) if dot and found == TEXT else found


def _played_type(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "audio/wav"
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return _BRANDS.get(brand) or ("video/mp4" if brand in _MOVIE_BRANDS else None)
    return next((media_type for mark, media_type in _SOUNDS if head.startswith(mark)), None)


def _is_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        # A letter may be cut at the end of what is looked at.
        codecs.getincrementaldecoder("utf-8")().decode(head[:HEAD_BYTES], final=len(head) < HEAD_BYTES)
    except UnicodeDecodeError:
        return False
    return True
