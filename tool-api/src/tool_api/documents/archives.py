"""The archives that documents of Office programs are: bounded before they are opened, each part read by itself."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from tool_api.documents.parts import RefusedDocumentError

MAX_ENTRIES = 10_000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
_FORBIDDEN = re.compile(
    rb"<!(DOCTYPE|ENTITY)|" + b"|".join("<!DOCTYPE".encode(form) for form in ("utf-16-le", "utf-16-be"))
)
_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([^\"']{0,40})", re.IGNORECASE)
# Settings of printers and drawings have declarations of their own, which no library here reads.
_OPAQUE = (".bin", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".emf", ".wmf")
_ENCODINGS = frozenset({b"utf-8", b"utf-16", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252"})


class BrokenPartError(Exception):
    """One part of a document can't be read; the message says why. The other parts can."""


def checked_names(archive: zipfile.ZipFile) -> frozenset[str]:
    """The names in the archive. Archives within its entries are not unpacked.

    Raises:
        RefusedDocumentError: it would unpack to more than is read, or is encrypted.
    """
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise RefusedDocumentError(f"It has {len(entries)} parts, more than the {MAX_ENTRIES} that are read.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise RefusedDocumentError(f"It unpacks to more than the {MAX_UNPACKED_BYTES // 1024**2} MB that can be read.")
    if any(entry.flag_bits & 1 for entry in entries):
        raise RefusedDocumentError("It is encrypted. Ask for a copy without a password.")
    return frozenset(entry.filename for entry in entries)


class Archive:
    """The parts of a document by their names, whose case and slashes are as programs write them."""

    def __init__(self, data: bytes) -> None:
        """Raises `RefusedDocumentError` where it is broken as a whole, or too big."""
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise RefusedDocumentError(
                "It is corrupt: the archive is incomplete, such as a partial download."
            ) from error
        self._entries = {_plain(name): name for name in sorted(checked_names(self._archive))}

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._entries

    def names(self) -> list[str]:
        return list(self._entries.values())

    def read(self, name: str) -> bytes:
        """Raises `BrokenPartError`."""
        entry = self._entries.get(_plain(name))
        if entry is None:
            raise BrokenPartError("it is missing from the file")
        try:
            return self._archive.read(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise BrokenPartError("its bytes are damaged") from error

    def read_xml(self, name: str) -> bytes:
        """Raises `BrokenPartError`, also for a part that declares types or entities: no Office program writes them, and
        attackers use them to have other files read."""
        content = self.read(name)
        if not name.lower().endswith(_OPAQUE):
            check_xml(name, content)
        return content


def check_xml(name: str, content: bytes) -> None:
    """Raises `BrokenPartError` for XML that a parser is not to be given."""
    declared = _DECLARED.search(content[:400])
    if declared and declared[1].lower() not in _ENCODINGS:
        raise BrokenPartError(f"{name} is in an encoding that no Office program writes")
    if _FORBIDDEN.search(content):
        raise BrokenPartError(f"{name} declares types or entities, which is not read")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
