"""Media types under which bytes of users or agents are served: decided here by name and content, whoever made them."""

from __future__ import annotations

import codecs

HEAD_BYTES = 4096
"""The number of bytes needed to recognise a content, if it has as many."""
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
# Short signatures that a text may begin with as well: the name must match too.
_NAMES = {"image/bmp": (".bmp",), "image/x-icon": (".ico",), "audio/mpeg": (".mp3",)}
# Formats that browsers save, by their first bytes and the endings of their names: many share the first bytes.
_ARCHIVES = {
    ".zip": "application/zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".epub": "application/epub+zip",
}
_FORMATS = (
    ((b"PK\x03\x04", b"PK\x05\x06"), _ARCHIVES),
    (
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
        {".doc": "application/msword", ".xls": "application/vnd.ms-excel", ".ppt": "application/vnd.ms-powerpoint"},
    ),
    ((b"\x1f\x8b",), {".gz": "application/gzip", ".tgz": "application/gzip"}),
    ((b"7z\xbc\xaf\x27\x1c",), {".7z": "application/x-7z-compressed"}),
    ((b"{\\rtf",), {".rtf": "application/rtf"}),
)
# Texts of which no browser runs anything.
_TEXTS = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".json": "application/json",
    ".ics": "text/calendar",
}
# Types that a browser runs or lays out if served as such: only ever shown on the origin for such content.
_ACTIVE = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}
# What such a page is made of.
_PARTS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
}


def image_type(head: bytes) -> str | None:
    """The raster image type that its first bytes show."""
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
    ending = _ending(name)
    for marks, types in _FORMATS:
        if ending in types and head.startswith(marks):
            return types[ending]
    is_text = _is_text(head)
    if ending in _TEXTS and b"\0" not in head:
        # The encoding of any other text is unknown.
        return f"{_TEXTS[ending]}; charset=utf-8" if is_text and _TEXTS[ending].startswith("text/") else _TEXTS[ending]
    return TEXT if is_text else OPAQUE


def active_type(name: str, head: bytes) -> str:
    """The type that its name claims, for content that is only saved or has an origin with nothing to lose; else as
    `inert_type`."""
    found = inert_type(name, head)
    return _ACTIVE.get(_ending(name), found) if found == TEXT else found


def beside_type(name: str, head: bytes) -> str:
    """The type it claims by its name as a part of a page that is closed off; else as `active_type`."""
    found = active_type(name, head)
    return _PARTS.get(_ending(name), found) if found == TEXT else found


def _ending(name: str) -> str:
    _, dot, ending = name.rpartition(".")
    return f"{dot}{ending}".lower() if dot else ""


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
        # The head may end in the middle of a character.
        codecs.getincrementaldecoder("utf-8")().decode(head[:HEAD_BYTES], final=len(head) < HEAD_BYTES)
    except UnicodeDecodeError:
        return False
    return True
