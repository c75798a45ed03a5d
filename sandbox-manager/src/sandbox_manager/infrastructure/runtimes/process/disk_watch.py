"""Counts the workspaces of running sandboxes from outside, because answers from inside may be forged.

Each is counted once a minute, and every two seconds while the disk fills quickly. The tool API holds the limit to the
byte, as far as it can; here a sandbox that keeps filling a workspace well beyond its limit ends. One that only stays
beyond it does not: its user must be able to delete files. One that prevents its count three times in a row ends as
well.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Self

import service_kit
from sandbox_manager.infrastructure.runtimes.process import workspace_size
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

_log = logging.getLogger(__name__)

TICK_S = 0.5
_LOOK_S = 60.0
_OVER_S = 10.0
"""Seconds until a workspace over its limit is counted again, to learn whether it grows."""
_HURRIED_S, _HURRIED_EACH_S = 2.0, 0.2
"""Seconds between counts while the disk fills quickly; longer with more than ten sandboxes, as each count starts a
program."""
_HURRY_S = 10.0
_FAST_SHARE = 50
"""The disk fills quickly when it has lost more than this part (a fiftieth) of a workspace's limit."""
_CPU_S = 10.0
_LONGEST_S = 60.0
_END_S = 1.0
_AT_ONCE = 4
_SLACK_SHARE, _SLACK_BYTES, _SLACK_FILES = 10, 16 * 1024 * 1024, 1000
_GROWTH_SHARE = 100
_UNCOUNTED = 3
_MOST_KEPT = 10_000
_OVER = "Its files took up more space than allowed, and went on growing."
_COUNTLESS = "Its files could not be counted: there were too many, or they kept being moved."
_PYTHON_PATH = ":".join(
    str(Path(file).parents[levels]) for file, levels in ((service_kit.__file__, 1), (workspace_size.__file__, 4))
)


@dataclass(frozen=True, slots=True)
class Watched:
    """A running sandbox: the session whose workspace it has, and the process all others in it descend from.
    `limit_bytes` is the limit of its size, if it has one of its own."""

    session_id: str
    workspace: Path
    root: ProcessRef
    limit_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """Size of a workspace, whether all of it was seen, and how much of it is deleted but held open."""

    bytes: int
    files: int
    complete: bool = True
    deleted_bytes: int = 0


@dataclass(slots=True)
class _Known:
    """State of one workspace between looks; `over` is its size while it is over its limit."""

    over: Size | None = None
    holds_deleted: bool = False
    uncounted: int = 0
    counted_at: float = float("-inf")
    took_s: float = 0.0

    def is_due(self, most_s: float) -> bool:
        """Whether the last count is `most_s` old, or less if it is over its limit."""
        pause_s = most_s if self.over is None and not self.holds_deleted else min(most_s, _OVER_S)
        return time.monotonic() - self.counted_at >= max(pause_s, self.took_s)


@dataclass(frozen=True, slots=True)
class _Count:
    """A count under way."""

    watched: Watched
    program: Popen[bytes]
    began: float


