"""The process runtime."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from dataclasses import replace
from pathlib import Path

from sandbox_manager.application.watched_start import phase_reached
from sandbox_manager.domain.configuration import Configuration, Size
from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.domain.ports import Found, Report, SandboxSpec, Usage
from sandbox_manager.domain.sandbox import Identity, Started
from sandbox_manager.infrastructure.runtimes.process import endpoint as socket_file
from sandbox_manager.infrastructure.runtimes.process import first_process, monitoring, network
from sandbox_manager.infrastructure.runtimes.process.archives import ProcessArchives
from sandbox_manager.infrastructure.runtimes.process.confinement import Confinement, confinement_here
from sandbox_manager.infrastructure.runtimes.process.disk_watch import TICK_S, DiskWatch, Watched
from sandbox_manager.infrastructure.runtimes.process.freezer import Freezer
from sandbox_manager.infrastructure.runtimes.process.launch import MARK, Launch, mark_start, marked_identity
from sandbox_manager.infrastructure.runtimes.process.limits import Limits, limits_here
from sandbox_manager.infrastructure.runtimes.process.logs import Log
from sandbox_manager.infrastructure.runtimes.process.options import ProcessOptions
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, kill_marked, marked, reap
from sandbox_manager.infrastructure.runtimes.process.spawn import DeadlineError
from sandbox_manager.infrastructure.runtimes.process.store import Live, State, Store
from sandbox_manager.infrastructure.runtimes.process.terminals import bound_terminals
from sandbox_manager.infrastructure.runtimes.process.watching import Watch, watching
from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile, desktop_of, fingerprint
from sandbox_manager.infrastructure.runtimes.threads import Pools, pools

_log = logging.getLogger(__name__)

_LOOK_S = 0.02
_KILL_S = 5.0


class ProcessRuntime:
    """Sandboxes in bubblewrap. They survive the manager, and are found by their files on disk and a mark on their
    processes."""

    name = "process"

    def __init__(
        self,
        options: ProcessOptions,
        limits: Limits,
        pools: Pools,
        *,
        isolated: bool,
        confinement: Confinement,
        has_network: bool,
    ) -> None:
        self._options = options
        self._limits = limits
        self._threads = pools.calls
        self._waiting = pools.waiting
        self._isolated = isolated
        self._confinement = confinement
        self._store = Store(options.folder, options.stack)
        self._has_network = has_network
        self._rules = network.NetworkRules(options.blocked_subnets, options.host_fib_trie)
        self._place = ""
        self._watch: Watch | None = None
        self.archives = ProcessArchives(options, self._store, pools, isolated=isolated)

    @contextlib.contextmanager
    def watched(self) -> Generator[None]:
        """Count the workspaces of all sandboxes of the stack for the length of the block."""
        folder, inside = self._options.folder, self._limits.inside
        disk = DiskWatch(folder, inside.disk_bytes, inside.max_files, self._workspaces, self._end)
        lock = folder / f"watch-workspaces-{self._options.stack}.lock"
        with contextlib.closing(disk), watching(lock, disk.look, TICK_S) as self._watch:
            yield

    def _workspaces(self) -> dict[str, Watched]:
        found: dict[str, Watched] = {}
        for identity in self._store.identities():
            state, session_id = self._store.state(identity.sandbox_id), self._store.session_of(identity)
            if state is not None and state.root.is_alive:
                workspace, size = self._store.workspace(session_id), self._store.size(identity.sandbox_id)
                limit_bytes = None if size is None else self._profile(size).disk_bytes
                found[identity.sandbox_id] = Watched(session_id, workspace, state.root, limit_bytes)
        return found

    def _end(self, sandbox_id: str, reason: str) -> None:
        state = self._store.state(sandbox_id)
        if state is not None and state.root.is_alive:
            _log.warning("sandbox ended for its limits", extra={"sandbox_id": sandbox_id, "reason": reason})
            with contextlib.suppress(OSError):
                self._store.live(sandbox_id).verdict.write_text(reason)
            state.root.kill()

    async def place(self) -> str:
        if not self._place:
            self._place = f"process:{await self._threads.run_call(self._store.place)}"
        return self._place

    async def free_unused(self) -> None:
        """Give back the resources of managers that were cut off."""
        await self._threads.run_call(self._store.free_unused_uids)

    async def check(self) -> None:
        if not self._options.python.exists():
            raise EngineUnavailableError(
                f"The Python of sandboxes, {self._options.python}, does not exist: ./run.sh local makes it."
            )
        # Without the watch a sandbox may fill the disk: none is started here, and another manager is tried.
        if self._watch is not None and (trouble := self._watch.trouble()) is not None:
            raise EngineUnavailableError(trouble)

    async def start_sandbox(self, spec: SandboxSpec) -> Started:
        await self.check()
        try:
            live, outer, log = await self._threads.run_call(lambda: self._launch(spec))
            phase_reached("started")
        except DeadlineError as error:
            raise StartFailedError(f"The sandbox could not be started: {error}.", retryable=True) from error
        except OSError as error:
            reason = f"The sandbox could not be started: {error.strerror or error}."
            raise StartFailedError(reason, retryable=True) from error
        line = await self._ready_line(live, outer, log)
        await self._threads.run_call(lambda: self._bound_terminals(spec.identity.sandbox_id))
        phase_reached("ready")
        return Started(
            endpoint=f"unix:{live.endpoint / socket_file.NAME}",
            has_desktop=desktop_of(line),
            has_network=self._has_network or not self._isolated,
        )

    def _launch(self, spec: SandboxSpec) -> tuple[Live, ProcessRef, Log]:
        inside = self._options.inside.of(spec.configuration)
        launch = Launch(
            options=replace(self._options, inside=inside),
            limits=replace(self._limits, inside=inside),
            store=self._store,
            spec=spec,
            rules=self._rules.wanted() if self._has_network else None,
            isolated=self._isolated,
            confinement=self._confinement,
        )
        return launch.start_processes()

    def _bound_terminals(self, sandbox_id: str) -> None:
        """Bound the terminals before anything of an agent runs in it; a sandbox that has ended meanwhile is a failed
        start."""
        state = self._store.state(sandbox_id)
        if state is not None and state.first is not None:
            reason = bound_terminals(state.first)
            if not state.is_alive:
                ended = self._why_ended(self._store.live(sandbox_id), "before it was ready")
                raise StartFailedError(ended, retryable=True)
            if reason is not None:
                raise StartFailedError(f"The sandbox's terminals could not be bounded: {reason}", retryable=True)

    async def _ready_line(self, live: Live, outer: ProcessRef, log: Log) -> str:
        while True:
            alive = outer.is_alive
            if (line := log.ready_line()) is not None:
                return line
            if not alive:
                output = await self._threads.run_call(log.log_tail)
                _log.warning("sandbox process ended early", extra={"folder": log.path.parent.name, "output": output})
                raise StartFailedError(self._why_ended(live, "before it was ready"), retryable=True)
            await asyncio.sleep(_LOOK_S)

    async def keep_alive(self, identity: Identity, endpoint: str, token: str) -> Report:
        endpoint_socket = self._store.live(identity.sandbox_id).endpoint / socket_file.NAME
        return await monitoring.keep_alive(identity.sandbox_id, endpoint_socket, token)

    async def usage(self, identity: Identity) -> Usage | None:
        return await self._threads.run_call(lambda: self._usage(identity))

    def _usage(self, identity: Identity) -> Usage | None:
        state = self._store.state(identity.sandbox_id)
        if state is None or not state.is_alive:
            return None
        size = self._store.size(identity.sandbox_id)
        return monitoring.usage(self._limits, identity.sandbox_id, self._profile(size).memory_bytes)

    def _profile(self, size: Size | None) -> SandboxProfile:
        return self._options.inside.of(Configuration(size=size))

    def endings(self) -> AsyncGenerator[str]:
        return monitoring.endings(self._running_ids)

    def _running_ids(self) -> set[str]:
        states = {one.sandbox_id: self._store.state(one.sandbox_id) for one in self._store.identities()}
        return {sandbox_id for sandbox_id, state in states.items() if state is not None and state.is_alive}

    async def found(self) -> list[Found]:
        return await self._threads.run_call(self._find_all)

    def _find_all(self) -> list[Found]:
        # Marks first: a process found here had its folder when it was started.
        marks = marked(MARK)
        found: dict[str, Found] = {}
        connected: dict[ProcessRef, int | None] = {}
        for identity in self._store.identities():
            state = self._store.state(identity.sandbox_id)
            for process in state.processes if state else []:
                reap(process.pid)
            running = state is not None and state.is_alive
            if running and state and state.first and state.network:
                connected[state.first] = state.network_namespace
            found[identity.sandbox_id] = Found(
                identity=identity,
                running=running,
                paused=state is not None and running and self._freezer(identity, state).frozen,
                reason=None if running else self._why_ended(self._store.live(identity.sandbox_id)),
            )
        self._rules.renew(connected)
        for mark in marks:
            identity = marked_identity(mark, self._options.stack)
            if identity is not None and not self._store.is_live(identity.sandbox_id):
                found[identity.sandbox_id] = Found(identity=identity, running=False, reason="Its folder is missing.")
        self._store.carry_on()
        return list(found.values())

    def _why_ended(self, live: Live, when: str = "") -> str:
        """The reason for its end: the verdict of the disk watch, if that ended it."""
        with contextlib.suppress(OSError):
            return live.verdict.read_text()
        return f"The sandbox's processes ended {when}".rstrip() + "."

    async def pause(self, identity: Identity) -> None:
        await self._threads.run_call(lambda: self._running(identity).freeze())

    async def resume(self, identity: Identity) -> None:
        await self._threads.run_call(lambda: self._running(identity).thaw())

    def _running(self, identity: Identity) -> Freezer:
        state = self._store.state(identity.sandbox_id)
        if state is None or not state.is_alive:
            raise EngineUnavailableError("The sandbox's processes have ended.")
        return self._freezer(identity, state)

    def _freezer(self, identity: Identity, state: State) -> Freezer:
        return Freezer(self._limits.folders(identity.sandbox_id), state.root)

    async def assign_workspace(self, identity: Identity) -> None:
        await self._threads.run_call(lambda: self._assign_workspace(identity))

    def _assign_workspace(self, identity: Identity) -> None:
        try:
            self._store.assign_workspace(identity)
        except OSError as error:
            reason = f"The sandbox's workspace could not be assigned: {error.strerror}."
            raise EngineUnavailableError(reason) from error

    async def image_trouble(self, image: str) -> str | None:
        return (
            f"Computers of this server are processes (SANDBOX_RUNTIME), which have no images: {image} can't be used. "
            "Use the default image."
        )

    async def fingerprint(self) -> str:
        return await self._threads.run_call(self._fingerprint)

    def _fingerprint(self) -> str:
        files = [file for folder in self._options.python_path for file in folder.rglob("*.py")]
        changed = [file.stat().st_mtime_ns for file in (*files, Path(first_process.__file__))]
        return fingerprint(self._options, self._limits.kind, self._confinement, max(changed, default=0))

    async def remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        await self._waiting.run_call(lambda: self._remove(identity, keep_workspace=keep_workspace))

    def _remove(self, identity: Identity, *, keep_workspace: bool) -> None:
        state = self._store.state(identity.sandbox_id)
        for process in state.processes if state else []:
            process.kill()
        if state is not None:
            with contextlib.suppress(EngineUnavailableError):  # a signal reaches frozen processes only after this
                self._freezer(identity, state).thaw()
        if not kill_marked(MARK, mark_start(identity, self._options.stack), _KILL_S):
            raise EngineUnavailableError("Processes of a sandbox could not be ended; it is retried.")
        for process in state.processes if state else []:
            reap(process.pid)
        self._limits.remove_group(identity.sandbox_id)
        if keep_workspace and not self._store.is_live(identity.sandbox_id):
            return  # all it had was a mark on a process, upon which no file is removed
        try:
            self._store.forget(identity, keep_workspace=keep_workspace)
        except OSError as error:
            reason = f"The sandbox's folder could not be removed: {error.strerror}."
            raise EngineUnavailableError(reason) from error


@contextlib.asynccontextmanager
async def process_runtime(options: ProcessOptions) -> AsyncGenerator[ProcessRuntime]:
    """Raises `EngineUnavailableError` when this machine can't isolate and that was not waived."""
    async with pools("process-runtime", 8) as own:
        pool = own.calls
        trouble = await pool.run_call(_isolation_trouble)
        if trouble is not None and not options.unsafe:
            raise EngineUnavailableError(
                f"{trouble} Sandboxes as processes need it; install it, use Docker, or give up all isolation with "
                "SANDBOX_PROCESS_UNSAFE=true."
            )
        limits = await pool.run_call(lambda: limits_here(options.inside, isolated=trouble is None))
        has_network = await pool.run_call(network.available)
        confinement = Confinement()
        if trouble is None:
            confinement = await pool.run_call(
                lambda: confinement_here(options.seccomp_profile, has_network=has_network)
            )
        runtime = ProcessRuntime(
            options, limits, own, isolated=trouble is None, confinement=confinement, has_network=has_network
        )
        await runtime.free_unused()
        fields = {"limits": limits.kind, "bounds": limits.bounds}
        fields |= {"network": has_network, "own_uids": os.geteuid() == 0}
        fields |= {"seccomp": bool(confinement.seccomp), "network_options": " ".join(confinement.network_options)}
        _log.info("process runtime", extra={**fields, "isolated": trouble is None})
        if trouble is not None:
            _log.warning("sandboxes are not isolated", extra={"reason": trouble})
        with runtime.watched():
            yield runtime


def _isolation_trouble() -> str | None:
    for program in ("bwrap", "setpriv", "prlimit"):
        if shutil.which(program) is None:
            return f"{program} is not installed."
    command = ["bwrap", "--unshare-all", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"]
    command += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "true"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run here ({error})."
    return None if done.returncode == 0 else f"bubblewrap can't make namespaces here ({done.stderr.strip()[-200:]})."
