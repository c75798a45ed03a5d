"""Changed files of the workspace, whoever wrote them: a command, code, or a program in the background.

The workspace is compared after each call that may write with the look before: a file has changed if its modification
time, size or inode number differs. A look is bounded; folders nobody works in by hand are left out.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from contracts.tools import MAX_CHANGED_PATHS
from tool_api.shown_names import find_name, shown_name

MAX_ENTRIES = 10_000
"""Entries that one look covers, those nearest to the workspace's top first."""
MAX_LOOK_S = 0.1
_LEFT_OUT = frozenset(
    {
        ".agent",
        ".transcripts",
        ".tasks",
        ".team",
        ".git",
        ".hg",
        ".svn",
        "node_modules",
        "__pycache__",
        ".cache",
        ".npm",
    }
    | {".venv", "venv", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
_ENVIRONMENT = "pyvenv.cfg"


_State = tuple[int, int, int] | None
"""State that identifies a version of a file: modification time, size and inode number. None for a folder."""
_Look = dict[str, dict[str, _State]]
"""The entries of each folder that was looked into, by its path; the workspace's own path is empty."""


class WorkspaceChanges:
    """Remembers the last look. All methods block, and may be called from several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._last: _Look | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Take the first look, unless there was one: files from before the first call did not change."""
        with self._lock:
            if self._last is None:
                self._last = _look(self._root)

    def take(self) -> list[str]:
        """The paths that changed since the last look, as they are shown; at most `MAX_CHANGED_PATHS`."""
        with self._lock:
            before, self._last = self._last, _look(self._root)
            if before is None:
                return []
            changed = sorted(set(_changed(before, self._last)))
        return [shown_name(path) for path in changed[:MAX_CHANGED_PATHS]]

    def gone(self, paths: Iterable[str]) -> list[str]:
        """The paths, as they are shown, that no longer exist."""
        return [path for path in paths if not _is_there(self._root, path)]

    def leave_out(self, paths: Iterable[str]) -> None:
        """Ignore these paths: their writer is known, and they are reported otherwise."""
        with self._lock:
            for path in paths:
                if (entries := self._remembered(path.rpartition("/")[0])) is None:
                    continue
                name = path.rpartition("/")[2]
                try:
                    entries[name] = _state((self._root / path).lstat())
                except OSError:
                    entries.pop(name, None)

    def _remembered(self, folder: str) -> dict[str, _State] | None:
        """The entries of a folder at the last look, empty if it was made since; None if it was not looked into."""
        if self._last is None:
            return None
        if folder not in self._last:
            above, _, name = folder.rpartition("/")
            entries = self._remembered(above) if folder else None
            if entries is None or name in entries:
                return None
            entries[name] = None
            self._last[folder] = {}
        return self._last[folder]


def _is_there(root: Path, path: str) -> bool:
    folder = str(root)
    for name in path.split("/"):
        if not os.path.lexists(f"{folder}/{name}"):
            name = _found(folder, name)
            if name is None:
                return False
        folder = f"{folder}/{name}"
    return True


def _found(folder: str, shown: str) -> str | None:
    """The name in a folder that is shown so."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        return find_name(fd, shown)
    finally:
        os.close(fd)


def _look(root: Path) -> _Look:
    found: _Look = {}
    left = deque([""])
    until = time.monotonic() + MAX_LOOK_S
    room = MAX_ENTRIES
    while left and room > 0 and time.monotonic() < until:
        folder = left.popleft()
        listed, entries = _entries(f"{root}/{folder}")
        room -= listed
        if entries is None or (folder and _ENVIRONMENT in entries):
            continue
        found[folder] = entries
        left.extend(_join(folder, name) for name, state in entries.items() if state is None)
    return found


def _entries(folder: str) -> tuple[int, dict[str, _State] | None]:
    """The number of entries listed, and the state of each that is compared; None if the folder can't be listed."""
    entries: dict[str, _State] = {}
    try:
        with os.scandir(folder) as scanned:
            listed = list(itertools.islice(scanned, MAX_ENTRIES + 1))
        for entry in listed:
            if entry.name in _LEFT_OUT or _is_temporary(entry.name):
                continue
            with contextlib.suppress(FileNotFoundError):
                entries[entry.name] = _state(entry.stat(follow_symlinks=False))
    except OSError:
        return 0, None
    return len(listed), entries


def _is_temporary(name: str) -> bool:
    """A file of ours on its way to its place."""
    return name.startswith(".") and name.endswith(".part")


def _state(found: os.stat_result) -> _State:
    return None if stat.S_ISDIR(found.st_mode) else (found.st_mtime_ns, found.st_size, found.st_ino)


def _changed(before: _Look, now: _Look) -> Iterator[str]:
    for folder, entries in now.items():
        former = before.get(folder)
        if former is None:
            # Either it is new, or it was not looked into before.
            if _is_new(folder, before):
                yield from (_join(folder, name) for name, state in entries.items() if state is not None)
            continue
        for name, state in entries.items():
            if state is not None and (name not in former or former[name] != state):
                yield _join(folder, name)
        for name, state in former.items():
            if name not in entries or (state is None and entries[name] is not None):
                yield _join(folder, name)


def _is_new(folder: str, before: _Look) -> bool:
    """Whether the path, or a folder that holds it, was missing at a look into its parent."""
    while folder:
        above, _, name = folder.rpartition("/")
        if above in before:
            return name not in before[above] or before[above][name] is not None
        folder = above
    return False


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
