"""A file system of a few hundred megabytes that can be filled to the last byte and emptied again."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

_BLOCK = 1 << 20


class SmallDisk:
    """Mounted at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    @property
    def free_bytes(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self) -> None:
        """Leave not a byte."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (_BLOCK, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(b"\0" * size) == size:
                        pass

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Generator[SmallDisk]:
    """Skips the test, with the reason, where nothing may be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small file system can't be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
