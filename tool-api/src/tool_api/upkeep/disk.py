"""The use of the workspace, and the room left in it."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from service_kit.open_files import unlinked_size
from service_kit.tree_size import TreeSize, tree_size
from tool_api.errors import DiskFullError
from tool_api.write_bound import WriteBound

_log = logging.getLogger(__name__)

_TICK_S = 1.0
_BUSY_TICK_S = 0.1
"""The tick in seconds while something runs or the disk fills: at worst a command's writes between two ticks are over
the limit."""
_LOOK_S = 20.0
_SHARE = 20
_HURRIED_SHARE = 4
_FAST_SHARE = 50
_DELETED_S = 2.0
_LARGE_BYTES = 256 * 1024 * 1024
_LONGEST_PAUSE_S = 2.0


class DiskWatch:
    """Counts the size of the workspace, in bytes and in files, seldom enough to cost next to nothing, and at once when
    the machine's disk fills quickly. A limit of zero means no limit."""

    def __init__(self, workspace: Path, limit_bytes: int, limit_files: int = 0) -> None:
        self._workspace = workspace
        self._limit_bytes = limit_bytes
        self._limit_files = limit_files
        self._looked_at = float("-inf")
        self._began_at = float("-inf")
        self._looking = asyncio.Lock()
        self._cost_s = self._work_s = 0.0
        self._free_at_look = (0, 0)
        self._free_at_deleted = 0
        self._stopped_at: tuple[int, int] | None = None
        self._largest_bytes = 0
        self._deleted = TreeSize(0, 0)
        self._came_bytes = self._came_files = 0
        self.used_bytes: int | None = None
        self.used_files: int | None = None

    @property
    def is_full(self) -> bool:
        return self._is_full_of_files or (bool(self._limit_bytes) and (self.used_bytes or 0) >= self._limit_bytes)

    @property
    def _is_full_of_files(self) -> bool:
        return bool(self._limit_files) and (self.used_files or 0) >= self._limit_files

    @property
    def notice(self) -> str | None:
        """A notice for work in a full workspace."""
        if not self.is_full:
            return None
        holds = f"{_megabytes(self.used_bytes or 0)} of the {_megabytes(self._limit_bytes)}"
        if self._is_full_of_files:
            holds = f"{self.used_files or 0:,} of the {self._limit_files:,} files and folders"
        return (
            f"The workspace is full: it holds {holds} it may. Delete files first (`du -ah | sort -h | tail` finds the "
            "largest; rm or file_delete removes them), then try again. Until then no code runs, and commands can read "
            "and delete, but write to no file."
        )

    async def write_bound(self) -> WriteBound:
        """The current write limit, counted anew unless a recent count is still good enough for its cost.

        It is read before each command, so that files of the last one, or of one before a restart, count.
        """
        if not self._limit_bytes and not self._limit_files:
            return WriteBound()
        asked = time.monotonic()
        async with self._looking:
            if self._began_at < asked and self._is_stale():
                if self._may_hold_deleted():
                    await self._recount_deleted()
                await self._recount()
        if self.is_full:
            return WriteBound(0)
        # An existing large file may grow. Writing that much takes long enough to be noticed.
        larger = self._largest_bytes if self._largest_bytes >= _LARGE_BYTES else 0
        return WriteBound(max(self._room, 1) + larger if self._limit_bytes else None)

    def _is_stale(self) -> bool:
        if self.used_bytes is None or self.is_full or time.monotonic() - self._looked_at >= self._cost_s * _SHARE:
            return True
        return bool(self._limit_bytes) and self._filled() * 2 >= self._room

    def _may_hold_deleted(self) -> bool:
        """Whether the size of deleted files may matter now. Counting them looks at every process and takes tens of
        milliseconds; until half of the room may be taken, the count of the last regular look is good enough."""
        if self.used_bytes is None or self.is_full or self._deleted.bytes or self._deleted.files:
            return True
        taken = self._free_at_deleted - self._free()[0]
        return bool(self._limit_bytes) and taken * 2 >= self._room

    def _filled(self) -> int:
        """Bytes of the disk that were taken since the last look, by whomever."""
        return self._free_at_look[0] - self._free()[0]

    async def room(self, wanted: int = 1) -> int | None:
        """Bytes that may still be written, None for any number; counted again if they seem less than wanted."""
        if not self._limit_bytes and not self._limit_files:
            return None
        if self.used_bytes is None:
            await self._recount()
        elif self._is_full_of_files or (bool(self._limit_bytes) and self._room < wanted):
            await self._look_again()
        if self._is_full_of_files:
            return 0
        return max(self._room, 0) if self._limit_bytes else None

    async def _look_again(self) -> None:
        """Count again before anything is refused, including deleted files that were still held open; concurrent callers
        share a look, and none follows another without a pause."""
        asked = time.monotonic()
        async with self._looking:
            if self._began_at > asked:
                return
            pause = self._looked_at + self._work_s * _HURRIED_SHARE - time.monotonic()
            await asyncio.sleep(min(max(pause, 0.0), _LONGEST_PAUSE_S))
            await self._recount_deleted()
            await self._recount()

    async def demand(self, wanted: int) -> None:
        """Reserve room for `wanted` more bytes, which count as written, or raise `DiskFullError`."""
        room = await self.room(wanted) if wanted > 0 else None
        if room is not None and room < wanted:
            raise DiskFullError(self.notice or self.refusal(wanted))
        self.wrote(wanted)

    def refusal(self, wanted: int) -> str:
        """The error text for a write of this size."""
        return (
            f"The workspace has room for {_megabytes(max(self._room, 0))} more of the {_megabytes(self._limit_bytes)} "
            f"it may hold, and this takes {_megabytes(wanted)}. Delete files first, then try again."
        )

    def wrote(self, count: int, files: int = 0) -> None:
        """Add bytes and files written since the last look; negative numbers for those removed again."""
        self._came_bytes += max(count, 0)
        self._came_files += max(files, 0)
        if self.used_bytes is not None and self.used_files is not None:
            self.used_bytes = max(self.used_bytes + count, 0)
            self.used_files = max(self.used_files + files, 0)

    async def watch(
        self,
        on_full: Callable[[bool], Awaitable[None]],
        *,
        look_s: float = _LOOK_S,
        tick_s: float = _TICK_S,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        """Look for ever; call `on_full` when a look finds too much, and again, with True, whenever it has grown since.

        It looks at the disk more often while something runs. A look that fails, such as for lack of threads, is logged,
        and the next one follows.
        """
        while True:
            if self._is_time(look_s):
                try:
                    await self._look(on_full)
                except Exception:  # noqa: BLE001 - edge of an owned task
                    _log.exception("the workspace could not be measured")
                    self._looked_at = time.monotonic()
            is_urgent = is_busy() or (self.used_bytes is not None and self._filled() > 0)
            await asyncio.sleep(min(tick_s, _BUSY_TICK_S) if is_urgent else tick_s)

    async def _look(self, on_full: Callable[[bool], Awaitable[None]]) -> None:
        async with self._looking:
            await self._recount_deleted()
            await self._recount()
        if not self.is_full:
            self._stopped_at = None
        elif self._has_grown:
            goes_on = self._stopped_at is not None
            self._stopped_at = (self.used_bytes or 0, self.used_files or 0)
            await on_full(goes_on)

    @property
    def _has_grown(self) -> bool:
        stopped_at = self._stopped_at or (-1, -1)
        return (self.used_bytes or 0) > stopped_at[0] or (self.used_files or 0) > stopped_at[1]

    @property
    def _room(self) -> int:
        return self._limit_bytes - (self.used_bytes or 0)

    def _is_time(self, look_s: float) -> bool:
        since = time.monotonic() - self._looked_at
        if since >= max(look_s, self._cost_s * _SHARE):
            return True
        limits = (self._limit_bytes, self._limit_files)
        fills_fast = any(
            limit and before - now > limit / _FAST_SHARE
            for limit, before, now in zip(limits, self._free_at_look, self._free(), strict=True)
        )
        if self._limit_bytes and self._filled() >= max(self._room, self._limit_bytes // _FAST_SHARE):
            return since > self._cost_s
        return fills_fast and since > self._cost_s * _HURRIED_SHARE

    async def _recount_deleted(self) -> None:
        self._free_at_deleted = self._free()[0]
        self._deleted = await asyncio.to_thread(self._count_deleted)

    async def _recount(self) -> None:
        began = self._began_at = time.monotonic()
        self._free_at_look = self._free()
        came_bytes, came_files = self._came_bytes, self._came_files
        found, self._work_s = await asyncio.to_thread(self._count)
        # Files that arrived during the count may be missing from it.
        self.used_bytes = found.bytes + self._deleted.bytes + self._came_bytes - came_bytes
        self.used_files = found.files + self._deleted.files + self._came_files - came_files
        self._largest_bytes = found.largest_bytes
        self._looked_at = time.monotonic()
        self._cost_s = self._looked_at - began

    def _count(self) -> tuple[TreeSize, float]:
        """The size of the workspace, and the processor time spent on counting it."""
        began = time.thread_time()
        return tree_size(str(self._workspace)), time.thread_time() - began

    def _count_deleted(self) -> TreeSize:
        """The size of the workspace's deleted files that are still held open."""
        try:
            device = self._workspace.stat().st_dev
        except OSError:
            return TreeSize(0, 0)
        return unlinked_size(_processes(), device, str(self._workspace), deadline_s=_DELETED_S)

    def _free(self) -> tuple[int, int]:
        """Bytes and files of the disk the workspace lies on, together with others: one cheap call."""
        try:
            found = os.statvfs(self._workspace)
        except OSError:
            return 0, 0
        return found.f_bavail * found.f_frsize, found.f_favail


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _megabytes(count: int) -> str:
    return f"{count / 1024 / 1024:,.1f} MB"
