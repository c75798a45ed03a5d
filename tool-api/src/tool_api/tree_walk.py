"""Going through a tree of folders by `os.fwalk`, as deep as honest programs make them."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import NamedTuple

DEEPEST = 256


class Folder(NamedTuple):
    """A folder on the way; the path of the first one is empty. Names that are removed from `folders` are skipped, and
    so are links to folders. `fd` is open until the next one comes."""

    path: str
    depth: int
    folders: list[str]
    files: list[str]
    fd: int


def walk(fd: int) -> Generator[Folder]:
    """The folders of a tree, each before those inside of it, names sorted; one that is closed, gone or deeper than
    `DEEPEST` is passed over. Takes over the descriptor."""
    try:
        for path, folders, files, inner in os.fwalk(".", dir_fd=fd):
            depth = path.count("/")
            folders.sort()
            yield Folder(path[2:], depth, folders, sorted(files), inner)
            if depth >= DEEPEST:
                folders.clear()
    finally:
        os.close(fd)
