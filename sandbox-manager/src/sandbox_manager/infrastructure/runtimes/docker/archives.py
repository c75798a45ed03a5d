"""Workspaces of Docker sandboxes as a whole.

A container of its own mounts the workspace's volume and, beside it, the volume with the session's archives, which no
sandbox ever mounts. It has no network, no way out of the two, and only the rights over files that keep their owners.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from sandbox_manager.domain.errors import EngineUnavailableError, StartFailedError
from sandbox_manager.domain.sandbox import Identity
from sandbox_manager.domain.workspace import ArchiveBounds, Packed, SnapshotRefusedError
from sandbox_manager.infrastructure.runtimes import archiving
from sandbox_manager.infrastructure.runtimes.docker import naming
from sandbox_manager.infrastructure.runtimes.docker.engine import Engine
from sandbox_manager.infrastructure.runtimes.docker.options import DockerOptions
from sandbox_manager.infrastructure.runtimes.threads import Pools

_log = logging.getLogger(__name__)

_MIB = 1024 * 1024
_NO_SANDBOX = "0" * 16


class DockerArchives:
    """`WorkspaceArchives`; one container a call, found again and removed by its name."""

    def __init__(self, options: DockerOptions, engine: Engine, pools: Pools) -> None:
        self._options, self._engine, self._pools = options, engine, pools

    async def pack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> Packed:
        whose = _identity(session_id, user_id)
        if not await self._pools.calls.run_call(lambda: self._engine.has_volume(self._workspace(whose))):
            raise SnapshotRefusedError("There are no files yet.")
        return archiving.packed(await self._run("pack", whose, snapshot_id, bounds))

    async def unpack(self, session_id: str, user_id: str, snapshot_id: str, bounds: ArchiveBounds) -> None:
        await self._run("unpack", _identity(session_id, user_id), snapshot_id, bounds)

    async def mend(self, session_id: str, user_id: str) -> None:
        whose = _identity(session_id, user_id)
        if await self._pools.calls.run_call(lambda: self._engine.has_volume(self._workspace(whose))):
            await self._run("mend", whose, "none", archiving.NO_BOUNDS)

    async def drop(self, session_id: str, user_id: str, snapshot_id: str) -> None:
        whose = _identity(session_id, user_id)
        if await self._pools.calls.run_call(lambda: self._engine.has_volume(self._archives(whose))):
            await self._run("drop", whose, snapshot_id, archiving.NO_BOUNDS)

    async def remove(self, session_id: str, user_id: str) -> None:
        whose = _identity(session_id, user_id)

        def both() -> None:
            self._engine.remove_container(self._name(whose))
            self._engine.remove_volume(self._archives(whose))
            self._engine.remove_volume(self._workspace(whose))

        try:
            await self._pools.waiting.run_call(both)
        except StartFailedError as error:
            raise EngineUnavailableError(f"{error.detail} The removal is retried.") from error

    def _workspace(self, whose: Identity) -> str:
        return naming.volume_name(self._options.stack, whose)

    def _archives(self, whose: Identity) -> str:
        return naming.archives_name(self._options.stack, whose)

    def _name(self, whose: Identity) -> str:
        return f"{self._options.stack}-archive-{whose.session_id}"

    async def _run(self, verb: str, whose: Identity, snapshot_id: str, bounds: ArchiveBounds) -> dict[str, Any]:
        call = _Call()
        output = await self._pools.packing.run_program(
            lambda: self._program(call, verb, whose, snapshot_id, bounds), lambda: self._stop(call)
        )
        return archiving.answer(output)

    def _program(self, call: _Call, verb: str, whose: Identity, snapshot_id: str, bounds: ArchiveBounds) -> str:
        name, stack = self._name(whose), self._options.stack
        try:
            self._engine.remove_container(name)  # left by a manager that died
            for volume in (self._workspace(whose), self._archives(whose)):
                self._engine.create_volume(volume, naming.workspace_labels(whose, stack))
            call.container = self._engine.create_container(name, self._config(verb, whose, snapshot_id, bounds))
            if call.is_stopped:
                raise EngineUnavailableError("The work at these files was stopped; try again.")
            self._engine.start_container(call.container)
            if self._engine.wait(call.container, archiving.DEADLINE_S) != 0:
                output = self._engine.last_errors(call.container)
                _log.error("archive program failed", extra={"verb": verb, "output": output})
                return ""
            return self._engine.last_errors(call.container)
        except StartFailedError as error:
            raise EngineUnavailableError(error.detail) from error
        finally:
            # By its id, as the name may be that of another manager's by now.
            self._engine.remove_container(call.container or name)

    def _stop(self, call: _Call) -> None:
        call.is_stopped = True
        if call.container is not None:
            self._engine.remove_container(call.container)

    def _config(self, verb: str, whose: Identity, snapshot_id: str, bounds: ArchiveBounds) -> dict[str, Any]:
        mounts = [
            {
                "Type": "volume",
                "Source": self._workspace(whose),
                "Target": "/workspace",
                "ReadOnly": verb in ("pack", "drop"),
            },
            {"Type": "volume", "Source": self._archives(whose), "Target": "/archives"},
        ]
        return {
            "Image": self._options.image,
            "User": "0:0",
            "WorkingDir": "/",
            "Entrypoint": ["python3", *archiving.arguments(verb, "/workspace", "/archives", snapshot_id, bounds)],
            "Cmd": [],
            "Healthcheck": {"Test": ["NONE"]},
            "Labels": {naming.STACK: self._options.stack},
            "HostConfig": {
                "Privileged": False,
                "CapDrop": ["ALL"],
                "CapAdd": ["DAC_OVERRIDE", "CHOWN", "FOWNER"],
                "SecurityOpt": ["no-new-privileges:true"],
                "ReadonlyRootfs": True,
                "Memory": 256 * _MIB,
                "MemorySwap": 256 * _MIB,
                "PidsLimit": 16,
                "NetworkMode": "none",
                "IpcMode": "private",
                "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m", "max-file": "1"}},
                "RestartPolicy": {"Name": "no"},
                "Mounts": mounts,
            },
        }


@dataclass(slots=True)
class _Call:
    """A call of the program. One thread sets `container`, then checks `is_stopped`; a thread that stops it sets that
    first, so that one of the two sees the other."""

    container: str | None = None
    is_stopped: bool = False


def _identity(session_id: str, user_id: str) -> Identity:
    return Identity(sandbox_id=_NO_SANDBOX, session_id=session_id, user_id=user_id, generation=1)
