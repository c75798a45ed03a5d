"""How much the workspace holds."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

_LOOK_S = 20.0
_BLOCK = 512
_SHARE = 20


class DiskWatch:
    """Counts what the workspace takes up, seldom enough to cost next to nothing, and says when it is too much."""

    def __init__(self, workspace: Path, limit_bytes: int) -> None:
        self._workspace = workspace
        self._limit_bytes = limit_bytes
        self.used_bytes: int | None = None

    @property
    def is_full(self) -> bool:
        return bool(self._limit_bytes) and (self.used_bytes or 0) >= self._limit_bytes

    @property
    def limit_bytes(self) -> int:
        return self._limit_bytes

    async def watch(self, on_full: Callable[[], None], *, look_s: float = _LOOK_S) -> None:
        """Look for ever; call `on_full` at each look that finds too much."""
        while True:
            began = time.monotonic()
            self.used_bytes = await asyncio.to_thread(used_bytes, self._workspace)
            if self.is_full:
                on_full()
            await asyncio.sleep(max(look_s, (time.monotonic() - began) * _SHARE))


def used_bytes(folder: Path) -> int:
    """What a tree takes up; links are not followed, and a file with several names counts once."""
    total, seen = 0, set[int]()
    pending = [str(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    if found.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                        if found.st_ino in seen:
                            continue
                        seen.add(found.st_ino)
                    total += found.st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue
    return total
