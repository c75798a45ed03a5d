"""Folders that programs make documents in: each has a lock that its process holds, so that those of a process that was
killed are told from those that are in use, and removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "export-"
_LOCK = ".export-lock"


@contextmanager
def work_folder(parent: Path | None = None) -> Generator[Path]:
    """An empty one in the folder for temporary files, or in another `parent`; gone with the block. Blocks."""
    parent = parent or Path(tempfile.gettempdir())
    remove_abandoned(parent)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        # Held before it has its name: whoever finds one by that name, and gets it, knows that nobody has it.
        lock = os.open(folder / "lock", os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            with suppress(OSError):  # where there are no locks, nothing is found by them either
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (folder / "lock").rename(folder / _LOCK)
            yield folder
        finally:
            os.close(lock)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove those whose process is gone. What is another user's, or has no lock of ours, stays."""
    with suppress(OSError), os.scandir(parent) as found:
        for entry in found:
            if entry.name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    told = folder.lstat()
    if not stat.S_ISDIR(told.st_mode) or told.st_uid != os.geteuid():
        return
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
