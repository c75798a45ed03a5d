"""Text in another encoding than UTF-8, as spreadsheets and older programs still write it."""

from __future__ import annotations

import codecs

from charset_normalizer import from_bytes

from tool_api.documents.formats.whole import WholeDocument
from tool_api.documents.parts import RefusedDocumentError

_LOOKED_AT = 512 * 1024
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LIKELY = ("gb18030", "big5", "shift_jis", "euc_jp", "euc_kr", "cp1252", "cp1251", "iso8859_1", "iso8859_2", "koi8_r")


def open_document(data: bytes) -> WholeDocument:
    """Raises `RefusedDocumentError` where it is no text in any encoding that is known."""
    encoding, text = decoded(data)
    if "\0" in text[:8192]:
        raise RefusedDocumentError("It is a binary file.")
    return WholeDocument(about=f"[text in {encoding}, shown in UTF-8]", text=text)


def decoded(data: bytes) -> tuple[str, str]:
    """The encoding's name and the text in it. Raises `RefusedDocumentError`."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name, data.decode(name, "replace")
    try:
        return "utf-8", data.decode("utf-8-sig")
    except UnicodeDecodeError:
        best = from_bytes(data[:_LOOKED_AT], cp_isolation=list(_LIKELY)).best()
    if best is None:
        raise RefusedDocumentError("It is neither text in an encoding that is known nor a document.")
    return best.encoding, data.decode(best.encoding, "replace")
