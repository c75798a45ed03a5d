"""The sandboxes of a fleet as a trial sees and hurts them, in either runtime."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Protocol

from sandbox_manager.infrastructure.runtimes.process.launch import MARK, marked_identity
from sandbox_manager.infrastructure.runtimes.process.processes import marked
from support import engine
from support.fleet import Fleet

LEDGER = "ledger.txt"


class Sandboxes(Protocol):
    """Every call blocks."""

    def kill_one(self, chance: random.Random) -> bool:
        """Whether there was one to kill."""
        ...

    def ledger(self, session_id: str) -> str:
        """What the commands of a session have left in its workspace."""
        ...

    def workspaces(self) -> list[str]:
        """All that are still there."""
        ...

    def left(self, sandbox_ids: set[str]) -> list[str]:
        """What is on the machine of sandboxes that should be gone."""
        ...

    def end_what_is_left(self) -> None:
        """After a failed test: nothing of it stays on the machine."""
        ...


def sandboxes_of(fleet: Fleet) -> Sandboxes:
    return DockerSandboxes(fleet) if fleet.runtime == "docker" else ProcessSandboxes(fleet)


class ProcessSandboxes:
    def __init__(self, fleet: Fleet) -> None:
        self._stack, self._folder = fleet.stack, fleet.sandboxes

    def kill_one(self, chance: random.Random) -> bool:
        ours = [found for mark, found in sorted(marked(MARK).items()) if marked_identity(mark, self._stack) is not None]
        if not ours:
            return False
        chance.choice(chance.choice(ours)).kill()
        return True

    def ledger(self, session_id: str) -> str:
        file = self._folder / "workspaces" / session_id / LEDGER
        return file.read_text() if file.exists() else ""

    def workspaces(self) -> list[str]:
        return self._entries("workspaces")

    def left(self, sandbox_ids: set[str]) -> list[str]:
        found = [
            f"process {process.pid} of {mark}"
            for mark, all_of in marked(MARK).items()
            for process in all_of
            if mark.startswith(f"{self._stack}/")
        ]
        for name in ("live", "workspaces", "uids"):
            found += [f"{name}/{entry}" for entry in self._entries(name)]
        for groups in Path("/sys/fs/cgroup").glob("*/agent-sandboxes"):
            found += [f"cgroup {one}" for one in groups.iterdir() if one.name in sandbox_ids]
        return found

    def end_what_is_left(self) -> None:
        for mark, processes in marked(MARK).items():
            if mark.startswith(f"{self._stack}/"):
                for process in processes:
                    os.kill(process.pid, signal.SIGKILL)

    def _entries(self, name: str) -> list[str]:
        folder = self._folder / name
        return [one.name for one in folder.iterdir()] if folder.exists() else []


class DockerSandboxes:
    def __init__(self, fleet: Fleet) -> None:
        self._stack = fleet.stack

    def kill_one(self, chance: random.Random) -> bool:
        return engine.kill_one_of(self._stack, chance)

    def ledger(self, session_id: str) -> str:
        return engine.read_in_volume(f"{self._stack}-ws-{session_id}", LEDGER)

    def workspaces(self) -> list[str]:
        return engine.of_stack(self._stack)["volumes"]

    def left(self, sandbox_ids: set[str]) -> list[str]:
        return [f"{kind}: {name}" for kind, names in engine.of_stack(self._stack).items() for name in names]

    def end_what_is_left(self) -> None:
        engine.remove_stack(self._stack)
