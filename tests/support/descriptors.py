"""What this process has open below a folder, whatever else others left to the garbage collector."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path


def open_below(folder: Path) -> list[str]:
    """Paths of the open descriptors that lead to the folder or below it, and `...` for each too deep to be named."""
    found: list[str] = []
    for number in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{number}")
        except OSError as error:
            # The listing's own one is closed by now.
            with contextlib.suppress(FileNotFoundError):
                if error.errno != errno.ENAMETOOLONG:
                    raise
                found.append("...")
            continue
        if Path(path) == folder or folder in Path(path).parents:
            found.append(path)
    return found
