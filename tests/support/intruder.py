"""Somebody who may do in a sandbox of a running stack all that its agent may: run any command as its user.

intruder = await enter(stack, session_id)
output = await intruder.run("id")
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from support.sandboxes import SCOPES, client_at, run_through
from support.stack import Stack
from support.tls import NO_TLS

START_MS = 60_000
INSIST_S = 90.0


@dataclass(frozen=True, slots=True)
class Intruder:
    """Inside one sandbox."""

    sandbox: dict[str, Any]
    endpoint: httpx.AsyncClient
    manager: httpx.AsyncClient

    @property
    def sandbox_id(self) -> str:
        return str(self.sandbox["id"])

    async def run(self, command: str) -> str:
        """What it writes, and `exit=<code>` on a last line."""
        return await run_through(self.endpoint, command)

    async def python(self, source: str) -> str:
        """A program of any size, run inside."""
        return await self.run(f"{_write(source)}; python3 -I /tmp/program.py")

    async def end_reason(self, within_s: float) -> str:
        """Why the manager ended the sandbox; fails where it does not within so long."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            found = (await self.manager.get(f"/sandboxes/{self.sandbox_id}")).json()
            if found.get("status") not in ("ready", "paused"):
                return str(found.get("reason"))
            await asyncio.sleep(0.5)
        pytest.fail(f"sandbox {self.sandbox_id} goes on after {within_s:g} s")

    async def begin(self, source: str) -> None:
        """A program that goes on by itself, however long it takes."""
        await self.run(f"{_write(source)}; (setsid python3 -I /tmp/program.py >/dev/null 2>&1 &)")


def _write(source: str) -> str:
    return f"echo {base64.b64encode(source.encode()).decode()} | base64 -d > /tmp/program.py"


async def insist(call: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Ask again as long as the answer says that one may: the manager gives killed processes some seconds to be gone,
    which is not enough on every busy machine."""
    until = time.monotonic() + INSIST_S
    while (answer := await call()).status_code == 503 and answer.json()["retryable"] and time.monotonic() < until:
        await asyncio.sleep(0.5)
    return answer


def manager_client(stack: Stack) -> httpx.AsyncClient:
    """The stack's sandbox manager, with the token only the gateway should have."""
    ports = json.loads((stack.data_dir / "ports.json").read_text())
    token = json.loads((stack.data_dir / "secrets.json").read_text())["manager_token"]
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{ports['manager']}", headers=headers, timeout=90, trust_env=False, verify=NO_TLS
    )


@asynccontextmanager
async def enter(
    stack: Stack, session_id: str, user_id: str = "intruder", *, keep_workspace: bool = False
) -> AsyncGenerator[Intruder]:
    """A ready sandbox for the session, removed at the end of the block, with its workspace unless that is kept."""
    async with (
        manager_client(stack) as manager,
        enter_through(manager, session_id, user_id, keep_workspace=keep_workspace) as intruder,
    ):
        yield intruder


@asynccontextmanager
async def enter_through(
    manager: httpx.AsyncClient, session_id: str, user_id: str = "intruder", *, keep_workspace: bool = False
) -> AsyncGenerator[Intruder]:
    """The same, of a sandbox manager of one's own choice."""
    wanted = {"session_id": session_id, "user_id": user_id}
    made = (await insist(lambda: manager.post("/sandboxes", json=wanted))).raise_for_status()
    sandbox = made.json()
    ready = await manager.get(f"/sandboxes/{sandbox['id']}", params={"wait_ms": START_MS})
    sandbox = ready.raise_for_status().json()
    assert sandbox["status"] == "ready", sandbox
    try:
        minted = await manager.post(f"/sandboxes/{sandbox['id']}/tokens", json={"scopes": SCOPES})
        token = minted.raise_for_status().json()
        async with client_at(token["door"], {"Authorization": f"Bearer {token['token']}"}) as endpoint:
            yield Intruder(sandbox, endpoint, manager)
    finally:
        kept = {"keep_workspace": str(keep_workspace).lower()}
        await insist(lambda: manager.delete(f"/sandboxes/{sandbox['id']}", params=kept))
