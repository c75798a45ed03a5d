"""Names on a disk as they are shown, and the way back from a shown name to the file.

A name on a disk is bytes. A name that is not UTF-8 comes from an archive or a disk of a machine with another encoding,
and is shown in that. A Mac writes accents as characters of their own (NFD), where people type one (NFC).
"""

from __future__ import annotations

import codecs
import os
import re
import unicodedata
from collections import Counter

from tool_api.text_encoding import encoding_of, is_common_chinese

_SURROGATE = re.compile("[\ud800-\udfff]")
_ONE_BYTE = ("cp1251", "cp1252")
_ENCODINGS = ("gb18030", "big5hkscs", "cp932", "cp949", "euc_jp", *_ONE_BYTE)
"""Encodings that a name may be in, the likelier ones first."""


def shown_name(name: str) -> str:
    """A name, or a path, as Python has it from the disk, as text that can be shown, sent and stored."""
    if not _SURROGATE.search(name):
        return name
    return "/".join(map(_decoded_name, name.split("/")))


def shown_names(names: list[str]) -> list[str]:
    """The shown names of one folder. If two look alike, one that is not UTF-8 has its bytes written as `\\xb2`."""
    if not any(map(_SURROGATE.search, names)):
        return names
    shown = [shown_name(name) for name in names]
    alike = Counter(shown)
    return [
        text if text == name or alike[text] == 1 else _escaped_name(name)
        for name, text in zip(names, shown, strict=True)
    ]


def find_name(folder: int, wanted: str) -> str | None:
    """The name in a folder that is the same text as this one, composed differently or in another encoding than UTF-8;
    None if there is none, or several are."""
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
    """All texts by which a name may be requested, in NFC."""
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
    decoded = (_decoded_as(data, encoding) for encoding in _likely_encodings(data))
    return next((text for text in decoded if text is not None), _escaped_name(name))


def _likely_encodings(data: bytes) -> tuple[str, ...]:
    """Encodings that a name may be in, the likeliest first.

    For two or three Chinese characters the detector often reports a Western or a Cyrillic text.
    """
    guessed = encoding_of(data)
    # The detector has other names of them.
    first = codecs.lookup(guessed.codec).name if guessed is not None else ""
    if first not in _ENCODINGS or (first in _ONE_BYTE and is_common_chinese(data)):
        return _ENCODINGS
    return (first, *_ENCODINGS)


def _decoded_as(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() and "/" not in text else None


def _escaped_name(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
