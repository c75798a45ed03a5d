"""Names of files: as others give them, made safe for a folder; as they are shown; and found again by what was shown.

A name on a disk is bytes. One that is no UTF-8 comes from an archive or a disk of a machine with another encoding, and
is shown in that. One that a Mac wrote has its accents as characters of their own (NFD), where people type one (NFC).
"""

from __future__ import annotations

import os
import re
import unicodedata

from tool_api.errors import InvalidUploadError
from tool_api.text_encoding import encoding_of

_MAX_NAME_BYTES = 255
_UNSAFE = re.compile(r"[\x00-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODINGS = ("gb18030", "big5hkscs", "cp932", "cp949", "euc_jp", "cp1251", "cp1252")
"""Those a name may be in, the likelier ones first."""


def safe_name(given: str) -> str:
    """The last part of a file name as a browser gave it.

    Raises:
        InvalidUploadError: nothing usable is left of it.
    """
    name = _UNSAFE.sub("", given.replace("\\", "/").rsplit("/", 1)[-1]).strip()
    stem = name.rpartition(".")[0]
    suffix = name[len(stem) :]
    # What a name ends with is kept as long as there is room for it.
    room = _MAX_NAME_BYTES - len(suffix.encode())
    name = _cut(stem, room) + suffix if room >= 0 else _cut(suffix, _MAX_NAME_BYTES)
    if name in ("", ".", ".."):
        raise InvalidUploadError("An uploaded file needs a name.")
    return name


def shown_name(name: str) -> str:
    """A name, or a path, as Python has it from the disk, as text that can be shown, sent and stored."""
    if not _SURROGATE.search(name):
        return name
    return "/".join(map(_decoded_name, name.split("/")))


def shown_names(names: list[str]) -> list[str]:
    """Those of one folder. Of two that would look alike, one that is no UTF-8 has its bytes written as `\\xb2`."""
    if not any(map(_SURROGATE.search, names)):
        return names
    shown = [shown_name(name) for name in names]
    return [
        text if text == name or shown.count(text) == 1 else _escaped_name(name)
        for name, text in zip(names, shown, strict=True)
    ]


def find_name(folder: int, wanted: str) -> str | None:
    """The name in a folder that is the same text as this one: composed otherwise, or in another encoding than UTF-8;
    None where there is none, or several are."""
    if wanted.isascii() and "\\x" not in wanted:
        return None
    composed = unicodedata.normalize("NFC", wanted)
    try:
        readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        # It may be gone into without being listed.
        return None
    try:
        found = [name for name in os.listdir(readable) if composed in _readings(name)]
    finally:
        os.close(readable)
    return found[0] if len(found) == 1 else None


def _readings(name: str) -> set[str]:
    """All texts that a name may be asked for by, in NFC."""
    if name.isascii():
        return set()
    if not _SURROGATE.search(name):
        return {unicodedata.normalize("NFC", name)}
    decoded = (_decoded_as(os.fsencode(name), encoding) for encoding in _ENCODINGS)
    return {unicodedata.normalize("NFC", text) for text in decoded if text is not None} | {_escaped_name(name)}


def _decoded_name(name: str) -> str:
    if not _SURROGATE.search(name):
        return name
    data = os.fsencode(name)
    guessed = encoding_of(data)
    encodings = _ENCODINGS if guessed is None else (guessed.codec, *_ENCODINGS)
    decoded = (_decoded_as(data, encoding) for encoding in encodings if encoding in _ENCODINGS)
    return next((text for text in decoded if text is not None), _escaped_name(name))


def _decoded_as(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() and "/" not in text else None


def _escaped_name(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def numbered(name: str, number: int) -> str:
    """The name with a number before its ending, and still no longer than a name may be: `chart (2).png`."""
    stem, suffix = _parts(name)
    mark = f" ({number})"
    room = _MAX_NAME_BYTES - len(f"{mark}{suffix}".encode())
    if room < 1:
        return _cut(name, _MAX_NAME_BYTES - len(mark)) + mark
    return _cut(stem, room) + mark + suffix


def _parts(name: str) -> tuple[str, str]:
    """What a name is, and its ending: one that begins with its only dot has none, and an archive has two."""
    stem, dot, last = name.rpartition(".")
    if not stem:
        return name, ""
    suffix = dot + last
    if stem[-4:].lower() == ".tar" and len(stem) > len(".tar"):
        return stem[:-4], stem[-4:] + suffix
    return stem, suffix


def _cut(text: str, size: int) -> str:
    """The beginning of a text that is at most so many bytes of UTF-8."""
    return text.encode()[:size].decode("utf-8", "ignore")
