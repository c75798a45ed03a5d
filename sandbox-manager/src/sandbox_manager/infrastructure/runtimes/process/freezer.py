"""Freeze all processes of a sandbox, and let them go on.

With a cgroup the kernel does it in one step. Without one every process is stopped by a signal: a stopped process can
start no other, so all are stopped once two looks in a row find none running.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, stat_fields

_DEADLINE_S = 5.0
_LOOK_S = 0.002
_QUIET_LOOKS = 2
_STILL = frozenset((b"T", b"t", b"Z", b"X"))


@dataclass(frozen=True, slots=True)
class Freezer:
    """Freezes one sandbox: its cgroups, and its outermost process of those that are to be held."""

    folders: list[Path]
    root: ProcessRef

    @property
    def frozen(self) -> bool:
        """Whether it is frozen, or was told to freeze."""
        switch = self._switch()
        if switch is None:
            return _state(self.root.pid) in (b"T", b"t")
        with contextlib.suppress(OSError):
            return switch.read_text().strip() in ("FROZEN", "FREEZING", "1")
        return False

    def freeze(self) -> None:
        """Freeze all processes; on failure none is frozen. Raises `EngineUnavailableError`."""
        try:
            switch = self._switch()
            done = self._stop_all() if switch is None else self._set_frozen(switch, frozen=True)
        except OSError as error:
            self.thaw()
            raise EngineUnavailableError(f"The sandbox could not be paused: {error.strerror}.") from error
        if not done:
            self.thaw()
            raise EngineUnavailableError("The sandbox could not be paused; it is retried.")

    def thaw(self) -> None:
        """Let them go on. Raises `EngineUnavailableError`."""
        try:
            switch = self._switch()
            if switch is None:
                for pid in reversed(_tree(self.root)):
                    _send(pid, signal.SIGCONT)
            elif not self._set_frozen(switch, frozen=False):
                raise EngineUnavailableError("The sandbox could not be resumed; it is retried.")
        except OSError as error:
            raise EngineUnavailableError(f"The sandbox could not be resumed: {error.strerror}.") from error

    def _switch(self) -> Path | None:
        places = (folder / name for folder in self.folders for name in ("freezer.state", "cgroup.freeze"))
        return next((place for place in places if place.exists()), None)

    def _set_frozen(self, switch: Path, *, frozen: bool) -> bool:
        is_v1 = switch.name == "freezer.state"
        wanted = ("FROZEN" if frozen else "THAWED") if is_v1 else str(int(frozen))
        until = time.monotonic() + _DEADLINE_S
        while True:
            switch.write_text(wanted)
            if is_v1:
                there = switch.read_text().strip() == wanted
            else:
                there = f"frozen {wanted}" in (switch.parent / "cgroup.events").read_text()
            if there:
                return True
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_S)

    def _stop_all(self) -> bool:
        until = time.monotonic() + _DEADLINE_S
        quiet = 0
        while quiet < _QUIET_LOOKS:
            running = [pid for pid in _tree(self.root) if _state(pid) not in _STILL]
            for pid in running:
                _send(pid, signal.SIGSTOP)
            quiet = 0 if running else quiet + 1
            if time.monotonic() > until:
                return False
        return True


def _tree(root: ProcessRef) -> list[int]:
    """The process and all its descendants; an orphan inside belongs to the first process of its namespace."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                children.setdefault(int(stat_fields(int(name))[1]), []).append(int(name))
    found = [root.pid] if root.is_alive else []
    for pid in found:
        found += children.get(pid, [])
    return found


def _state(pid: int) -> bytes:
    try:
        return stat_fields(pid)[0]
    except (OSError, IndexError):
        return b"X"


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