@dataclass(slots=True)
class DiskWatch:
    """Counts workspaces by turns. `running` returns the sandboxes, `end` ends one with a reason. A limit of zero means
    none."""

    folder: Path
    limit_bytes: int
    limit_files: int
    running: Callable[[], Mapping[str, Watched]]
    end: Callable[[str, str], None]
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _counts: dict[str, _Count] = field(default_factory=dict[str, _Count])
    _free: tuple[int, int] = (0, 0)
    _hurried_until: float = float("-inf")

    def look(self) -> None:
        """Take the finished counts, and begin those that are due. Raises `OSError`."""
        running = self.running()
        if not (self.limit_bytes or self.limit_files or any(one.limit_bytes for one in running.values())):
            return
        for sandbox_id, count in [*self._counts.items()]:
            if count.program.poll() is not None or time.monotonic() - count.began > _LONGEST_S:
                del self._counts[sandbox_id]
                self._take(sandbox_id, count)
        self._watch_free_space()
        is_hurried = time.monotonic() < self._hurried_until
        most_s = max(_HURRIED_S, _HURRIED_EACH_S * len(running)) if is_hurried else _LOOK_S
        self._forget({one.session_id for one in running.values()})
        for sandbox_id in sorted(running, key=lambda one: self._known[running[one].session_id].counted_at):
            is_due = self._known[running[sandbox_id].session_id].is_due(most_s)
            if is_due and sandbox_id not in self._counts and len(self._counts) < _AT_ONCE:
                self._counts[sandbox_id] = _Count(running[sandbox_id], measure(running[sandbox_id]), time.monotonic())

    def close(self) -> None:
        """End the counts that are under way."""
        for count in self._counts.values():
            count_of(count.program)
        self._counts.clear()

    def _forget(self, sessions: set[str]) -> None:
        """Forget workspaces without a sandbox, except those over their limit, which stay so for the next sandbox."""
        over = [one for one, known in self._known.items() if known.over is not None and one not in sessions]
        kept = {one: _Known(over=self._known[one].over) for one in over[-_MOST_KEPT:]}
        self._known = kept | {one: self._known.get(one, _Known()) for one in sessions}

    def _watch_free_space(self) -> None:
        found = os.statvfs(self.folder)
        free = (found.f_bavail * found.f_frsize, found.f_favail)
        limits = (self.limit_bytes, self.limit_files)
        lost = [before - now for before, now in zip(self._free, free, strict=True)]
        if any(limit and loss > limit / _FAST_SHARE for limit, loss in zip(limits, lost, strict=True)):
            self._hurried_until = time.monotonic() + _HURRY_S
            self._free = free
        self._free = (max(self._free[0], free[0]), max(self._free[1], free[1]))

    def _take(self, sandbox_id: str, count: _Count) -> None:
        known = self._known.setdefault(count.watched.session_id, _Known())
        known.counted_at = time.monotonic()
        known.took_s = known.counted_at - count.began
        size = count_of(count.program)
        if size is None:
            _log.warning("a workspace could not be counted", extra={"sandbox_id": sandbox_id})
        elif (reason := self._of(count.watched).verdict(known, size)) is not None and count.watched.root.is_alive:
            try:
                self.end(sandbox_id, reason)
            except Exception:  # noqa: BLE001 - one of many; the others go on
                _log.exception("a sandbox could not be ended", extra={"sandbox_id": sandbox_id})

    def _of(self, watched: Watched) -> Self:
        return self if watched.limit_bytes is None else replace(self, limit_bytes=watched.limit_bytes)

    def verdict(self, known: _Known, size: Size) -> str | None:
        """The reason to end the sandbox of a workspace of this size, if there is one."""
        known.uncounted = 0 if size.complete else known.uncounted + 1
        # Deleted files that are held open stay as long as the sandbox does.
        held_deleted, known.holds_deleted = known.holds_deleted, 0 < self._most_bytes < size.deleted_bytes
        if self._goes_on_filling(known, size) or (held_deleted and known.holds_deleted):
            return _OVER
        # Without a limit of files, having too many to count is no fault.
        return _COUNTLESS if known.uncounted >= _UNCOUNTED and self.limit_files > 0 else None

    @property
    def _most_bytes(self) -> int:
        return self.limit_bytes and self.limit_bytes + self.limit_bytes // _SLACK_SHARE + _SLACK_BYTES

    @property
    def _most_files(self) -> int:
        return self.limit_files and self.limit_files + self.limit_files // _SLACK_SHARE + _SLACK_FILES

    def _goes_on_filling(self, known: _Known, size: Size) -> bool:
        before = known.over
        if not (0 < self._most_bytes < size.bytes or 0 < self._most_files < size.files):
            # An incomplete count does not show that it has shrunk.
            known.over = None if size.complete else before
            return False
        if before is None or self._has_grown(before, size):
            known.over = size
            return before is not None
        known.over = Size(min(before.bytes, size.bytes), min(before.files, size.files))
        return False

    def _has_grown(self, before: Size, now: Size) -> bool:
        more_bytes = self.limit_bytes > 0 and now.bytes - before.bytes > self.limit_bytes // _GROWTH_SHARE
        more_files = self.limit_files > 0 and now.files - before.files > self.limit_files // _GROWTH_SHARE
        return more_bytes or more_files


def measure(watched: Watched) -> Popen[bytes]:
    """Start the program that measures its workspace. Raises `OSError`."""
    arguments = [str(watched.workspace), str(watched.root.pid), str(_CPU_S)]
    command = [sys.executable, "-S", "-P", "-m", workspace_size.__name__, *arguments]
    environment = {"PYTHONPATH": _PYTHON_PATH, "PYTHONDONTWRITEBYTECODE": "1"}
    return Popen(command, bufsize=0, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL)


def count_of(program: Popen[bytes]) -> Size | None:
    """End the count, if it runs; returns the size so far, None if nothing is counted yet."""
    assert program.stdout is not None
    with program.stdout as output:
        program.kill()
        # A program stuck in the kernel is not waited for; its output so far is there.
        with contextlib.suppress(TimeoutExpired):
            program.wait(_END_S)
        os.set_blocking(output.fileno(), False)
        lines = (output.read() or b"").splitlines(keepends=True)
    whole = [line.split() for line in lines if line.endswith(b"\n")]
    if not whole:
        return None
    taken, files, complete, deleted = map(int, whole[-1])
    return Size(taken, files, bool(complete), deleted)
