"""The sum of a sandbox's memory and of its tasks, held where no cgroup does it.

Rlimits hold for each process alone. So all of a sandbox is added up: about once a second, and at once when the machine
has noticeably less memory than at the last look. Whoever takes most is ended first, until the rest is within the limit.
What answers at the door is spared, and what lies in files in memory has no process: where these alone are too much, the
sandbox ends.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox_manager.infrastructure.runtimes.process.memory import (
    Member,
    all_processes,
    descriptor_bytes,
    file_bytes,
    memory_device,
    own_bytes,
    trees,
)
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef

_log = logging.getLogger(__name__)

TICK_S = 0.05
_LOOK_S = 1.0
_DESCRIPTORS_S = 5.0
_HURRIED_S = 0.25
_GULP_BYTES = 48 * 1024 * 1024
_DYING_S = 2.0
_REST = 20
"""An exact look is followed by so many times its length without one, unless memory goes."""
_OVER = "It took up more memory than it may."


@dataclass(slots=True)
class _Known:
    """What stays of one sandbox between looks."""

    descriptors: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    descriptors_at: float = float("-inf")
    exact_again_at: float = float("-inf")


@dataclass(slots=True)
class MemoryWatch:
    """`running` names the sandboxes with their outermost processes, `end` ends one and tells why."""

    memory_bytes: int
    tasks: int
    running: Callable[[], Mapping[str, ProcessRef]]
    end: Callable[[str, str], None]
    _sandboxes: Mapping[str, ProcessRef] = field(default_factory=dict[str, ProcessRef])
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known])
    _ended: dict[ProcessRef, float] = field(default_factory=dict[ProcessRef, float])
    _looked_at: float = float("-inf")
    _available_bytes: int = 0
    _device: int = field(default_factory=memory_device)

    def __call__(self) -> None:
        """Look, if it is time to."""
        now, available = time.monotonic(), _available_bytes()
        is_time = now - self._looked_at >= _LOOK_S
        hurried = bool(self._sandboxes) and self._available_bytes - available > _GULP_BYTES
        self._available_bytes = max(self._available_bytes, available)
        if not is_time and not hurried:
            return
        if is_time:
            self._sandboxes = self.running()
            self._known = {one: self._known.get(one, _Known()) for one in self._sandboxes}
            self._ended = {one: until for one, until in self._ended.items() if until > now}
            self._looked_at = now
        self._available_bytes = available
        if self._sandboxes:
            found = trees(all_processes(), self._sandboxes.values())
            for sandbox_id, root in self._sandboxes.items():
                members = [one for one in found[root] if one.process not in self._ended]
                if members:
                    self._hold_tasks(sandbox_id, root, members)
                    self._hold_memory(sandbox_id, root, members, hurried=hurried)

    def _hold_tasks(self, sandbox_id: str, root: ProcessRef, members: list[Member]) -> None:
        over = sum(one.tasks for one in members) - self.tasks
        spared = _spared(root, members)
        for member in sorted(members, key=lambda one: (one.tasks, one.process.started), reverse=True):
            if over <= 0:
                return
            if member.process not in spared:
                self._kill(sandbox_id, member.process, "tasks")
                over -= member.tasks

    def _hold_memory(self, sandbox_id: str, root: ProcessRef, members: list[Member], *, hurried: bool) -> None:
        known, now = self._known[sandbox_id], time.monotonic()
        if now - known.descriptors_at >= (_HURRIED_S if hurried else _DESCRIPTORS_S):
            known.descriptors = {one.process.pid: descriptor_bytes(one.process.pid, self._device) for one in members}
            known.descriptors_at = now
        by_inode: dict[int, int] = {}
        for pid in [one.process.pid for one in members]:
            by_inode |= known.descriptors.get(pid, {})
        files = file_bytes(root.pid) + sum(by_inode.values())
        most = files + sum(one.resident_bytes for one in members)
        if most <= self.memory_bytes or (now < known.exact_again_at and not hurried):
            return
        sizes = {one.process: _exact(one) for one in members}
        known.exact_again_at = time.monotonic() + (time.monotonic() - now) * _REST
        over = files + sum(sizes.values()) - self.memory_bytes
        if over > 0:
            spared = _spared(root, members)
            self._free(sandbox_id, {one: size for one, size in sizes.items() if one not in spared}, known, over)

    def _free(self, sandbox_id: str, sizes: dict[ProcessRef, int], known: _Known, over: int) -> None:
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
        _log.warning("ended what took too much", extra={"sandbox_id": sandbox_id, "pid": process.pid, "of": over})


def _spared(root: ProcessRef, members: list[Member]) -> set[ProcessRef]:
    """The outermost process, and its first child, which is the tool API; orphans that come to it later are younger."""
    children = [one.process for one in members if one.parent == root.pid]
    return {root, min(children, key=lambda one: one.started, default=root)}


def _exact(member: Member) -> int:
    own = own_bytes(member.process.pid)
    return member.resident_bytes if own is None else own


def _available_bytes() -> int:
    file = os.open("/proc/meminfo", os.O_RDONLY | os.O_CLOEXEC)
    try:
        head = os.read(file, 256)
    finally:
        os.close(file)
    return int(head.partition(b"MemAvailable:")[2].split(None, 1)[0]) * 1024
