"""A sandbox manager as a process of its own, to be killed and started again over the same data."""

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
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pymongo

from sandbox_manager.infrastructure.runtimes.process.launch import MARK
from sandbox_manager.infrastructure.runtimes.process.processes import kill_marked, marked
from support.sandboxes import ROOT, client_at, run_through, sandbox_image
from support.servers import Server, free_port
from support.sources import python_path
from support.tls import NO_TLS

TOKEN = "t" * 40
UP_S = 60.0


@dataclass
class Manager:
    """Runs `python -m sandbox_manager`; each start is a new process."""

    settings: dict[str, str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    made: set[str] = field(default_factory=set[str])

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[httpx.AsyncClient]:
        environment = {**self.settings, "MANAGER_PORT": str(self.port)}
        self.process = subprocess.Popen(  # noqa: ASYNC220 - returns at once
            [sys.executable, "-m", "sandbox_manager"], env=environment
        )
        headers = {"Authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{self.port}"
        try:
            async with httpx.AsyncClient(
                base_url=url, headers=headers, timeout=70, trust_env=False, verify=NO_TLS
            ) as client:
                await self._up(client)
                yield client
        finally:
            if self.process.poll() is None:
                self.process.terminate()
                await asyncio.to_thread(self.process.wait, 60)

    async def _up(self, client: httpx.AsyncClient) -> None:
        async with asyncio.timeout(UP_S):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if (await client.get("/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(self.process.wait, 30)

    @property
    def stack(self) -> str:
        return self.settings["COMPOSE_PROJECT_NAME"]

    @property
    def folder(self) -> Path:
        """Of process sandboxes."""
        return Path(self.settings["DATA_DIR"]) / "sandboxes"

    async def await_claimable(self, client: httpx.AsyncClient) -> None:
        """Wait until the one sandbox of the pool can be claimed: it is warm, and its lease is over."""
        await await_status(client, {"warm": 1})
        mongo = pymongo.AsyncMongoClient[dict[str, object]](self.settings["MONGO_URI"], tz_aware=True)
        async with mongo, asyncio.timeout(30):
            sandboxes = mongo[self.settings["MANAGER_MONGO_DB_NAME"]]["sandboxes"]
            while not await sandboxes.count_documents({"status": "warm", "lease_until": {"$lte": datetime.now(UTC)}}):
                await asyncio.sleep(0.05)

    async def ready(self, client: httpx.AsyncClient, session_id: str = "s1") -> str:
        """Id of a session's sandbox once it is ready."""
        created = (await client.post("/sandboxes", json={"session_id": session_id, "user_id": "u1"})).json()
        self.made.add(created["id"])
        sandbox = (await client.get(f"/sandboxes/{created['id']}", params={"wait_ms": 60000})).json()
        assert sandbox["status"] == "ready", sandbox
        return str(sandbox["id"])


@contextlib.contextmanager
def manager_over(mongo: Server, database: str, **settings: str) -> Generator[Manager]:
    """A manager of process sandboxes unless told otherwise; at the end nothing of it is left."""
    stack = f"test{database[-8:]}"
    with tempfile.TemporaryDirectory(prefix="sbx-", dir="/tmp") as folder:
        manager = Manager(
            {
                "PATH": os.environ["PATH"],
                "PYTHONPATH": python_path("sandbox-manager"),
                "MONGO_URI": mongo.uri,
                "MANAGER_MONGO_DB_NAME": database,
                "SANDBOX_MANAGER_TOKEN": TOKEN,
                "SANDBOX_RUNTIME": "process",
                "COMPOSE_PROJECT_NAME": stack,
                "SANDBOX_DESKTOP": "false",
                "SANDBOX_POOL_SIZE": "0",
                "DATA_DIR": folder,
                "SANDBOX_TUNING": "sweep-ms=200",
                **settings,
            }
        )
        yield manager
        for mark in marked(MARK):
            if mark.startswith(f"{stack}/"):
                manager.made.add(mark.split("/")[1])
                kill_marked(MARK, mark, 5)
        for group in Path("/sys/fs/cgroup").glob("*/agent-sandboxes/*"):
            if group.name in manager.made and not (group / "cgroup.procs").read_text():
                group.rmdir()


def of_docker() -> dict[str, str]:
    """Settings of a manager of Docker sandboxes."""
    return {
        "SANDBOX_RUNTIME": "docker",
        "SANDBOX_IMAGE": sandbox_image(),
        "SANDBOX_SECCOMP_PROFILE": str(ROOT / "sandbox-image" / "seccomp.json"),
    }


async def run(client: httpx.AsyncClient, sandbox_id: str, command: str) -> str:
    """What a command in a sandbox says."""
    token = (await client.post(f"/sandboxes/{sandbox_id}/tokens", json={"scopes": ["exec"]})).json()
    async with client_at(token["door"], {"Authorization": f"Bearer {token['token']}"}) as endpoint:
        return await run_through(endpoint, command)


async def await_status(client: httpx.AsyncClient, wanted: dict[str, int], within_s: float = 120) -> None:
    """Wait until the deployment has so many sandboxes of each status, and no other."""
    until = asyncio.get_running_loop().time() + within_s
    while (now := (await client.get("/stats")).json()["by_status"]) != wanted:
        assert asyncio.get_running_loop().time() < until, f"{now} instead of {wanted}"
        await asyncio.sleep(0.1)


def processes_of(sandbox_id: str) -> list[int]:
    return [one.pid for mark, found in marked(MARK).items() if f"/{sandbox_id}/" in mark for one in found]
