"""Makes a PDF of Chrome searchable: radicals that stand for common characters are replaced by these.

Standard input: the PDF. Standard output: a line of JSON with the number of `pages`, then the PDF.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from itertools import count

from pypdf import PdfReader, PdfWriter
from pypdf.errors import PdfReadError
from pypdf.generic import DictionaryObject, PdfObject, StreamObject

from tool_api.documents import fence
from tool_api.documents.radicals import PLAIN

_CHARACTER = re.compile(rb"^(<[0-9A-Fa-f]+>) <([0-9A-Fa-f]{4})>$", re.MULTILINE)
_RANGE = re.compile(rb"^<([0-9A-Fa-f]+)> <([0-9A-Fa-f]+)> <([0-9A-Fa-f]{4})>$", re.MULTILINE)
_MOST_IN_RANGE = 256


def main() -> None:
    fence.limit()
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(sys.stdin.buffer.read())))
    fence.install()
    for found in _objects(writer):
        table = found.get("/ToUnicode") if isinstance(found, DictionaryObject) else None
        stream = table.get_object() if table is not None else None
        if isinstance(stream, StreamObject):
            stream.set_data(plain_table(stream.get_data()))
    made = io.BytesIO()
    writer.write(made)
    sys.stdout.buffer.write(json.dumps({"pages": len(writer.pages)}).encode() + b"\n" + made.getvalue())


def _objects(writer: PdfWriter) -> Iterator[PdfObject]:
    for number in count(1):
        try:
            yield writer.get_object(number)
        except PdfReadError:
            # There is no object of this number.
            continue
        except IndexError:
            return


def plain_table(table: bytes) -> bytes:
    """A table from a font's codes to characters, with the common characters. Ranges that hold some are listed code by
    code."""
    return _CHARACTER.sub(_plain_character, _RANGE.sub(_plain_range, table))


def _plain_character(found: re.Match[bytes]) -> bytes:
    return b"%b %b" % (found[1], _glyph_code(int(found[2], 16)))


def _plain_range(found: re.Match[bytes]) -> bytes:
    first, last, target = (int(part, 16) for part in found.groups())
    codes = range(target, target + min(last - first, _MOST_IN_RANGE) + 1)
    if not any(code in PLAIN for code in codes):
        return found[0]
    return b"<%b> <%b> [%b]" % (found[1], found[2], b" ".join(map(_glyph_code, codes)))


def _glyph_code(code: int) -> bytes:
    return b"<%b>" % PLAIN.get(code, chr(code)).encode("utf-16-be", "surrogatepass").hex().upper().encode()
