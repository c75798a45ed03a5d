"""Going through a tree of folders, however deep it is: without recursion, by descriptors, few of them open at once."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from dataclasses import dataclass

_OPEN = 32
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeChangedError(OSError):
    """A folder was moved away while somebody was inside of it."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "a folder was moved meanwhile")


@dataclass(slots=True)
class _Level:
    name: str
    fd: int
    identity: tuple[int, int]


class TreeCursor:
    """Stands in a folder of a tree; a context manager. Follows no link, and can't be led out of the tree: on the way
    back a folder is opened again only as the one it was."""

    def __init__(self, fd: int) -> None:
        """Takes over a readable descriptor of the first folder."""
        self._way = [_Level("", fd, _identity(fd))]

    def __enter__(self) -> TreeCursor:
        return self

    def __exit__(self, *_: object) -> None:
        for level in self._way:
            if level.fd >= 0:
                os.close(level.fd)
        self._way.clear()

    @property
    def fd(self) -> int:
        """The folder it stands in; open until it is left, or gone far beyond."""
        return self._way[-1].fd

    @property
    def depth(self) -> int:
        return len(self._way) - 1

    @property
    def name(self) -> str:
        return self._way[-1].name

    def path(self) -> str:
        """From the first folder, which is empty itself."""
        return "/".join(level.name for level in self._way[1:])

    def enter(self, name: str) -> None:
        """Go into a folder of this one. Raises `OSError`: it is none, or closed."""
        fd = os.open(name, _FOLDER, dir_fd=self.fd)
        self._way.append(_Level(name, fd, _identity(fd)))
        # The first one stays open: it is nobody's to give back but ours. One that was gone beyond before is closed.
        if len(self._way) > _OPEN and (far := self._way[-_OPEN]) is not self._way[0] and far.fd >= 0:
            os.close(far.fd)
            far.fd = -1

    def leave(self) -> str:
        """Go back to the folder above; answers the name of the one that was left. Raises `TreeChangedError`."""
        left = self._way.pop()
        try:
            if self._way[-1].fd < 0:
                self._way[-1].fd = _parent_of(left.fd, self._way[-1].identity)
        finally:
            os.close(left.fd)
        return left.name


def _parent_of(folder: int, identity: tuple[int, int]) -> int:
    try:
        fd = os.open("..", _FOLDER, dir_fd=folder)
    except OSError as error:
        raise TreeChangedError from error
    if _identity(fd) != identity:
        os.close(fd)
        raise TreeChangedError
    return fd


def _identity(fd: int) -> tuple[int, int]:
    found = os.fstat(fd)
    return found.st_dev, found.st_ino


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on the way. What is taken from `folders` is not gone into; `fd` is open until the next one comes."""

    fd: int
    name: str
    depth: int
    folders: list[str]
    files: list[str]
    cursor: TreeCursor

    @property
    def path(self) -> str:
        return self.cursor.path()


def walk(fd: int) -> Generator[Folder]:
    """The folders of a tree, each before those inside of it, names sorted; one that is closed or gone is passed over.

    Takes over the descriptor. Raises `TreeChangedError`.
    """
    with TreeCursor(fd) as cursor:
        folder = _list_folder(cursor)
        yield folder
        left = [folder.folders[::-1]]
        while left:
            if left[-1]:
                name = left[-1].pop()
                try:
                    cursor.enter(name)
                except OSError:
                    continue
                folder = _list_folder(cursor)
                yield folder
                left.append(folder.folders[::-1])
            else:
                left.pop()
                if left:
                    cursor.leave()


def _list_folder(cursor: TreeCursor) -> Folder:
    folders: list[str] = []
    files: list[str] = []
    with contextlib.suppress(OSError), os.scandir(cursor.fd) as entries:
        for entry in entries:
            (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    return Folder(cursor.fd, cursor.name, cursor.depth, sorted(folders), sorted(files), cursor)
