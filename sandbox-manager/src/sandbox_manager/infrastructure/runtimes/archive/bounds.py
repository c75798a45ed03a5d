"""Limits of packing and unpacking."""

from __future__ import annotations

import os
import sys
import tarfile

STAGE = ".agent-restore"
KEPT = frozenset({".agent", ".transcripts", ".tasks", ".team"})  # the system's own, neither packed nor replaced
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MEMORY_BYTES = 256 * 1024 * 1024
"""The memory limit, above the need of everything the program accepts."""

_PATH_BYTES = 256 * 1024 * 1024
_REMEMBERED_BYTES = 128 * 1024 * 1024
_TOLD_OF_PATH = 200


class ArchiveError(Exception):
    """`code` is the fault for the manager, the text one for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Counted:
    """Limits the number and size of entries, and the memory for their names. Raises `ArchiveError`."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes, self.max_files = max_bytes, max_files
        self.bytes = self.files = 0
        self._path_bytes = self._remembered = self._listed = 0

    def file(self, *paths: str) -> None:
        """Count one file, with its path and, for a link, that of its target: both are in the archive, however long."""
        self.files += 1
        self._check_number(self.files)
        self._path_bytes += sum(len(os.fsencode(path)) for path in paths)
        if self._path_bytes > _PATH_BYTES:
            raise ArchiveError("too_large", "The files' paths are too long, all together, for a snapshot.")

    def listed(self, name: str) -> None:
        """Count one more known name, before anything is done with it."""
        self._listed += 1
        self._check_number(self._listed)
        self.remembered(name, 0)

    def remembered(self, path: str, more: int) -> None:
        """Count a path kept in memory, with `more` bytes beside it."""
        self._remembered += sys.getsizeof(path) + more
        if self._remembered > _REMEMBERED_BYTES:
            raise ArchiveError("too_large", "The files have too many long names for a snapshot.")

    def add(self, size: int, path: str) -> None:
        self.bytes += size
        if self.bytes > self.max_bytes:
            limit = f"{self.max_bytes / 1024 / 1024:,.0f} MB"
            at = path[-_TOLD_OF_PATH:]
            raise ArchiveError("too_large", f"The files are larger than a snapshot may be ({limit}; at {at}).")

    def _check_number(self, files: int) -> None:
        if files > self.max_files:
            raise ArchiveError("too_large", f"There are more than {self.max_files:,} files, too many for a snapshot.")


def forget_entries(archive: tarfile.TarFile) -> None:
    """Forget the entries already read, all of which the archive would keep."""
    vars(archive)["members"].clear()
