"""A runtime with the means to look at it and to hurt it from outside; one lab a runtime."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import tempfile
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path
from typing import Protocol

import docker

from sandbox_manager.bootstrap.assembly import Runtime
from sandbox_manager.domain.sandbox import Identity, Started
from sandbox_manager.infrastructure.runtimes.docker.runtime import docker_runtime
from sandbox_manager.infrastructure.runtimes.process.launch import MARK, mark_of
from sandbox_manager.infrastructure.runtimes.process.processes import marked
from sandbox_manager.infrastructure.runtimes.process.runtime import process_runtime
from sandbox_manager.infrastructure.runtimes.process.store import Store
from sandbox_manager.infrastructure.runtimes.sandbox_profile import SandboxProfile
from support.engine import of_stack, remove_stack
from support.engine_filters import engine_filter
from support.memory_manager.runtime import FakeRuntime
from support.sandboxes import docker_options, process_options, run_inside


class Lab(Protocol):
    @property
    def runtime(self) -> Runtime: ...

    async def write_note(self, identity: Identity, started: Started) -> None:
        """Leave something in the workspace."""
        ...

    async def has_note(self, identity: Identity, started: Started) -> bool: ...

    async def write(self, identity: Identity, started: Started, text: str) -> None:
        """Make this the only thing the workspace says."""
        ...

    async def read(self, identity: Identity, started: Started) -> str:
        """What it says."""
        ...

    async def answers(self, identity: Identity, started: Started) -> bool:
        """Whether the endpoint is open."""
        ...

    def kill(self, identity: Identity) -> None:
        """End what runs behind the runtime's back."""
        ...

    def left(self, identity: Identity) -> list[str]:
        """What is on the machine for a sandbox, its workspace included."""
        ...


class FakeLab:
    def __init__(self) -> None:
        self.runtime = FakeRuntime()
        self._notes: set[str] = set()

    async def write_note(self, identity: Identity, started: Started) -> None:
        self._notes.add(identity.session_id)

    async def has_note(self, identity: Identity, started: Started) -> bool:
        return identity.session_id in self._notes & self.runtime.workspaces

    async def write(self, identity: Identity, started: Started, text: str) -> None:
        self.runtime.archives.files[identity.session_id] = text

    async def read(self, identity: Identity, started: Started) -> str:
        return self.runtime.archives.files.get(identity.session_id, "")

    async def answers(self, identity: Identity, started: Started) -> bool:
        return identity.sandbox_id in started.endpoint and self.runtime.things[identity.sandbox_id].running

    def kill(self, identity: Identity) -> None:
        self.runtime.kill(identity.sandbox_id)

    def left(self, identity: Identity) -> list[str]:
        return [name for name in self.runtime.things if name == identity.sandbox_id] + [
            name for name in [*self.runtime.workspaces, *self.runtime.archives.files] if name == identity.session_id
        ]


class _EndpointLab:
    async def write_note(self, identity: Identity, started: Started) -> None:
        assert "exit=0" in await run_inside(started, identity, "echo kept > /workspace/note")

    async def has_note(self, identity: Identity, started: Started) -> bool:
        return "kept" in await run_inside(started, identity, "cat /workspace/note")

    async def write(self, identity: Identity, started: Started, text: str) -> None:
        assert "exit=0" in await run_inside(started, identity, f"rm -rf /workspace/*; echo {text} > /workspace/said")

    async def read(self, identity: Identity, started: Started) -> str:
        look = "cat /workspace/*; touch /workspace/mine; stat -c %U /workspace/said"
        told = await run_inside(started, identity, look)
        assert "agent" in told
        return told.split()[0]

    async def answers(self, identity: Identity, started: Started) -> bool:
        return "exit=0" in await run_inside(started, identity, "true")


class ProcessLab(_EndpointLab):
    def __init__(self, runtime: Runtime, folder: Path, stack: str) -> None:
        self.runtime = runtime
        self.folder = folder
        self._store = Store(folder, stack)
        self._stack = stack

    def kill(self, identity: Identity) -> None:
        state = self._store.state(identity.sandbox_id)
        assert state is not None
        os.kill(state.root.pid, signal.SIGKILL)

    def left(self, identity: Identity) -> list[str]:
        paths = [self._store.live(identity.sandbox_id).folder, self._store.workspace(identity.session_id)]
        paths.append(self._store.archives(identity.session_id))
        paths += Path("/sys/fs/cgroup").glob(f"**/agent-sandboxes/{identity.sandbox_id}")
        processes = marked(MARK).get(mark_of(identity, self._stack), [])
        return [str(one) for one in paths if one.exists()] + [f"process {one.pid}" for one in processes]


class DockerLab(_EndpointLab):
    def __init__(self, runtime: Runtime, stack: str) -> None:
        self.runtime = runtime
        self.stack = stack

    def kill(self, identity: Identity) -> None:
        with closing(docker.from_env()) as client:
            client.containers.get(f"{self.stack}-{identity.sandbox_id}").kill()

    def left(self, identity: Identity) -> list[str]:
        found = of_stack(self.stack)
        of_sandbox = [one for one in found["containers"] + found["networks"] if identity.sandbox_id in one]
        return of_sandbox + [one for one in found["volumes"] if identity.session_id in one]


@contextlib.asynccontextmanager
async def process_lab(given: SandboxProfile) -> AsyncGenerator[ProcessLab]:
    stack = f"test{secrets.token_hex(4)}"
    # A short path: a unix socket's has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="sbx-", dir="/tmp") as folder:
        async with process_runtime(process_options(Path(folder), given, stack)) as runtime:
            try:
                yield ProcessLab(runtime, Path(folder), stack)
            finally:
                await _remove_all(runtime)


@contextlib.asynccontextmanager
async def docker_lab(given: SandboxProfile) -> AsyncGenerator[DockerLab]:
    """With the filter between the runtime and the engine, as in the compose file."""
    stack = f"test{secrets.token_hex(4)}"
    with engine_filter(stack) as address:
        async with docker_runtime(docker_options(stack, given), {"DOCKER_HOST": address}) as runtime:
            try:
                yield DockerLab(runtime, stack)
            finally:
                await _remove_all(runtime)
                remove_stack(stack)


async def _remove_all(runtime: Runtime) -> None:
    for found in await runtime.found():
        await runtime.remove(found.identity, keep_workspace=False)
