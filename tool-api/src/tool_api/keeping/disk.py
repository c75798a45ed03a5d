"""How much the workspace holds, and what may still be put into it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tool_api.errors import DiskFullError

_TICK_S = 1.0
_LOOK_S = 20.0
_BLOCK = 512
_SHARE = 20
_HURRIED_SHARE = 4
_GULP = 50


class DiskWatch:
    """Counts what the workspace takes up, seldom enough to cost next to nothing, and at once when the machine's disk
    fills quickly. With a limit of zero there is room for everything."""

    def __init__(self, workspace: Path, limit_bytes: int) -> None:
        self._workspace = workspace
        self._limit_bytes = limit_bytes
        self._looked_at = float("-inf")
        self._cost_s = 0.0
        self._free_bytes = 0
        self._stopped_at: int | None = None
        self.used_bytes: int | None = None

    @property
    def is_full(self) -> bool:
        return bool(self._limit_bytes) and (self.used_bytes or 0) >= self._limit_bytes

    @property
    def notice(self) -> str | None:
        """What to say to whoever works in a full workspace."""
        if not self.is_full:
            return None
        return (
            f"The workspace is full: it holds {_megabytes(self.used_bytes or 0)} of the "
            f"{_megabytes(self._limit_bytes)} it may. Commands that go on filling it are ended. Delete files first, "
            "then try again."
        )

    async def room(self, wanted: int = 1) -> int | None:
        """Bytes that may still be written, None for any number; counted anew when they seem less than wanted."""
        if not self._limit_bytes:
            return None
        since = time.monotonic() - self._looked_at
        if self.used_bytes is None or (self._left < wanted and since > self._cost_s * _HURRIED_SHARE):
            await self._look()
        return max(self._left, 0)

    async def demand(self, wanted: int) -> None:
        """Pass when there is room for so many bytes more, which count as written, or raise `DiskFullError`."""
        room = await self.room(wanted) if wanted > 0 else None
        if room is not None and room < wanted:
            raise DiskFullError(self.notice or self.refusal(wanted))
        self.wrote(wanted)

    def refusal(self, wanted: int) -> str:
        """Why so much is not taken."""
        return (
            f"The workspace has room for {_megabytes(max(self._left, 0))} more of the {_megabytes(self._limit_bytes)} "
            f"it may hold, and this takes {_megabytes(wanted)}. Delete files first, then try again."
        )

    def wrote(self, count: int) -> None:
        """So many bytes came in since the last look."""
        if self.used_bytes is not None:
            self.used_bytes += count

    async def watch(
        self, on_full: Callable[[], Awaitable[None]], *, look_s: float = _LOOK_S, tick_s: float = _TICK_S
    ) -> None:
        """Look for ever; call `on_full` when a look finds too much, and again whenever it became more since."""
        while True:
            if self._is_time(look_s):
                await self._look()
                if not self.is_full:
                    self._stopped_at = None
                elif self._stopped_at is None or (self.used_bytes or 0) > self._stopped_at:
                    self._stopped_at = self.used_bytes
                    await on_full()
            await asyncio.sleep(tick_s)

    @property
    def _left(self) -> int:
        return self._limit_bytes - (self.used_bytes or 0)

    def _is_time(self, look_s: float) -> bool:
        since = time.monotonic() - self._looked_at
        if since >= max(look_s, self._cost_s * _SHARE):
            return True
        gulped = self._free_bytes - self._free()
        return bool(self._limit_bytes) and gulped > self._limit_bytes / _GULP and since > self._cost_s * _HURRIED_SHARE

    async def _look(self) -> None:
        began = time.monotonic()
        self._free_bytes = self._free()
        self.used_bytes = await asyncio.to_thread(used_bytes, self._workspace)
        self._looked_at = time.monotonic()
        self._cost_s = self._looked_at - began

    def _free(self) -> int:
        """Of the disk the workspace lies on, together with others: one cheap call."""
        try:
            found = os.statvfs(self._workspace)
        except OSError:
            return 0
        return found.f_bavail * found.f_frsize


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


def _megabytes(count: int) -> str:
    return f"{count / 1024 / 1024:,.1f} MB"
