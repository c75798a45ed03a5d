"""A real manager process with real process sandboxes, killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from sandbox_manager.infrastructure.runtimes.process.launch import MARK
from sandbox_manager.infrastructure.runtimes.process.processes import kill_marked, marked
from support.sandboxes import ROOT, client_at, run_through
from support.servers import Server, free_port

TOKEN = "t" * 40
pytestmark = pytest.mark.timeout(180)


@dataclass
class Manager:
    """Runs `python -m sandbox_manager`; each start is a new process over the same data."""

    settings: dict[str, str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[httpx.AsyncClient]:
        environment = {**self.settings, "MANAGER_PORT": str(self.port)}
        self.process = subprocess.Popen(  # noqa: ASYNC220 - returns at once
            [sys.executable, "-m", "sandbox_manager"], env=environment
        )
        headers = {"Authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{self.port}"
        try:
            async with httpx.AsyncClient(base_url=url, headers=headers, timeout=70, trust_env=False) as client:
                await self._up(client)
                yield client
        finally:
            if self.process.poll() is None:
                self.process.terminate()
                await asyncio.to_thread(self.process.wait, 40)

    async def _up(self, client: httpx.AsyncClient) -> None:
        async with asyncio.timeout(30):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if (await client.get("/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(self.process.wait, 5)


@pytest.fixture
def manager(mongo_server: Server, mongo_database_name: str) -> Generator[Manager]:
    stack = f"test{mongo_database_name[-8:]}"
    with tempfile.TemporaryDirectory(prefix="sbx-", dir="/tmp") as folder:
        yield Manager(
            {
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.pathsep.join(str(ROOT / part / "src") for part in ("sandbox-manager", "contracts")),
                "MONGO_URI": mongo_server.uri,
                "MANAGER_MONGO_DB_NAME": mongo_database_name,
                "SANDBOX_MANAGER_TOKEN": TOKEN,
                "SANDBOX_RUNTIME": "process",
                "SANDBOX_STACK": stack,
                "SANDBOX_DESKTOP": "false",
                "SANDBOX_POOL_SIZE": "0",
                "SANDBOX_PROCESS_DIR": folder,
                "SANDBOX_PYTHON": str(ROOT / ".venv-sandbox" / "bin" / "python"),
                "SANDBOX_PYTHONPATH": f"{ROOT / 'tool-api' / 'src'}:{ROOT / 'contracts' / 'src'}",
                "RECONCILE_INTERVAL_S": "0.2",
            }
        )
        for mark in marked(MARK):
            if mark.startswith(f"{stack}/"):
                kill_marked(MARK, mark, 5)
        for group in Path("/sys/fs/cgroup").glob("*/agent-sandboxes/*"):
            if group.name in _made and not (group / "cgroup.procs").read_text():
                group.rmdir()


_made: set[str] = set()


async def ready(client: httpx.AsyncClient) -> str:
    created = (await client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"})).json()
    _made.add(created["id"])
    sandbox = (await client.get(f"/sandboxes/{created['id']}", params={"wait_ms": 60000})).json()
    assert sandbox["status"] == "ready", sandbox
    return str(sandbox["id"])


async def run(client: httpx.AsyncClient, sandbox_id: str, command: str) -> str:
    token = (await client.post(f"/sandboxes/{sandbox_id}/tokens", json={"scopes": ["exec"]})).json()
    async with client_at(token["door"], {"Authorization": f"Bearer {token['token']}"}) as door:
        return await run_through(door, command)


def processes_of(sandbox_id: str) -> list[int]:
    return [one.pid for mark, found in marked(MARK).items() if f"/{sandbox_id}/" in mark for one in found]


async def test_a_sandbox_outlives_a_killed_manager_and_is_found_again(manager: Manager) -> None:
    async with manager.running() as client:
        sandbox_id = await ready(client)
        await run(client, sandbox_id, "echo before > note")
        await manager.kill()
    assert processes_of(sandbox_id)

    async with manager.running() as client:
        told = await run(client, sandbox_id, "cat note")
        assert (await client.delete(f"/sandboxes/{sandbox_id}")).status_code == 204

    assert "before" in told
    assert processes_of(sandbox_id) == []


async def test_a_sandbox_whose_processes_died_is_gone_and_rebuilt_with_its_workspace(manager: Manager) -> None:
    async with manager.running() as client:
        sandbox_id = await ready(client)
        await run(client, sandbox_id, "echo before > note")
        for pid in processes_of(sandbox_id):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        async with asyncio.timeout(10):
            while (await client.get(f"/sandboxes/{sandbox_id}")).json()["status"] != "gone":
                await asyncio.sleep(0.05)
        again = await ready(client)
        told = await run(client, again, "cat note")
        await client.delete(f"/sandboxes/{again}")

    assert again != sandbox_id
    assert "before" in told


async def test_a_stopped_manager_removes_its_sandboxes_when_told_to_and_keeps_workspaces(manager: Manager) -> None:
    manager.settings["SANDBOX_REMOVE_ON_SHUTDOWN"] = "true"
    async with manager.running() as client:
        sandbox_id = await ready(client)
        await run(client, sandbox_id, "echo before > note")

    assert processes_of(sandbox_id) == []
    workspace = Path(manager.settings["SANDBOX_PROCESS_DIR"]) / "workspaces" / "s1" / "note"
    assert workspace.read_text() == "before\n"


async def test_a_start_cut_off_by_a_killed_manager_is_cleaned_up(manager: Manager) -> None:
    async with manager.running() as client:
        created = (await client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"})).json()
        _made.add(created["id"])
        await manager.kill()

    async with manager.running() as client:
        async with asyncio.timeout(30):
            while (await client.get(f"/sandboxes/{created['id']}")).json()["status"] == "starting":
                await asyncio.sleep(0.1)
        again = await ready(client)
        await client.delete(f"/sandboxes/{again}")

    assert processes_of(created["id"]) == []


@pytest.mark.parametrize("token", ["", "short"])
def test_a_missing_or_short_service_token_refuses_the_start_by_its_name(token: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(str(ROOT / part / "src") for part in ("sandbox-manager", "contracts")),
        "MONGO_URI": "mongodb://127.0.0.1:1",
        "SANDBOX_MANAGER_TOKEN": token,
    }

    done = subprocess.run([sys.executable, "-m", "sandbox_manager"], env=environment, capture_output=True, timeout=30)

    assert done.returncode == 2
    assert b"SANDBOX_MANAGER_TOKEN" in done.stderr
