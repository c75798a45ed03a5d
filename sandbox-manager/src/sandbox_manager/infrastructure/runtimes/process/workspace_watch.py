"""What workspaces hold, counted from outside: what answers inside a sandbox may be anybody's and say anything.

The tool API holds the limit to the byte, as far as it can; here a sandbox that goes on filling a workspace well beyond
its limit ends. One that only stays there does not: its user has to be able to delete.

No sandbox holds up the count of another one. Most are counted in a moment, one after the other. One that was not, once,
is from then on counted in a thread of its own, of which there are few. One that even so can't be counted, several times
in a row and by its own doing, ends.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process.descriptors import are_too_many, most_open
from sandbox_manager.infrastructure.runtimes.process.hidden_files import ProbeError
from sandbox_manager.infrastructure.runtimes.process.memory import Member, all_processes, spared, trees
from sandbox_manager.infrastructure.runtimes.process.watching import FaultBoundary
from sandbox_manager.infrastructure.runtimes.process.workspace_count import (
    CountBounds,
    Counted,
    Watched,
    count_workspaces,
)
from service_kit.tree_size import TreeSize

_log = logging.getLogger(__name__)

TICK_S = 1.0
_LOOK_S = 20.0
_HURRIED_S = 2.0
_FAST_SHARE = 50
_REST = 50
"""A long count is followed by so many times its length without one, up to `_LONGEST_REST_S`."""
_LONGEST_REST_S = 120.0
_REST_OVER = 4
"""Shorter, and no longer than between two looks, for one that is over its limit: whether it grows has to be known."""
_SLACK = 10
_SLACK_BYTES = 16 * 1024 * 1024
_SLACK_FILES = 1000
_GROWTH = 100
QUICK = CountBounds(tree_cpu_s=0.5, deleted_cpu_s=0.25, timeout_s=3.0)
LONG = CountBounds(tree_cpu_s=20.0, deleted_cpu_s=2.0, timeout_s=60.0)
_LONG_AT_ONCE = 3
_MOST_KEPT = 10_000
_UNCOUNTED = 3
_JOIN_S = 3.0
_OVER = "Its files took up more space than allowed, and went on growing."
_COUNTLESS = "Its files could not be counted: there were too many, or they kept being moved."


@dataclass(slots=True)
class _WorkspaceState:
    """What stays of one workspace between looks: its size while it is over its limit, counts in a row that were not
    complete, whether deleted files alone are over the limit, and when it is to be counted next, also in a hurry."""

    over: TreeSize | None = None
    uncounted: int = 0
    holds_deleted: bool = False
    is_large: bool = False
    is_being_counted: bool = False
    fault: str | None = None
    due_at: float = float("-inf")
    hurried_at: float = float("-inf")


@dataclass(slots=True)
class WorkspaceWatch:
    """`running` names the sandboxes, `end` ends one and tells why. A limit of zero is none.
    With `look_s` zero every call looks."""

    folder: Path
    limit_bytes: int
    limit_files: int
    isolated: bool
    running: Callable[[], Mapping[str, Watched]]
    end: Callable[[str, str], None]
    look_s: float = _LOOK_S
    quick: CountBounds = QUICK
    long: CountBounds = LONG
    _known: dict[str, _WorkspaceState] = field(default_factory=dict[str, _WorkspaceState])
    _waiting: dict[str, Watched] = field(default_factory=dict[str, Watched])
    _boundary: FaultBoundary = field(default_factory=FaultBoundary)
    _long_counts: int = 0
    _threads: set[threading.Thread] = field(default_factory=set[threading.Thread])
    _counted: queue.SimpleQueue[tuple[str, str, Counted]] = field(
        default_factory=queue.SimpleQueue[tuple[str, str, Counted]]
    )
    _free_at_look: tuple[int, int] = (0, 0)
    _looked_at: float = float("-inf")
    _took_s: float = 0.0

    def __call__(self) -> None:
        """Look, if it is time to.

        Raises:
            ProbeError: some workspace could not be counted, by no fault of its sandbox.
        """
        self._look_in_time()
        if fault := next((known.fault for known in self._known.values() if known.fault is not None), None):
            raise ProbeError(fault)

    def _look_in_time(self) -> None:
        if not (self.limit_bytes or self.limit_files):
            return
        self._take_long_counts()
        self._begin_long_counts()
        since = time.monotonic() - self._looked_at
        hurried = self._fills_fast() or any(known.holds_deleted or known.fault for known in self._known.values())
        if self.look_s > 0 and since < (max(_HURRIED_S, self._took_s) if hurried else self.look_s):
            return
        began = time.monotonic()
        self._free_at_look = self._disk_free()
        self._round(self.running(), hurried=hurried)
        self._looked_at = time.monotonic()
        self._took_s = self._looked_at - began

    def _round(self, running: Mapping[str, Watched], *, hurried: bool) -> None:
        sessions = {one.session_id for one in running.values()}
        # One that was over its limit when its sandbox ended is so in the next one, too: nothing begins anew with it.
        over = [session for session, known in self._known.items() if known.over is not None and session not in sessions]
        kept = {session: _WorkspaceState(over=self._known[session].over) for session in over[-_MOST_KEPT:]}
        self._known = kept | {session: self._known.get(session, _WorkspaceState()) for session in sessions}
        self._waiting = {one: running[one] for one in self._waiting if one in running}
        due = {sandbox_id: one for sandbox_id, one in running.items() if self._is_due(one.session_id, hurried=hurried)}
        if not due:
            return
        self._hold_descriptors(due)
        quick = {sandbox_id: one for sandbox_id, one in due.items() if not self._known[one.session_id].is_large}
        for (sandbox_id, one), counted in zip(quick.items(), self._count([*quick.values()], self.quick), strict=True):
            self._known[one.session_id].fault = counted.fault
            if counted.fault is not None or (counted.size is not None and counted.size.complete):
                with self._boundary.around(sandbox_id):
                    self._record_count(sandbox_id, one.session_id, counted)
            else:
                self._known[one.session_id].is_large = True
        self._waiting |= {sandbox_id: one for sandbox_id, one in due.items() if self._known[one.session_id].is_large}
        self._begin_long_counts()

    def _is_due(self, session_id: str, *, hurried: bool) -> bool:
        known, now = self._known[session_id], time.monotonic()
        is_due = now >= (known.hurried_at if hurried else known.due_at) or self.look_s <= 0
        return is_due and not known.is_being_counted

    def _fills_fast(self) -> bool:
        limits = (self.limit_bytes, self.limit_files)
        return any(
            limit and before - now > limit / _FAST_SHARE
            for limit, before, now in zip(limits, self._free_at_look, self._disk_free(), strict=True)
        )

    def _disk_free(self) -> tuple[int, int]:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize, found.f_favail

    def _hold_descriptors(self, due: Mapping[str, Watched]) -> None:
        members = trees(all_processes(), [one.root for one in due.values()])
        for sandbox_id, one in due.items():
            with self._boundary.around(sandbox_id):
                _hold_descriptors_of(sandbox_id, one, members[one.root])

    def _count(self, watched: Sequence[Watched], bounds: CountBounds) -> list[Counted]:
        device = self.folder.stat().st_dev
        return [*count_workspaces(watched, device, bounds, may_unshare=self.isolated)]

    def _begin_long_counts(self) -> None:
        """Apart from all others; of those that wait, first whoever should have been counted longest ago."""
        for sandbox_id in sorted(self._waiting, key=lambda one: self._known[self._waiting[one].session_id].due_at):
            if self._long_counts >= _LONG_AT_ONCE:
                return
            one = self._waiting.pop(sandbox_id)
            thread = threading.Thread(
                target=self._count_long, args=(sandbox_id, one), name="large-workspace", daemon=True
            )
            thread.start()
            self._threads = {one for one in self._threads if one.is_alive()} | {thread}
            self._known[one.session_id].is_being_counted = True
            self._long_counts += 1

    def _count_long(self, sandbox_id: str, one: Watched) -> None:
        counted = Counted(None, 0.0)
        try:
            counted = self._count([one], self.long)[0]
        except Exception:  # noqa: BLE001 - edge of an owned thread
            _log.exception("a large workspace could not be counted", extra={"sandbox_id": sandbox_id})
        finally:
            self._counted.put((sandbox_id, one.session_id, counted))

    def close(self) -> None:
        """Wait for long counts, some seconds at most: one may hold its sandbox still just now."""
        until = time.monotonic() + _JOIN_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _take_long_counts(self) -> None:
        while not self._counted.empty():
            sandbox_id, session_id, counted = self._counted.get()
            self._long_counts -= 1
            if session_id in self._known:
                self._known[session_id].is_being_counted = False
                with self._boundary.around(sandbox_id):
                    self._record_count(sandbox_id, session_id, counted)

    @property
    def _most_bytes(self) -> int:
        return self.limit_bytes + self.limit_bytes // _SLACK + _SLACK_BYTES

    @property
    def _most_files(self) -> int:
        return self.limit_files + self.limit_files // _SLACK + _SLACK_FILES

    def _record_count(self, sandbox_id: str, session_id: str, counted: Counted) -> None:
        known, size, now = self._known[session_id], counted.size, time.monotonic()
        known.fault = counted.fault
        if known.is_large:
            known.hurried_at = now + counted.took_s
            is_known = size is not None and size.complete
            known.due_at = now + (min(counted.took_s * _REST, _LONGEST_REST_S) if is_known else 0)
        if size is None:
            _log.warning("a workspace could not be counted", extra={"sandbox_id": sandbox_id})
            return
        held_deleted, known.holds_deleted = known.holds_deleted, self._holds_deleted(counted)
        if counted.fault is None and self._is_countless(known, size):
            _log.warning("ended a sandbox whose workspace can't be counted", extra={"sandbox_id": sandbox_id})
            known.uncounted = 0
            self.end(sandbox_id, _COUNTLESS)
        elif self._goes_on_filling(known, size) or (held_deleted and known.holds_deleted):
            known.holds_deleted = False
            fields = {"sandbox_id": sandbox_id, "bytes": size.bytes, "files": size.files}
            _log.warning("ended a sandbox that went on filling its workspace", extra=fields)
            self.end(sandbox_id, _OVER)
        if known.is_large and known.over is not None:
            known.due_at = min(known.due_at, now + min(counted.took_s * _REST_OVER, _LOOK_S))

    def _holds_deleted(self, counted: Counted) -> bool:
        """Whether it is over its limit by what nobody can delete any more."""
        return self.limit_bytes > 0 and counted.deleted_bytes > self._most_bytes

    def _is_countless(self, known: _WorkspaceState, size: TreeSize) -> bool:
        known.uncounted = 0 if size.complete else known.uncounted + 1
        # Where there may be any number of files, it is nobody's fault that there are.
        return known.uncounted >= _UNCOUNTED and self.limit_files > 0

    def _goes_on_filling(self, known: _WorkspaceState, size: TreeSize) -> bool:
        is_over = (self.limit_bytes and size.bytes > self._most_bytes) or (
            self.limit_files and size.files > self._most_files
        )
        before = known.over
        if not is_over:
            # What was not counted to its end says nothing of having become less.
            known.over = None if size.complete else before
            return False
        if before is None or self._has_grown(before, size):
            known.over = size
            return before is not None
        known.over = TreeSize(min(before.bytes, size.bytes), min(before.files, size.files))
        return False

    def _has_grown(self, before: TreeSize, now: TreeSize) -> bool:
        more_bytes = now.bytes - before.bytes > self.limit_bytes // _GROWTH if self.limit_bytes else False
        more_files = now.files - before.files > self.limit_files // _GROWTH if self.limit_files else False
        return more_bytes or more_files


def _hold_descriptors_of(sandbox_id: str, one: Watched, members: list[Member]) -> None:
    own = [member.process for member in members]
    if are_too_many(process.pid for process in own):
        for process in most_open(own, spared(one.root, members)):
            process.kill()
        _log.warning("ended what held too many descriptors", extra={"sandbox_id": sandbox_id})
