"""The disk space a tree of files takes up, however it was made.

It is made for trees whose owner may try to hide bytes in them. Folders are reached by descriptors alone, so that no
path is too long; however deep they are, few are open at once; no link is followed; a folder closed to its own owner is
opened for as long as it is counted. Nothing but the standard library is imported: this runs as a program too.

    python -I -S tree_size.py MAX_FILES SECONDS     folders on standard input; bytes, files, whether all was seen

The program's seconds are of processor time: how far they reach is then up to the tree, not to what else runs.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_BLOCK = 512
_OPEN = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK_AT_CLOCK = 1024


@dataclass(frozen=True, slots=True)
class TreeSize:
    """Bytes on the disk, and names of files and folders, the first folder not counted among them.

    If it is not `complete`, it was changed while it was counted, or exceeds the limit; it holds more. `largest_bytes`
    is the size of its largest file, on the disk.
    """

    bytes: int
    files: int
    complete: bool = True
    largest_bytes: int = 0


@dataclass(slots=True)
class _Level:
    """A folder on the way down: its descriptor, unless too many are open, and its subfolders that are left."""

    fd: int
    identity: tuple[int, int]
    closed_mode: int | None
    left: list[str] = field(default_factory=list[str])

    def close(self) -> None:
        if self.fd < 0:
            return
        if self.closed_mode is not None and not self.left:
            with contextlib.suppress(OSError):
                os.fchmod(self.fd, self.closed_mode)
        os.close(self.fd)
        self.fd = -1


class _Walk:
    def __init__(self, *, max_files: int, deadline_s: float, clock: Callable[[], float]) -> None:
        self._max_files, self._clock = max_files, clock
        self._until = clock() + deadline_s
        self._seen = set[int]()
        self._levels: list[_Level] = []
        self.bytes = self.files = self.largest_bytes = self._entries = 0
        self.complete = True

    def go(self, folder: str) -> None:
        try:
            self._levels.append(_level(folder, None))
            self._list(self._levels[0])
            while self._levels and not self._is_enough:
                if self._levels[-1].left:
                    self._enter(self._levels[-1].left.pop())
                else:
                    self._ascend()
        except FileNotFoundError:
            return
        finally:
            for level in self._levels:
                level.left.clear()
                level.close()

    @property
    def _is_enough(self) -> bool:
        if (self._max_files and self.files > self._max_files) or self._clock() > self._until:
            self.complete = False
            return True
        return False

    def _enter(self, name: str) -> None:
        try:
            level = _level(name, self._levels[-1].fd)
        except FileNotFoundError:
            return
        except OSError:
            self.complete = False
            return
        self._levels.append(level)
        if len(self._levels) > _OPEN + 1:
            self._close_level(self._levels[-_OPEN - 1])
        self._list(level)

    def _close_level(self, level: _Level) -> None:
        # The first one stays: from there the walk goes on if the others can't be found again.
        if level is not self._levels[0] and level.fd >= 0:
            os.close(level.fd)
            level.fd = -1

    def _ascend(self) -> None:
        level = self._levels.pop()
        try:
            if self._levels and self._levels[-1].fd < 0:
                self._return_to(self._levels[-1], level)
        finally:
            level.close()

    def _return_to(self, parent: _Level, child: _Level) -> None:
        with contextlib.suppress(OSError):
            fd = os.open("..", _FOLDER, dir_fd=child.fd)
            if _identity(os.fstat(fd)) == parent.identity:
                parent.fd = fd
                return
            os.close(fd)
        # The folder was moved: the rest of the way is missing from this count.
        self.complete = False
        while len(self._levels) > 1:
            self._levels.pop().close()

    def _list(self, level: _Level) -> None:
        try:
            with os.scandir(level.fd) as entries:
                for entry in entries:
                    self._count(entry, level)
                    self._entries += 1
                    if self._entries % _LOOK_AT_CLOCK == 0 and self._is_enough:
                        return
        except OSError:
            self.complete = False

    def _count(self, entry: os.DirEntry[str], level: _Level) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return  # it is gone already
        self.files += 1
        if stat.S_ISDIR(found.st_mode):
            level.left.append(entry.name)
        elif found.st_nlink > 1:
            if found.st_ino in self._seen:
                return
            self._seen.add(found.st_ino)
        size = found.st_blocks * _BLOCK
        self.bytes += size
        self.largest_bytes = max(self.largest_bytes, min(size, found.st_size))


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _level(name: str, parent: int | None) -> _Level:
    """Raises `OSError`."""
    closed_mode = None
    try:
        fd = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        fd, closed_mode = _open_forced(name, parent)
    found = os.fstat(fd)
    if closed_mode is None and not found.st_mode & stat.S_IXUSR and found.st_uid == os.geteuid() != 0:
        closed_mode = stat.S_IMODE(found.st_mode)
        os.fchmod(fd, closed_mode | stat.S_IRWXU)
    return _Level(fd, _identity(found), closed_mode)


def _open_forced(name: str, parent: int | None) -> tuple[int, int]:
    place = os.open(name, _PLACE, dir_fd=parent)
    try:
        mode = stat.S_IMODE(os.fstat(place).st_mode)
        path = f"/proc/self/fd/{place}"
        os.chmod(path, mode | stat.S_IRWXU)
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), mode
    finally:
        os.close(place)


def tree_size(
    folder: str,
    *,
    max_files: int = 0,
    deadline_s: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
) -> TreeSize:
    """The size of a folder; counting ends above `max_files`, unless that is 0, and at the deadline by the clock.

    The bytes of a file with several names count once, each of its names as a file. A folder that is not there holds
    nothing. Raises `OSError`.
    """
    walk = _Walk(max_files=max_files, deadline_s=deadline_s, clock=clock)
    walk.go(folder)
    return TreeSize(walk.bytes, walk.files, walk.complete, walk.largest_bytes)


def main() -> None:
    """Count the folders named on standard input; the arguments are `max_files` and seconds of processor time
    for each."""
    max_files, deadline_s = int(sys.argv[1]), float(sys.argv[2])
    for line in sys.stdin:
        try:
            found = tree_size(line.rstrip("\n"), max_files=max_files, deadline_s=deadline_s, clock=time.process_time)
        except OSError:
            found = TreeSize(0, 0, complete=False)
        sys.stdout.write(f"{found.bytes} {found.files} {int(found.complete)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
