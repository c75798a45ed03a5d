"""Folders nested deeper than any path or stack may be."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


def nest(folder: Path, depth: int, name: str) -> None:
    """Make `depth` folders of that name, each in the one before."""
    at = os.open(folder, _FOLDER)
    for _ in range(depth):
        os.mkdir(name, dir_fd=at)
        inner = os.open(name, _FOLDER, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
