"""The names of encodings in mails: other programs know more of them than Python does, and mean more by some."""

from __future__ import annotations

import codecs
import re

from tool_api.text_encoding import encoding_of, shown_text

_NAMES = {
    "unicode-1-1-utf-8": "utf-8",
    "utf8mb4": "utf-8",
    "x-x-big5": "big5hkscs",
    "x-mac-ukrainian": "mac_cyrillic",
    "macintosh": "mac_roman",
}
_PAGE_OF_CODES = re.compile(r"(?:x-)?(?:cp|windows|ibm|dos)-?([0-9]{3,5})")
_READING_ORDER = re.compile(r"-[ie]$")
"""Behind the names of encodings for Hebrew and Arabic."""
_MEANT = {
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Supersets that the WHATWG reads in place of the named encodings."""
_DAMAGED_SHARE = 0.02


def codec_of(name: str) -> str | None:
    """Python's name of the encoding that is meant, None for an unknown one."""
    written = name.strip().lower().replace("_", "-")
    page = _PAGE_OF_CODES.fullmatch(written)
    ways = [_NAMES.get(written, written), f"cp{page[1]}" if page else "", written.removeprefix("x-")]
    for way in filter(None, [*ways, _READING_ORDER.sub("", written)]):
        try:
            found = codecs.lookup(way).name
            # Some of its codecs make no text.
            b"text".decode(found, "replace")
        except (LookupError, ValueError):
            continue
        return _MEANT.get(found, found)
    return None


def text_of(data: bytes, name: str | None) -> str:
    """The text in the named encoding; if that is unknown or wrong, in the detected one."""
    codec = codec_of(name or "utf-8")
    declared = None if codec is None else data.decode(codec, "replace")
    if declared is not None and declared.count("\ufffd") <= _DAMAGED_SHARE * len(declared):
        return declared
    judged = encoding_of(data)
    if judged is not None:
        return shown_text(judged.decode(data))
    return data.decode("cp1252", "replace") if declared is None else declared
