"""The sum of a sandbox's memory and of its tasks, held where no cgroup does it.

Rlimits hold for each process alone. So all of a sandbox is added up: about once a second, and at once when the machine
has noticeably less memory than at the last look. Whoever takes most is ended first, until the rest is within the limit.
The tool API is spared, and what lies in files in memory has no process: where these alone are too much, the
sandbox ends.

A look at one sandbox is bounded by processor time and by descriptors. What it has no time left to measure exactly
counts in full, and a sandbox has no more descriptors than can be looked through. What the kernel may block, descriptors
and exact sizes, is read in threads of their own, so that no sandbox delays the look at another one. A round is bounded
too: whoever's look is due first is looked at first, and the look at a costly one is due later, but does come.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox_manager.infrastructure.runtimes.process.bounded_looks import BackgroundLook
from sandbox_manager.infrastructure.runtimes.process.descriptors import (
    DescriptorMemory,
    MemoryFiles,
    are_too_many,
    bytes_held,
    memory_files,
    most_open,
)
from sandbox_manager.infrastructure.runtimes.process.hidden_files import ProbeError
from sandbox_manager.infrastructure.runtimes.process.memory import (
    ExactSizes,
    Member,
    all_processes,
    exact_sizes,
    file_bytes,
    spared,
    tables_and_swap,
    trees,
)
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef
from sandbox_manager.infrastructure.runtimes.process.watching import FaultBoundary

_log = logging.getLogger(__name__)

TICK_S = 0.05
_LOOK_S = 1.0
_DESCRIPTORS_S = 5.0
_HURRIED_S = 0.25
_FAST_BYTES = 48 * 1024 * 1024
_DYING_S = 2.0
_REST = 20
"""An exact look is followed by so many times its length without one, unless memory goes."""
_HURRIED_REST = 4
_ROUND_CPU_S = 0.1
_COSTLY_CPU_S = 0.1
_COSTLY_DELAY_S = 2.0
_JOIN_S = 0.1
"""So long the round waits for a look in a thread of its own; after that it goes on, and collects the result later."""
_BLOCKED_S = 3.0
"""For so long the kernel may block a look before what it would have found counts in full, or its sandbox ends."""
_OVER = "It used more memory than it is allowed."
_HIDING = "What its first processes have open could not be found out."
_MOST_UNANSWERED = 3
"""So many looks in a row that did not find out in time what processes hide end these."""
_FAILED = "The memory of a sandbox could not be looked at."


@dataclass(slots=True)
class _SandboxState:
    """What stays of one sandbox between looks."""

    descriptors: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    descriptors_at: float = float("-inf")
    descriptors_cost_s: float = 0.0
    unanswered: int = 0
    fault: str | None = None
    scan_fault: str | None = None
    scan: BackgroundLook[DescriptorMemory] = field(default_factory=BackgroundLook[DescriptorMemory])
    exact: BackgroundLook[ExactSizes] = field(default_factory=BackgroundLook[ExactSizes])
    exact_again_at: float = float("-inf")
    looked_at: float = float("-inf")
    is_costly: bool = False


@dataclass(slots=True)
class MemoryWatch:
    """`running` names the sandboxes with their outermost processes, `end` ends one and tells why."""

    memory_bytes: int
    tasks: int
    running: Callable[[], Mapping[str, ProcessRef]]
    end: Callable[[str, str], None]
    _sandboxes: Mapping[str, ProcessRef] = field(default_factory=dict[str, ProcessRef])
    _known: dict[str, _SandboxState] = field(default_factory=dict[str, _SandboxState])
    _ended: dict[ProcessRef, float] = field(default_factory=dict[ProcessRef, float])
    _killed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _boundary: FaultBoundary = field(default_factory=FaultBoundary)
    _looked_at: float = float("-inf")
    _ended_at: float = float("-inf")
    _took_s: float = 0.0
    _is_unfinished: bool = False
    _is_hurried: bool = False
    _available_bytes: int = 0
    _memory: MemoryFiles = field(default_factory=memory_files)

    def __call__(self) -> None:
        """Look, if it is time to.

        Raises:
            ProbeError: what some sandbox hides could not be asked for, by no fault of its own.
        """
        self._look_in_time()
        if fault := next((known.fault for known in self._known.values() if known.fault is not None), None):
            raise ProbeError(fault)

    def _look_in_time(self) -> None:
        now, available = time.monotonic(), _available_bytes()
        is_time = now - self._looked_at >= _LOOK_S
        self._is_hurried |= bool(self._sandboxes) and self._available_bytes - available > _FAST_BYTES
        self._available_bytes = max(self._available_bytes, available)
        has_reason = is_time or self._is_hurried or self._is_unfinished
        if not has_reason or now - self._ended_at < self._took_s / 2:
            return
        if is_time:
            self._looked_at = now
            self._sandboxes = self.running()
            self._known = {one: self._known.get(one, _SandboxState()) for one in self._sandboxes}
            self._ended = {one: until for one, until in self._ended.items() if until > now}
        self._available_bytes = available
        try:
            self._is_unfinished = bool(self._sandboxes) and not self._round(hurried=self._is_hurried)
        finally:
            self._log_kills()
        self._is_hurried &= self._is_unfinished
        self._ended_at = time.monotonic()
        self._took_s = self._ended_at - now

    def _round(self, *, hurried: bool) -> bool:
        """Whether there was time for all."""
        found = trees(all_processes(), self._sandboxes.values())
        for sandbox_id, root in self._sandboxes.items():
            with self._boundary.around(sandbox_id):
                self._hold_tasks(sandbox_id, root, self._still_running(found[root]))
        order = sorted(self._sandboxes, key=self._due_at)
        if hurried and order:
            # Whose memory goes so fast is most likely who has most. The others keep the time they have in a round.
            greatest = max(order, key=lambda one: sum(member.resident_bytes for member in found[self._sandboxes[one]]))
            order.remove(greatest)
            self._look_at(greatest, found, hurried=True)
        until = time.thread_time() + _ROUND_CPU_S
        for sandbox_id in order:
            if time.thread_time() > until:
                return False
            self._look_at(sandbox_id, found, hurried=hurried)
        return not any(known.exact.is_under_way and not known.exact.blocked_s for known in self._known.values())

    def _look_at(self, sandbox_id: str, found: Mapping[ProcessRef, list[Member]], *, hurried: bool) -> None:
        root, known, began = self._sandboxes[sandbox_id], self._known[sandbox_id], time.thread_time()
        known.looked_at = time.monotonic()
        if members := self._still_running(found[root]):
            with self._boundary.around(sandbox_id):
                known.fault = _FAILED  # until it has come to its end
                known.fault = self._check(sandbox_id, root, members, hurried=hurried)
        known.is_costly = time.thread_time() - began > _COSTLY_CPU_S or time.monotonic() - known.looked_at > _JOIN_S

    def _due_at(self, sandbox_id: str) -> float:
        known = self._known[sandbox_id]
        return known.looked_at + (_COSTLY_DELAY_S if known.is_costly else 0.0)

    def _still_running(self, members: list[Member]) -> list[Member]:
        return [one for one in members if one.process not in self._ended]

    def _hold_tasks(self, sandbox_id: str, root: ProcessRef, members: list[Member]) -> None:
        over = sum(one.tasks for one in members) - self.tasks
        kept = spared(root, members)
        for member in sorted(members, key=lambda one: (one.tasks, one.process.started), reverse=True):
            if over <= 0:
                return
            if member.process not in kept:
                self._kill(sandbox_id, member.process, "tasks")
                over -= member.tasks

    def _check(self, sandbox_id: str, root: ProcessRef, members: list[Member], *, hurried: bool) -> str | None:
        """The fault of ours that keeps it from being complete, if there is one."""
        known = self._known[sandbox_id]
        members = self._limit_descriptors(sandbox_id, root, members, hurried=hurried)
        held = known.scan.collect(0 if hurried or known.scan.blocked_s > 0 else _JOIN_S)
        if held is not None:
            known.scan_fault = held.fault
            members = self._hold_descriptors(sandbox_id, root, members, held)
        elif known.scan.blocked_s > _BLOCKED_S:
            self.end(sandbox_id, _HIDING)
        self._hold_memory(sandbox_id, root, members, hurried=hurried)
        return known.scan_fault

    def _hold_memory(self, sandbox_id: str, root: ProcessRef, members: list[Member], *, hurried: bool) -> None:
        known, now = self._known[sandbox_id], time.monotonic()
        by_inode: dict[int, int] = {}
        for pid in [one.process.pid for one in members]:
            by_inode |= known.descriptors.get(pid, {})
        files = file_bytes(root.pid) + sum(by_inode.values())
        extra = {one.process: tables_and_swap(one.process.pid) for one in members}
        most = files + sum(one.resident_bytes + sum(extra[one.process]) for one in members)
        if most <= self.memory_bytes:
            known.exact.collect(0)  # it would be of before
            return
        if now < known.exact_again_at and not hurried:
            return
        in_full = {one.process: one.resident_bytes + extra[one.process].swapped for one in members}
        if not known.exact.is_under_way:
            known.exact.begin(lambda: exact_sizes(in_full))
        exact = known.exact.collect(_JOIN_S if known.exact.blocked_s == 0 else 0)
        if exact is not None:
            known.exact_again_at = time.monotonic() + exact.took_s * _REST
        elif known.exact.blocked_s <= _BLOCKED_S:
            return
        own = in_full if exact is None else in_full | exact.sizes
        sizes = {one: own[one] + extra[one].tables for one in in_full}
        taken = files + sum(sizes.values())
        if taken > self.memory_bytes:
            kept, over = spared(root, members), taken - self.memory_bytes
            self._kill_largest(sandbox_id, {one: size for one, size in sizes.items() if one not in kept}, known, over)

    def _limit_descriptors(
        self, sandbox_id: str, root: ProcessRef, members: list[Member], *, hurried: bool
    ) -> list[Member]:
        """Begin to look through them, if it is time to; returns who is left of those that have too many."""
        known, now = self._known[sandbox_id], time.monotonic()
        pause_s, rest = (_HURRIED_S, _HURRIED_REST) if hurried else (_DESCRIPTORS_S, _REST)
        if known.scan.is_under_way or now - known.descriptors_at < max(pause_s, known.descriptors_cost_s * rest):
            return members
        if are_too_many(one.process.pid for one in members):
            kept = spared(root, members)
            for process in most_open([one.process for one in members], kept):
                self._kill(sandbox_id, process, "descriptors")
            members = self._still_running(members)
        pids = [one.process.pid for one in members]
        known.scan.begin(lambda: bytes_held(pids, self._memory))
        return members

    def _hold_descriptors(
        self, sandbox_id: str, root: ProcessRef, members: list[Member], held: DescriptorMemory
    ) -> list[Member]:
        """Returns who is left."""
        known = self._known[sandbox_id]
        known.descriptors = held.by_process
        known.descriptors_at = time.monotonic()
        known.descriptors_cost_s = held.took_s
        if held.fault is None:
            known.unanswered = known.unanswered + 1 if held.unanswered else 0
        if known.unanswered >= _MOST_UNANSWERED and held.unanswered:
            self._end_unanswered(sandbox_id, root, members, held.unanswered)
            members = self._still_running(members)
        return members

    def _end_unanswered(self, sandbox_id: str, root: ProcessRef, members: list[Member], unanswered: list[int]) -> None:
        """The first of them is the one that was not found out; of those after it nothing was asked."""
        kept = spared(root, members)
        if any(process.pid == unanswered[0] for process in kept):
            self.end(sandbox_id, _HIDING)
            return
        for process in {one.process for one in members if one.process.pid in unanswered} - kept:
            self._kill(sandbox_id, process, "hidden descriptors")

    def _kill_largest(self, sandbox_id: str, sizes: dict[ProcessRef, int], known: _SandboxState, over: int) -> None:
        held = {one: size + sum(known.descriptors.get(one.pid, {}).values()) for one, size in sizes.items()}
        for process in sorted(held, key=lambda one: held[one], reverse=True):
            if over <= 0:
                return
            if held[process]:
                self._kill(sandbox_id, process, "memory")
                known.descriptors.pop(process.pid, None)
                over -= held[process]
        if over > 0:
            self.end(sandbox_id, _OVER)

    def _kill(self, sandbox_id: str, process: ProcessRef, over: str) -> None:
        process.kill()
        self._ended[process] = time.monotonic() + _DYING_S
        self._killed[sandbox_id, over] += 1

    def _log_kills(self) -> None:
        """In one line for a look: a sandbox may start hundreds of processes a second."""
        for (sandbox_id, over), count in self._killed.items():
            _log.warning("ended what took too much", extra={"sandbox_id": sandbox_id, "of": over, "count": count})
        self._killed.clear()


def _available_bytes() -> int:
    file = os.open("/proc/meminfo", os.O_RDONLY | os.O_CLOEXEC)
    try:
        head = os.read(file, 256)
    finally:
        os.close(file)
    return int(head.partition(b"MemAvailable:")[2].split(None, 1)[0]) * 1024
