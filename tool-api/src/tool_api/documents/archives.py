"""The archives that documents of Office programs are, looked through before any library opens them."""

from __future__ import annotations

import re
import zipfile

from tool_api.documents.parts import RefusedDocumentError

MAX_ENTRIES = 10_000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
_PIECE = 1024 * 1024
_OVERLAP = 32
_FORBIDDEN = re.compile(
    rb"<!(DOCTYPE|ENTITY)|" + b"|".join("<!DOCTYPE".encode(form) for form in ("utf-16-le", "utf-16-be"))
)
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"']{0,40})", re.IGNORECASE)
# Settings of printers and drawings have declarations of their own, which no library here reads.
_OPAQUE = (".bin", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".emf", ".wmf")
_ENCODINGS = frozenset({b"utf-8", b"utf-16", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252"})


def checked_names(archive: zipfile.ZipFile) -> frozenset[str]:
    """The names in it. What is packed within one of its entries once more is nobody's to unpack.

    Raises:
        RefusedDocumentError: it would unpack to more than is read, is encrypted, or declares types or entities, which
            no Office program writes and whoever wants other files read does.
        zipfile.BadZipFile: it is broken.
    """
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise RefusedDocumentError(f"It has {len(entries)} parts, more than the {MAX_ENTRIES} that are read.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise RefusedDocumentError(f"It unpacks to more than the {MAX_UNPACKED_BYTES // 1024**2} MB that are read.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise RefusedDocumentError("It is encrypted. Ask for a copy without a password.")
    for entry in entries:
        if not entry.filename.lower().endswith(_OPAQUE):
            _check(archive, entry)
    return frozenset(entry.filename for entry in entries)


def _check(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    with archive.open(entry) as part:
        piece = part.read(_PIECE)
        declared = _DECLARED.search(piece[:400])
        if declared and declared[1].lower() not in _ENCODINGS:
            raise RefusedDocumentError(f"Its part {entry.filename} is in an encoding that no Office program writes.")
        end = b""
        while piece:
            if _FORBIDDEN.search(end + piece):
                raise RefusedDocumentError(f"Its part {entry.filename} declares types or entities, which is not read.")
            end, piece = piece[-_OVERLAP:], part.read(_PIECE)
