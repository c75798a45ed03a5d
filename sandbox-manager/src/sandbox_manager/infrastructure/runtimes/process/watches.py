"""The watches over the sandboxes of a folder, for what the limits of a single process do not hold."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox_manager.infrastructure.runtimes.process import memory_watch, workspace_watch
from sandbox_manager.infrastructure.runtimes.process.freezer import Freezer
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef
from sandbox_manager.infrastructure.runtimes.process.store import Store
from sandbox_manager.infrastructure.runtimes.process.watching import Watch, watching
from sandbox_manager.infrastructure.runtimes.process.workspace_count import Watched

_log = logging.getLogger(__name__)

NOT_HELD = (
    "This user can't limit by cgroups: processors are not divided, and a sandbox may be over its memory for a moment, "
    "or for longer by memory no process holds."
)
"""What a manager says at its start where it applies."""


@dataclass(frozen=True, slots=True)
class Watches:
    """Of one manager over all sandboxes of its stack, whichever manager started them."""

    folder: Path
    stack: str
    store: Store
    limits: Limits
    isolated: bool

    @contextlib.contextmanager
    def running(self) -> Generator[list[Watch]]:
        """For the length of the block; of several managers of a folder one watches."""
        inside = self.limits.inside
        files = workspace_watch.WorkspaceWatch(
            folder=self.folder,
            limit_bytes=inside.disk_bytes,
            limit_files=inside.max_files,
            isolated=self.isolated,
            running=self._workspaces,
            end=self._end,
        )
        with contextlib.ExitStack() as stack:
            stack.callback(files.close)
            lock = self._lock("workspaces")
            started = [stack.enter_context(watching("workspaces", lock, files, workspace_watch.TICK_S))]
            # Without isolation a sandbox's files in memory are the machine's, and its processes anybody's.
            if self.limits.kind == "rlimit" and self.isolated:
                memory = memory_watch.MemoryWatch(inside.memory_bytes, inside.pids, self._roots, self._end)
                lock = self._lock("memory")
                started.append(stack.enter_context(watching("memory", lock, memory, memory_watch.TICK_S)))
            yield started

    def _lock(self, name: str) -> Path:
        return self.folder / f"watch-{name}-{self.stack}.lock"

    def _roots(self) -> Mapping[str, ProcessRef]:
        states = {one.sandbox_id: self.store.state(one.sandbox_id) for one in self.store.identities()}
        return {sandbox_id: state.root for sandbox_id, state in states.items() if state is not None}

    def _workspaces(self) -> Mapping[str, Watched]:
        found: dict[str, Watched] = {}
        for identity in self.store.identities():
            state, session_id = self.store.state(identity.sandbox_id), self.store.session_of(identity)
            if state is not None and state.root.is_alive:
                found[identity.sandbox_id] = Watched(
                    session_id,
                    self.store.workspace(session_id),
                    state.root,
                    self._freezer(identity.sandbox_id, state.root),
                )
        return found

    def _freezer(self, sandbox_id: str, root: ProcessRef) -> Freezer | None:
        """None without cgroups that hold: on a busy machine a shell sees the signals that stop its command, and gives
        it up."""
        if self.limits.kind == "rlimit":
            return None
        freezer = Freezer(self.limits.folders(sandbox_id), root, self.store.live(sandbox_id).hold)
        return freezer if freezer.can_hold else None

    def _end(self, sandbox_id: str, reason: str) -> None:
        state = self.store.state(sandbox_id)
        if state is not None and state.root.is_alive:
            _log.warning("sandbox ended for its limits", extra={"sandbox_id": sandbox_id, "reason": reason})
            with contextlib.suppress(OSError):
                self.store.live(sandbox_id).verdict.write_text(reason)
            state.root.kill()
