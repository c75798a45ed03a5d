"""Sandboxes come and go, with a warm pool, and leave nothing behind.

SANDBOX_CYCLES=200 makes so many, with desktops; otherwise a few more than the slack, without, so that what stays open
once a cycle is seen.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from sandbox_manager.infrastructure.runtimes.process.launch import MARK
from sandbox_manager.infrastructure.runtimes.process.processes import marked
from support.chaos.settings import say
from support.engine import of_stack
from support.managers import Manager, manager_over, of_docker, run
from support.sandboxes import why_no_docker
from support.servers import Server

CYCLES = int(os.environ.get("SANDBOX_CYCLES") or 0)
FEW = 9
WARM_UP = 4
SLACK = 6
"""Connections and threads of bounded pools, opened when they are first needed."""

pytestmark = pytest.mark.timeout(7200 if CYCLES else 900)


@pytest.mark.parametrize("runtime", ["process", "docker"])
async def test_sandboxes_that_come_and_go_leave_nothing_behind(
    runtime: str, mongo_server: Server, mongo_database_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in os.environ if one.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    if runtime == "docker" and (reason := why_no_docker()) is not None:
        pytest.skip(reason)
    settings = {
        "SANDBOX_POOL_SIZE": "1",
        "SANDBOX_REMOVE_ON_SHUTDOWN": "true",
        "SANDBOX_DESKTOP": "true" if CYCLES else "false",
        "TMPDIR": str(tmp_path),
        **(of_docker() if runtime == "docker" else {}),
    }
    with manager_over(mongo_server, mongo_database_name, **settings) as manager:
        async with manager.running() as client:
            for number in range(WARM_UP):
                await cycle(manager, client, number)
            await manager.await_claimable(client)
            before, was_open = left_by(manager, tmp_path), open_in(manager)

            for number in range(CYCLES or FEW):
                await cycle(manager, client, WARM_UP + number)

            await manager.await_claimable(client)
            after, is_open = left_by(manager, tmp_path), open_in(manager)
        say(f"{runtime}: {CYCLES or FEW} cycles, open {was_open} -> {is_open}, on the machine {after}")
        assert after == before
        assert all(is_open[what] <= was_open[what] + SLACK for what in was_open), (was_open, is_open)
        assert set(left_by(manager, tmp_path).values()) == {0}


async def cycle(manager: Manager, client: httpx.AsyncClient, number: int) -> None:
    """One session's sandbox, used in one of several ways, from its creation to its end."""
    sandbox_id = await manager.ready(client, f"cycle-{number}")
    assert "exit=0" in await run(client, sandbox_id, "echo here > note; (sleep 600 &) ; mkfifo pipe")
    if number % 3 == 1:
        assert (await client.post(f"/sandboxes/{sandbox_id}/pause")).json()["status"] == "paused"
    if number % 3 == 2:
        assert "here" in await run(client, sandbox_id, "cat note; ln -s / root; chmod 0 .")
    answer = await client.delete(f"/sandboxes/{sandbox_id}", params={"keep_workspace": "false"})
    assert answer.status_code == 204


def left_by(manager: Manager, temporary: Path) -> dict[str, int]:
    """How much there is on the machine for the sandboxes of a manager."""
    looks = _docker_looks(manager) if manager.settings["SANDBOX_RUNTIME"] == "docker" else _process_looks(manager)
    return {name: look() for name, look in looks.items()} | {"temporary files": len(os.listdir(temporary))}


def _process_looks(manager: Manager) -> dict[str, Callable[[], int]]:
    def entries(name: str) -> Callable[[], int]:
        return lambda: len(os.listdir(manager.folder / name))

    def processes() -> int:
        return sum(len(found) for mark, found in marked(MARK).items() if mark.startswith(f"{manager.stack}/"))

    def cgroups() -> int:
        groups = {one.name for one in Path("/sys/fs/cgroup").glob("**/agent-sandboxes/*") if one.is_dir()}
        return len(groups & manager.made)

    return {
        "sandboxes": entries("live"),
        "workspaces": entries("workspaces"),
        "user ids": entries("uids"),
        "processes": processes,
        "cgroups of what is gone": cgroups,
    }


def _docker_looks(manager: Manager) -> dict[str, Callable[[], int]]:
    def look(kind: str) -> Callable[[], int]:
        return lambda: len(of_stack(manager.stack)[kind])

    def mounts() -> int:
        return sum(manager.stack in line for line in Path("/proc/self/mountinfo").read_text().splitlines())

    return {kind: look(kind) for kind in ("containers", "networks", "volumes")} | {"mounts": mounts}


def open_in(manager: Manager) -> dict[str, int]:
    """What the manager itself holds."""
    assert manager.process is not None
    own = Path("/proc") / str(manager.process.pid)
    children = (own / "task" / str(manager.process.pid) / "children").read_text().split()
    return {
        "file descriptors": len(os.listdir(own / "fd")),
        "threads": len(os.listdir(own / "task")),
        "children": len(children),
    }
