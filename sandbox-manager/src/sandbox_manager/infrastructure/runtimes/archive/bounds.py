"""What both ways keep to."""

from __future__ import annotations

import os

STAGE = ".agent-restore"
KEPT = frozenset({".agent", ".transcripts", ".tasks", ".team"})  # the system's own, neither packed nor replaced
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ArchiveError(Exception):
    """`code` tells the manager what went wrong, the text a person."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class Counted:
    """Bounds what goes through. Raises `ArchiveError`."""

    def __init__(self, max_bytes: int, max_files: int) -> None:
        self.max_bytes, self.max_files = max_bytes, max_files
        self.bytes = self.files = 0

    def file(self) -> None:
        self.files += 1
        if self.files > self.max_files:
            raise ArchiveError("too_large", f"There are more than {self.max_files:,} files, too many for a snapshot.")

    def add(self, size: int, path: str) -> None:
        self.bytes += size
        if self.bytes > self.max_bytes:
            limit = f"{self.max_bytes / 1024 / 1024:,.0f} MB"
            raise ArchiveError("too_large", f"The files are larger than a snapshot may be ({limit}; at {path}).")
