"""One start of a process sandbox, up to the point where its first process runs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox_manager.domain.identifiers import InvalidIdentifierError, parse_generation
from sandbox_manager.domain.ports import SandboxSpec
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.infrastructure.runtimes.process import isolation, network
from sandbox_manager.infrastructure.runtimes.process.confinement import Confinement
from sandbox_manager.infrastructure.runtimes.process.endpoint import listening_socket
from sandbox_manager.infrastructure.runtimes.process.etc import write_etc
from sandbox_manager.infrastructure.runtimes.process.limits import Limits
from sandbox_manager.infrastructure.runtimes.process.logs import Log, logging_to
from sandbox_manager.infrastructure.runtimes.process.namespaces import network_namespace
from sandbox_manager.infrastructure.runtimes.process.options import ProcessOptions
from sandbox_manager.infrastructure.runtimes.process.processes import ProcessRef, reference
from sandbox_manager.infrastructure.runtimes.process.slirp import unprivileged
from sandbox_manager.infrastructure.runtimes.process.spawn import DeadlineError, Pipe, spawn
from sandbox_manager.infrastructure.runtimes.process.store import Live, State, Store

MARK = "AGENT_SANDBOX_MARK"
_SETUP_S = 15.0
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def mark_start(identity: Identity, stack: str) -> str:
    """The start of the mark, whoever the sandbox was given to since."""
    return f"{stack}/{identity.sandbox_id}/"


def mark_of(identity: Identity, stack: str) -> str:
    """The mark on all outside processes of a sandbox: the identity it was started with."""
    return f"{mark_start(identity, stack)}{identity.session_id}/{identity.user_id}/{identity.generation}"


def marked_identity(mark: str, stack: str) -> Identity | None:
    """The identity in a mark; None if it is another stack's, or holds none."""
    parts = mark.split("/")
    if len(parts) != 5 or parts[0] != stack:
        return None
    try:
        return Identity(
            sandbox_id=parts[1], session_id=parts[2], user_id=parts[3], generation=parse_generation(parts[4])
        )
    except InvalidIdentifierError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One start; blocking, with deadlines of its own. The store and the mark find everything it made."""

    options: ProcessOptions
    limits: Limits
    store: Store
    spec: SandboxSpec
    rules: str | None
    isolated: bool
    confinement: Confinement

    @property
    def has_network(self) -> bool:
        """Whether it has a network; rules of what it may reach exist exactly then."""
        return self.rules is not None

    def start_processes(self) -> tuple[Live, ProcessRef, Log]:
        """Start the processes. Returns the folder, the process outside that waits for them, and the log.

        Raises `DeadlineError`, `OSError`.
        """
        live, uid = self.store.make(self.spec.identity, self.spec.configuration.size)
        name = self.spec.identity.sandbox_id
        groups = isolation.join(self.limits.group(name))
        prefix = [*groups, *self.limits.scope(name), *self.limits.prlimit()]
        with listening_socket(live.endpoint) as listener, logging_to(live.log, groups, self._mark) as (log, output):
            files = {1: output, 2: output, isolation.ENDPOINT_FD: listener.fileno()}
            state = self._isolated(live, uid, prefix, files) if self.isolated else self._unconfined(live, prefix, files)
            self.store.remember(name, replace(state, log=log.reader))
        return live, state.outer, log

    @property
    def _kernel_python(self) -> Path | None:
        python = self.options.kernel_python
        return python if python is not None and python.exists() else None

    @property
    def _mark(self) -> dict[str, str]:
        return {"PATH": _PATH, MARK: mark_of(self.spec.identity, self.options.stack)}

    def _isolated(self, live: Live, uid: int | None, prefix: list[str], files: dict[int, int]) -> State:
        resolver = network.RESOLVER if self.has_network else None
        sources = isolation.Sources(stage=uid is not None)
        shell = isolation.Shell(
            python=self.options.python,
            kernel_python=self._kernel_python,
            python_path=self.options.python_path,
            workspace=self.store.workspace(self.spec.identity.session_id),
            etc=write_etc(live.etc, resolver=resolver),
            environment=self._environment(),
            has_network=self.has_network,
            has_filter=bool(self.confinement.seccomp),
        )
        inner = isolation.inner_arguments(shell, sources)
        gate = isolation.netns(self.rules) if self.rules is not None else []
        command = [*prefix, *isolation.stage(sources), *isolation.as_user(uid), *gate]
        command += ["bwrap", "--args", str(isolation.ARGS_FD), "--", *self.limits.prlimit_inside()]
        command += isolation.first(self.options.python, has_network=self.has_network)
        command += [str(self.options.python), *self.options.command]
        with Pipe() as sync, Pipe() as go, Pipe() as arguments, Pipe() as info, Pipe() as seccomp:
            arguments.write(b"".join(one.encode() + b"\0" for one in inner))
            arguments.close_writer()
            seccomp.write(self.confinement.seccomp)
            seccomp.close_writer()
            files = files | {
                isolation.SYNC_FD: sync.writer,
                isolation.GO_FD: go.reader,
                isolation.ARGS_FD: arguments.reader,
                isolation.INFO_FD: info.writer,
                isolation.SECCOMP_FD: seccomp.reader,
            }
            if not self.has_network:
                del files[isolation.SYNC_FD], files[isolation.GO_FD]
            if not self.confinement.seccomp:
                del files[isolation.SECCOMP_FD]
            outer = _running(spawn(command, self._mark, files=files))
            for pipe in (sync, info):
                pipe.close_writer()
            attached = self._attach(sync, go) if self.has_network else None
            written = json.loads(info.read_until(b"}", _SETUP_S))
        first = reference(int(written["child-pid"]))
        if first is None:
            raise DeadlineError("its first process ended at once")
        # Looked up now, before anything of the agent's has run; later it is only compared.
        return State(first=first, outer=outer, network=attached, network_namespace=network_namespace(first))

    def _attach(self, sync: Pipe, go: Pipe) -> ProcessRef:
        pid = int(sync.read_until(b"\n", _SETUP_S))
        attached = network.attach(
            pid, unprivileged(), self._mark, _SETUP_S, life=sync.reader, options=self.confinement.network_options
        )
        go.write(b"go\n")
        return attached

    def _unconfined(self, live: Live, prefix: list[str], files: dict[int, int]) -> State:
        home = str(live.home)
        live.home.mkdir(mode=0o700)
        environment = self._environment()
        environment |= self._mark | {
            "WORKSPACE": str(self.store.workspace(self.spec.identity.session_id)),
            "HOME": home,
            "TMPDIR": home,
            # The mark is found by looking into it.
            "SANDBOX_UNTRACEABLE": "false",
        }
        command = [*prefix, str(self.options.python), *self.options.command]
        outer = _running(spawn(command, environment, files=files))
        return State(first=None, outer=outer, network=None)

    def _environment(self) -> dict[str, str]:
        kernels = {"SANDBOX_KERNEL_PYTHON": str(self._kernel_python)} if self._kernel_python is not None else {}
        return {
            **kernels,
            "PATH": f"{_PATH}:{isolation.PROGRAMS}",
            "HOME": "/home/agent",
            "USER": "agent",
            "LOGNAME": "agent",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",
            "PYTHONPATH": ":".join(str(one) for one in self.options.python_path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            # As in the image: an agent's packages go into its own home.
            "PIP_BREAK_SYSTEM_PACKAGES": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **self.options.inside.environment(self.spec, f"fd:{isolation.ENDPOINT_FD}"),
        }


def _running(pid: int) -> ProcessRef:
    process = reference(pid)
    if process is None:
        raise DeadlineError("its outer process ended at once")
    return process
