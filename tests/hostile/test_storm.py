"""Twenty hostile sandboxes, their tenant and a client without an account do all they can at once; another tenant works.

HOSTILE_STORM_S=300 goes on for so long.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
import websockets

from sandbox_manager.infrastructure.runtimes.process.launch import MARK
from sandbox_manager.infrastructure.runtimes.process.processes import marked
from support import hostile_programs
from support.api_client import ApiClient, register
from support.fleet import ROOT, Fleet, Shape, run_fleet
from support.run_report import tell
from support.sandboxes import SCOPES, client_at, run_through
from support.servers import free_port
from support.tls import NO_TLS

HOSTILE = 20
TURNED = 5
"""So many of them have taken over their tool API."""
STORM_S = float(os.environ.get("HOSTILE_STORM_S") or 60)
QUIET_S = 15.0
SWEEP_S = 5.0
MOST_BYTES = 300 * 1024 * 1024
AFTER_S = 120.0
UNNOTICED_MS = 50.0
"""What a person does not notice. Where an answer usually begins within 15 ms, twice that is a few turns of the
processor."""
BEGUN = "begun"
BEGUN_S = 30.0

pytestmark = [pytest.mark.quiet, pytest.mark.timeout(600 + STORM_S)]


def settings(model_url: str) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model_url,
        "MODEL": "scripted",
        "SANDBOX_DESKTOP": "false",
        "SANDBOX_MEMORY_MB": "256",
        "SANDBOX_DISK_LIMIT_MB": "200",
        "SANDBOX_PIDS": "200",
        "SANDBOX_MAX_TOTAL": str(HOSTILE + 1),
        "SANDBOX_MAX_PER_USER": str(HOSTILE),
        "SANDBOX_MAX_PER_USER_TOTAL": str(HOSTILE),
        "SANDBOX_TUNING": f"spare-mb=64,sweep-ms={1000 * SWEEP_S:.0f}",
        "RATE_LIMITS": "messages=0,sessions=0",
    }


@dataclass(slots=True)
class Memory:
    """The most each service took up."""

    fleet: Fleet
    most: dict[str, int] = field(default_factory=dict[str, int])

    async def watch(self) -> None:
        while True:
            for member in self.fleet.services:
                taken = psutil.Process(member.pid).memory_info().rss
                self.most[member.name] = max(self.most.get(member.name, 0), taken)
            await asyncio.sleep(0.2)


@asynccontextmanager
async def model_server() -> AsyncGenerator[str]:
    port = free_port()
    command = [sys.executable, "-m", "support.model_server", "--port", str(port), "--deltas", "20"]
    process = await asyncio.create_subprocess_exec(*command, env={**os.environ, "PYTHONPATH": str(ROOT / "tests")})
    try:
        async with asyncio.timeout(20):
            while True:
                with contextlib.suppress(OSError):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        await process.wait()


async def first_tokens(client: ApiClient, seconds: float) -> list[float]:
    """Milliseconds a person waits for the first piece of each answer."""
    program = [sys.executable, "-m", "support.first_token", client.base_url, str(client.token), str(seconds)]
    process = await asyncio.create_subprocess_exec(
        *program, env={**os.environ, "PYTHONPATH": str(ROOT / "tests")}, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    assert process.returncode == 0
    return [float(line) for line in told.decode().split()]


async def enter(fleet: Fleet, tenant: ApiClient) -> tuple[str, httpx.AsyncClient]:
    """A session of the tenant with a sandbox, and a client of the sandbox."""
    session_id = await tenant.new_session()
    user_id = (await tenant.json("GET", "/auth/me"))["id"]
    token = fleet["manager-1"].environ["SANDBOX_MANAGER_TOKEN"]
    async with httpx.AsyncClient(
        base_url=fleet["manager-1"].url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=120,
        trust_env=False,
        verify=NO_TLS,
    ) as manager:
        made = await manager.post("/sandboxes", json={"session_id": session_id, "user_id": user_id})
        sandbox = made.raise_for_status().json()
        ready = await manager.get(f"/sandboxes/{sandbox['id']}", params={"wait_ms": 90_000})
        assert ready.json()["status"] == "ready", ready.text
        minted = await manager.post(f"/sandboxes/{sandbox['id']}/tokens", json={"scopes": SCOPES})
    endpoint = client_at(minted.json()["door"], {"Authorization": f"Bearer {minted.json()['token']}"})
    return session_id, endpoint


async def begin(fleet: Fleet, session_id: str, endpoint: httpx.AsyncClient, number: int) -> None:
    """Begin one of the hostile programs inside; the first ones take over their tool API before."""
    name = list(hostile_programs.ALL)[number % len(hostile_programs.ALL)]
    await run_through(endpoint, f"cat > /tmp/program.py <<'END'\n{hostile_programs.ALL[name]}\nEND")
    marks = f"/workspace/{BEGUN}" + (" /workspace/turned" if number < TURNED else "")
    # Once it runs there may be no answer any more: whether it was begun is seen from outside.
    with contextlib.suppress(httpx.HTTPError):
        program = f"touch {marks} && STACK={fleet.stack} exec python3 -I /tmp/program.py"
        await run_through(endpoint, f"(setsid sh -c '{program}' >/dev/null 2>&1 &)")
    async with asyncio.timeout(BEGUN_S):
        while not (fleet.sandboxes / "workspaces" / session_id / BEGUN).exists():
            await asyncio.sleep(0.1)


async def call_for_ever(call: Callable[[], Awaitable[object]]) -> None:
    while True:
        with contextlib.suppress(httpx.HTTPError, OSError, TimeoutError, websockets.WebSocketException, AssertionError):
            async with asyncio.timeout(20):
                await call()
        await asyncio.sleep(0.2)


def calls_of(tenant: ApiClient, session_id: str) -> list[Callable[[], Awaitable[object]]]:
    """What a tenant asks of the gateway about a computer that answers without end."""
    root = f"/sessions/{session_id}"

    async def download() -> None:
        async with tenant.http.stream("GET", f"{root}/files/download", params={"path": "x"}) as answer:
            async for _ in answer.aiter_bytes():
                pass

    async def screen() -> None:
        ticket = await tenant.json("POST", f"{root}/vnc/ticket", json={"mode": "control"}, expect=201)
        address = f"{tenant.base_url.replace('http', 'ws')}/api{root}/vnc?ticket={ticket['ticket']}"
        async with websockets.connect(address, subprotocols=[websockets.Subprotocol("binary")]) as socket:
            async for _ in socket:
                pass

    return [
        lambda: tenant.http.get(f"{root}/files", params={"path": ""}),
        lambda: tenant.http.get(f"{root}/files/content", params={"path": "x"}),
        download,
        screen,
    ]


async def half_requests(url: str) -> None:
    """A client without an account that begins and never ends, and one that says too much."""
    parts = urlsplit(url)
    opened: list[asyncio.StreamWriter] = []
    try:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(parts.hostname, parts.port)
                writer.write(b"GET /api/auth/me HTTP/1.1\r\nHost: " + b"x" * (60_000 if len(opened) % 5 == 0 else 1))
                opened.append(writer)
            if len(opened) > 300:
                opened.pop(0).close()
            await asyncio.sleep(0.02)
    finally:
        for writer in opened:
            writer.close()


def sweeps(fleet: Fleet) -> dict[str, float]:
    """How many sweeps there were, failed, and took longer than 10 s, which is within the usual pause between two."""
    told = httpx.get(
        f"{fleet['manager-1'].url}/metrics", headers=_metrics(fleet), trust_env=False, timeout=30, verify=NO_TLS
    ).text
    runs = {
        found[0]: float(found[1])
        for found in re.findall(r'sandbox_reconcile_runs_total{.*outcome="(\w+)".*} (\S+)', told)
    }
    total = sum(float(one) for one in re.findall(r"sandbox_reconcile_seconds_count(?:{.*})? (\S+)", told))
    in_time = sum(
        float(one) for one in re.findall(r'sandbox_reconcile_seconds_bucket{.*le="10(?:\.0)?".*} (\S+)', told)
    )
    return {**runs, "total": total, "late": total - in_time}


def _metrics(fleet: Fleet) -> dict[str, str]:
    return {"Authorization": f"Bearer {fleet['manager-1'].environ['SANDBOX_MANAGER_TOKEN']}"}


def left(fleet: Fleet) -> dict[str, list[str]]:
    """What is on the machine of sandboxes and their workspaces."""
    found = {name: os.listdir(fleet.sandboxes / name) for name in ("live", "workspaces", "archives")}
    found["processes"] = [mark for mark in marked(MARK) if mark.startswith(f"{fleet.stack}/")]
    return {name: names for name, names in found.items() if names}


def told_of(times: list[float]) -> str:
    return f"p50 {statistics.median(times):.0f} ms, p95 {statistics.quantiles(times, n=20)[-1]:.0f} (n={len(times)})"


async def test_another_tenant_hardly_notices_twenty_hostile_sandboxes() -> None:
    async with AsyncExitStack() as stack:
        # A short path: sockets of sandboxes lie below it.
        folder = Path(tempfile.mkdtemp(prefix="storm-", dir="/tmp"))
        # Python's own removal recurses, and what a failed test leaves here is deep.
        stack.callback(subprocess.run, ["rm", "-rf", str(folder)], check=False)
        model_url = await stack.enter_async_context(model_server())
        fleet = await stack.enter_async_context(
            run_fleet(folder, Shape(), settings(model_url), manager="support.taken_over_manager")
        )
        url = fleet.urls[0]
        honest = await stack.enter_async_context(await register(url, "honest"))
        hostile = await stack.enter_async_context(await register(url, "hostile"))
        quiet = await first_tokens(honest, QUIET_S)
        idle = left(fleet)

        memory = Memory(fleet)
        beside = [asyncio.create_task(memory.watch())]
        sessions: list[str] = []
        try:
            endpoints: list[httpx.AsyncClient] = []
            for _ in range(HOSTILE):
                session_id, endpoint = await enter(fleet, hostile)
                stack.push_async_callback(endpoint.aclose)
                sessions.append(session_id)
                endpoints.append(endpoint)
            begun = zip(sessions, endpoints, strict=True)
            await asyncio.gather(*(begin(fleet, *one, number) for number, one in enumerate(begun)))
            calls: list[Any] = [call for session_id in sessions[:TURNED] for call in calls_of(hostile, session_id)]
            beside += [asyncio.create_task(call_for_ever(call)) for call in calls]
            beside.append(asyncio.create_task(half_requests(url)))
            before = sweeps(fleet)
            stormy = await first_tokens(honest, STORM_S)
            after = sweeps(fleet)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

        most = {name: f"{taken >> 20} MB" for name, taken in memory.most.items()}
        tell(f"first token quiet {told_of(quiet)}, in the storm {told_of(stormy)}")
        tell(f"most memory {most}; sweeps {before} -> {after}")
        usual = statistics.median(quiet)
        assert statistics.median(stormy) <= usual + max(usual, UNNOTICED_MS), (sorted(quiet), sorted(stormy))
        assert all(taken < MOST_BYTES for taken in memory.most.values()), memory.most
        swept = after["total"] - before["total"]
        # The pause between two, and the most that one may take.
        assert swept >= STORM_S // (SWEEP_S + 10), (before, after)
        assert after["late"] == before["late"], (before, after)
        assert after.get("failed", 0) == before.get("failed", 0), (before, after)

        for session_id in sessions:
            await hostile.json("DELETE", f"/sessions/{session_id}", expect=204)
        async with asyncio.timeout(AFTER_S):
            while left(fleet) != idle:
                await asyncio.sleep(0.5)
