"""Idle readers and long sessions on a running gateway, and what they cost: for benchmarks and figures in tests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil

from backend_api.agent.events import ToolCalled, ToolFinished
from backend_api.kit.ids import SessionId
from backend_api.runs.mongo.run_ledger import MongoRunLedger
from local_stack.services import mongo_uri
from support.recorded_runs import record_run, record_until
from support.tls import NO_TLS

EVENTS_A_RUN = 40
_WARM_UP = 50
_SETTLE_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What idle readers cost together."""

    readers: int
    kilobytes: float
    cpu_share: float

    @property
    def each_kb(self) -> float:
        return self.kilobytes / self.readers


async def fresh_sessions(base_url: str, count: int) -> list[str]:
    """Of the local user."""
    async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=NO_TLS) as client:
        return [str((await client.post("/api/sessions", json={})).json()["id"]) for _ in range(count)]


async def open_reader(base_url: str, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connected, and its first line read."""
    parts = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=4096)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    await reader.readuntil(b": follows\n\n")
    return reader, writer


async def _open_readers(base_url: str, ids: Sequence[str]) -> list[asyncio.StreamWriter]:
    gate = asyncio.Semaphore(20)

    async def one(session_id: str) -> asyncio.StreamWriter:
        async with gate:
            return (await open_reader(base_url, f"/api/sessions/{session_id}/events"))[1]

    return await asyncio.gather(*(one(session_id) for session_id in ids))


async def idle_readers(base_url: str, gateway_pid: int, readers: int, *, watched_s: float) -> Cost:
    """Growth of the gateway's resident memory by readers on a session each, and its share of a core meanwhile."""
    gateway = psutil.Process(gateway_pid)
    ids = await fresh_sessions(base_url, readers)
    for writer in await _open_readers(base_url, ids[:_WARM_UP]):
        writer.close()
    await asyncio.sleep(_SETTLE_S)
    before = gateway.memory_info().rss
    writers = await _open_readers(base_url, ids)
    await asyncio.sleep(_SETTLE_S)
    spent, began = sum(gateway.cpu_times()[:2]), time.perf_counter()
    await asyncio.sleep(watched_s)
    share = (sum(gateway.cpu_times()[:2]) - spent) / (time.perf_counter() - began)
    grown = gateway.memory_info().rss - before
    for writer in writers:
        writer.close()
    return Cost(readers=readers, kilobytes=grown / 1024, cpu_share=share)


def mongo_uri_of(data_dir: Path) -> str:
    """The mongod of a local stack."""
    port = json.loads((data_dir / "ports.json").read_text(encoding="utf-8"))["mongod"]
    password = json.loads((data_dir / "secrets.json").read_text(encoding="utf-8"))["mongo_password"]
    return mongo_uri(port, password)


async def fill_session(mongo_uri: str, database: str, session_id: str, events: int) -> int:
    """Runs of a usual kind; answers the last number."""
    calls = [
        (
            ToolCalled(call_id=f"{call}", name="shell", arguments={"command": "ls -l " * 20}, phrase="Looking"),
            ToolFinished(call_id=f"{call}", success=True, preview="-rw-r--r-- 1 agent agent 12 notes.txt\n" * 20),
        )
        for call in range((EVENTS_A_RUN - 6) // 2)
    ]
    said = "What is in the folder, and which of it is new? " * 3
    answer = "There are twelve files, and two of them are new. " * 20

    async def record(ledger: MongoRunLedger, last: int) -> int:
        del last
        return await record_run(ledger, SessionId(session_id), said=said, calls=calls, answer=answer)

    return await record_until(events, mongo_uri, database, record)


async def state_times(base_url: str, session_id: str, times: int) -> list[float]:
    """Milliseconds to the whole state of a session."""
    found: list[float] = []
    async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=NO_TLS) as client:
        for _ in range(times):
            began = time.perf_counter()
            answer = await client.get(f"/api/sessions/{session_id}/state")
            found.append((time.perf_counter() - began) * 1000)
            assert answer.status_code == 200, answer.text
    return found


async def resume_times(base_url: str, session_id: str, after: int, times: int) -> list[float]:
    """Milliseconds from connecting to the first event."""
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        reader, writer = await open_reader(base_url, f"/api/sessions/{session_id}/events?after={after}")
        await reader.readuntil(f"id: {after + 1}\n".encode())
        found.append((time.perf_counter() - began) * 1000)
        writer.close()
    return found


async def whole_resume_s(base_url: str, session_id: str, after: int, last: int) -> float:
    """Seconds until everything that was missed is read."""
    began = time.perf_counter()
    expected = after
    async with (
        httpx.AsyncClient(base_url=base_url, timeout=30, verify=NO_TLS) as client,
        client.stream("GET", f"/api/sessions/{session_id}/events?after={after}") as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                expected += 1
                assert line == f"id: {expected}"
                if expected == last:
                    break
    return time.perf_counter() - began
