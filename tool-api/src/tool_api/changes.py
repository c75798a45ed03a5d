"""Which files of the workspace changed, whoever wrote them: a command, code, a program in the background.

The workspace is looked at after each call that may write, and compared with the look before: a file has changed where
its time, its size or its number is another. What is looked at is bounded; folders nobody works in by hand are left out.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from contracts.tools import MAX_CHANGED_PATHS
from tool_api.file_names import shown_name

MAX_ENTRIES = 20_000
"""Of one look: those nearest to the workspace's top."""
MAX_LOOK_S = 0.2
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


class _State(NamedTuple):
    """What tells a file from what it was; a folder has none of it."""

    is_folder: bool
    modified_ns: int = 0
    size: int = 0
    number: int = 0


_Look = dict[str, dict[str, _State]]
"""The entries of each folder that was looked into, by its path; the workspace's own path is empty."""


class WorkspaceChanges:
    """Remembers the last look. All methods block, and may be called from several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._last: _Look | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Take the first look, unless there was one: what was there before the first call did not change."""
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

    def skip(self, paths: Iterable[str]) -> None:
        """Take no notice of these: who wrote them is known, and they are told otherwise."""
        with self._lock:
            for path in paths:
                folder, _, name = path.rpartition("/")
                if self._last is None or (entries := self._last.get(folder)) is None:
                    continue
                state = _state_of(self._root / path)
                if state is not None:
                    entries[name] = state
                else:
                    entries.pop(name, None)


def _look(root: Path) -> _Look:
    found: _Look = {}
    left = deque([""])
    until = time.monotonic() + MAX_LOOK_S
    room = MAX_ENTRIES
    while left and room > 0 and time.monotonic() < until:
        folder = left.popleft()
        entries = _entries(root / folder if folder else root)
        if entries is None or (folder and _ENVIRONMENT in entries):
            continue
        room -= len(entries)
        found[folder] = entries
        left.extend(_join(folder, name) for name, state in entries.items() if state.is_folder)
    return found


def _entries(folder: Path) -> dict[str, _State] | None:
    try:
        with os.scandir(folder) as listed:
            names = [entry for entry in listed if entry.name not in _LEFT_OUT and not _is_temporary(entry.name)]
            states = ((entry.name, _state_of_entry(entry)) for entry in names[: MAX_ENTRIES + 1])
            return {name: state for name, state in states if state is not None}
    except OSError:
        return None


def _is_temporary(name: str) -> bool:
    """A file of ours on its way to its place."""
    return name.startswith(".") and name.endswith(".part")


def _state_of_entry(entry: os.DirEntry[str]) -> _State | None:
    try:
        return _state(entry.stat(follow_symlinks=False))
    except OSError:
        return None


def _state_of(path: Path) -> _State | None:
    try:
        return _state(path.lstat())
    except OSError:
        return None


def _state(found: os.stat_result) -> _State:
    if stat.S_ISDIR(found.st_mode):
        return _State(is_folder=True)
    return _State(is_folder=False, modified_ns=found.st_mtime_ns, size=found.st_size, number=found.st_ino)


def _changed(before: _Look, now: _Look) -> Iterator[str]:
    for folder, entries in now.items():
        former = before.get(folder)
        if former is None:
            # Either it is new, or it was not looked into before.
            if _is_new(folder, before):
                yield from (_join(folder, name) for name, state in entries.items() if not state.is_folder)
            continue
        for name, state in entries.items():
            if not state.is_folder and former.get(name) != state:
                yield _join(folder, name)
        for name, state in former.items():
            if name not in entries or (state.is_folder and not entries[name].is_folder):
                yield _join(folder, name)


def _is_new(folder: str, before: _Look) -> bool:
    """Whether it, or a folder that holds it, was missing where that was looked into."""
    while folder:
        above, _, name = folder.rpartition("/")
        if above in before:
            return name not in before[above] or not before[above][name].is_folder
        folder = above
    return False


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
