"""A workspace into an archive."""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sandbox_manager.infrastructure.runtimes.archive.bounds import (
    FOLDER,
    KEPT,
    STAGE,
    ArchiveError,
    Counted,
    forget_entries,
)

_DEEPEST = 200
_LINK_BYTES = 256  # of an entry of `_Links` beside its path
_Links = dict[tuple[int, int], str]


class Entry(NamedTuple):
    """One name in the workspace; `folder` is open only while the entry is processed."""

    folder: int
    name: str
    path: str
    found: os.stat_result


class _Exactly:
    """A file of exactly this many bytes, whatever happens to it meanwhile."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        piece = bytearray()
        while len(piece) < wanted and (more := self._file.read(wanted - len(piece))):
            piece += more
        self._left -= wanted
        return bytes(piece).ljust(wanted, b"\0")


def entries(folder: int, counted: Counted, prefix: str = "") -> Iterator[Entry]:
    """Everything below an open folder, parents first. Files that vanish meanwhile are left out; no symlink is
    followed."""
    if prefix.count("/") > _DEEPEST:
        raise ArchiveError("too_large", f"Folders are nested deeper than {_DEEPEST}, too deep for a snapshot.")
    for name in _names(folder, counted, prefix):
        path = f"{prefix}{name}"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            yield Entry(folder, name, path, found)
            if stat.S_ISDIR(found.st_mode):
                inner = os.open(name, FOLDER, dir_fd=folder)
                try:
                    yield from entries(inner, counted, f"{path}/")
                finally:
                    os.close(inner)


def _names(folder: int, counted: Counted, prefix: str) -> list[str]:
    names: list[str] = []
    with os.scandir(folder) as found:
        for entry in found:
            if prefix or (entry.name not in KEPT and entry.name != STAGE):
                counted.listed(entry.name)
                names.append(entry.name)
    return sorted(names)


def pack(workspace: Path, target: Path, counted: Counted) -> None:
    """Write the archive of a workspace; nothing is left of one that fails."""
    draft = target.with_suffix(".part")
    root = os.open(workspace, FOLDER)
    try:
        # Checked first, so that files that are too large are refused before they are read.
        looked = Counted(counted.max_bytes, counted.max_files)
        for entry in entries(root, looked):
            looked.file(entry.path)
            looked.add(entry.found.st_size if stat.S_ISREG(entry.found.st_mode) else 0, entry.path)
        with open(draft, "wb", opener=_private) as raw:
            with gzip.GzipFile("", "wb", 1, raw) as packed, tarfile.open(None, "w|", packed) as archive:
                links: _Links = {}
                for entry in entries(root, counted):
                    _pack_entry(archive, entry, links, counted)
                    forget_entries(archive)
            raw.flush()
            os.fsync(raw.fileno())
        draft.replace(target)
    finally:
        os.close(root)
        draft.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _pack_entry(archive: tarfile.TarFile, entry: Entry, links: _Links, counted: Counted) -> None:
    found = entry.found
    info = tarfile.TarInfo(entry.path)
    info.mode, info.mtime = stat.S_IMODE(found.st_mode) & 0o777, int(found.st_mtime)
    if stat.S_ISDIR(found.st_mode):
        info.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(found.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(entry.name, dir_fd=entry.folder)
    elif not stat.S_ISREG(found.st_mode):
        return  # sockets, pipes and devices mean nothing once their program is gone
    elif (found.st_dev, found.st_ino) in links:
        info.type, info.linkname = tarfile.LNKTYPE, links[found.st_dev, found.st_ino]
    else:
        _pack_file(archive, info, entry, links, counted)
        return
    counted.file(info.name, info.linkname)
    archive.addfile(info)


def _pack_file(archive: tarfile.TarFile, info: tarfile.TarInfo, entry: Entry, links: _Links, counted: Counted) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with os.fdopen(os.open(entry.name, flags, dir_fd=entry.folder), "rb", 0) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            return
        counted.file(info.name)
        counted.add(found.st_size, entry.path)
        info.size = found.st_size
        archive.addfile(info, _Exactly(file, found.st_size))
        if found.st_nlink > 1:
            counted.remembered(entry.path, _LINK_BYTES)
            links[found.st_dev, found.st_ino] = entry.path
