"""Holding all processes of a sandbox still, and letting them go on.

With a cgroup the kernel does it in one step. Without one every process is stopped by a signal: whoever is stopped can
start no other, so looking again until two looks in a row find nobody running has them all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, stat_fields

_DEADLINE_S = 5.0
_LOCK_S = 10.0
_HELD = b"held for a look"
_LOOK_S = 0.002
_QUIET_LOOKS = 2
_STILL = frozenset((b"T", b"t", b"Z", b"X"))


@dataclass(frozen=True, slots=True)
class Freezer:
    """Of one sandbox: its cgroups, its outermost process of those that are to be held, and the file whose lock keeps a
    look at it apart from its pauses."""

    folders: list[Path]
    root: ProcessRef
    lock: Path | None = None

    @property
    def frozen(self) -> bool:
        """Whether it is held, or was told to be; not for a look only."""
        try:
            with self._exclusive():
                return self._is_frozen()
        except EngineUnavailableError:
            # Somebody does not let go of it: this is one of many that are asked, and what is done about it fails alone.
            return self._is_frozen()

    def _is_frozen(self) -> bool:
        switch = self._switch()
        if switch is None:
            return _state(self.root.pid) in (b"T", b"t")
        with contextlib.suppress(OSError):
            return switch.read_text().strip() in ("FROZEN", "FREEZING", "1")
        return False

    def freeze(self) -> None:
        """Hold all of them; on failure none is held. Raises `EngineUnavailableError`."""
        with self._exclusive():
            self._freeze()

    def _freeze(self) -> None:
        try:
            switch = self._switch()
            done = self._stop_all() if switch is None else self._set_frozen(switch, frozen=True)
        except OSError as error:
            self._thaw()
            raise EngineUnavailableError(f"The sandbox could not be paused: {error.strerror}.") from error
        if not done:
            self._thaw()
            raise EngineUnavailableError("The sandbox could not be paused; it is tried again.")

    def thaw(self) -> None:
        """Let them go on. Raises `EngineUnavailableError`."""
        with self._exclusive():
            self._thaw()

    @property
    def can_hold(self) -> bool:
        """Whether there is a cgroup to hold them by; on v1 its controller may be missing."""
        return self._switch() is not None

    @contextlib.contextmanager
    def held(self, within_s: float) -> Generator[bool]:
        """Hold all by their cgroup for the length of the block, unless they are already; answers whether that was
        done in time, or can be done at all.

        Raises `OSError`, `EngineUnavailableError`.
        """
        with self._exclusive() as lock:
            if self._is_frozen():
                yield True
                return
            switch = self._switch()
            if switch is None:
                yield False
                return
            if lock is not None:
                os.pwrite(lock, _HELD, 0)
            try:
                yield self._set_frozen(switch, frozen=True, within_s=within_s)
            finally:
                self._thaw()
                if lock is not None:
                    os.ftruncate(lock, 0)

    @contextlib.contextmanager
    def _exclusive(self) -> Generator[int | None]:
        """Nobody else holds it or lets it go on meanwhile, and what a look that never ended left held goes on first.

        Raises `EngineUnavailableError`, also where somebody else takes too long.
        """
        if self.lock is None:
            yield None
            return
        try:
            file = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # the folder of one that is being removed
            yield None
            return
        try:
            _lock_file(file)
            if os.fstat(file).st_size:
                self._thaw()
                os.ftruncate(file, 0)
            yield file
        finally:
            os.close(file)

    def _thaw(self) -> None:
        try:
            switch = self._switch()
            if switch is None:
                for pid in reversed(_tree(self.root)):
                    _send(pid, signal.SIGCONT)
            elif not self._set_frozen(switch, frozen=False):
                raise EngineUnavailableError("The sandbox could not be resumed; it is tried again.")
        except OSError as error:
            raise EngineUnavailableError(f"The sandbox could not be resumed: {error.strerror}.") from error

    def _switch(self) -> Path | None:
        places = (folder / name for folder in self.folders for name in ("freezer.state", "cgroup.freeze"))
        return next((place for place in places if place.exists()), None)

    def _set_frozen(self, switch: Path, *, frozen: bool, within_s: float = _DEADLINE_S) -> bool:
        is_v1 = switch.name == "freezer.state"
        wanted = ("FROZEN" if frozen else "THAWED") if is_v1 else str(int(frozen))
        until = time.monotonic() + within_s
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


def _lock_file(file: int) -> None:
    until = time.monotonic() + _LOCK_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise EngineUnavailableError("Another process kept the sandbox locked for too long.") from None
            time.sleep(_LOOK_S)
        else:
            return


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
