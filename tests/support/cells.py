"""Running sandboxes that try things."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import docker

from sandbox_manager.domain.sandbox import Identity, Started
from support.runtime_labs import DockerLab, ProcessLab
from support.sandboxes import run_inside


@dataclass(frozen=True, slots=True)
class Cell:
    """One running sandbox."""

    lab: ProcessLab | DockerLab
    identity: Identity
    started: Started

    async def run(self, command: str) -> str:
        return await run_inside(self.started, self.identity, command)

    @property
    def workspace(self) -> Path:
        """The workspace as the host sees it."""
        if isinstance(self.lab, ProcessLab):
            return self.lab.folder / "workspaces" / self.identity.session_id
        client = docker.from_env()
        try:
            volume = client.volumes.get(f"{self.lab.stack}-ws-{self.identity.session_id}")
            return Path(str(volume.attrs["Mountpoint"]))
        finally:
            client.close()


@dataclass(frozen=True, slots=True)
class Cells:
    """The sandbox that tries, and its neighbour."""

    own: Cell
    other: Cell
