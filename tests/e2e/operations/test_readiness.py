"""A database that hangs: each service says so in bounded time, and lives on."""

from __future__ import annotations

import os
import signal
import time

import httpx
import pytest

from support.tls import NO_TLS

from .conftest import Watched, until

pytestmark = pytest.mark.asyncio(loop_scope="package")

BOUND_S = 12.0
"""Two seconds for a dependency; the rest is for a machine with other things to do. One that waits takes 30."""


@pytest.mark.thorough
async def test_a_frozen_database_is_named_in_bounded_time(watched: Watched) -> None:
    fleet = watched.fleet
    members = [(fleet["gateway-1"], "mongodb"), (fleet["worker-1"], "mongodb"), (fleet["manager-1"], "mongo")]
    async with httpx.AsyncClient(timeout=30, trust_env=False, verify=NO_TLS) as http:
        os.kill(fleet["mongod"].pid, signal.SIGSTOP)
        try:
            for member, database in members:
                began = time.monotonic()
                ready = await http.get(f"{member.url}/readyz")
                assert time.monotonic() - began < BOUND_S
                assert ready.status_code == 503
                body = ready.json()
                assert body["ready"] is False
                assert body["dependencies"][database] != "ok"
                assert {name for name, state in body["dependencies"].items() if state != "ok"} == {database}
                assert set(body["latency_ms"]) == set(body["dependencies"])
                assert (await http.get(f"{member.url}/healthz")).status_code == 200
                assert (await http.get(f"{member.url}/metrics")).status_code == 200
        finally:
            os.kill(fleet["mongod"].pid, signal.SIGCONT)
        for member, _ in members:
            await until(lambda member=member: member.answers(member.port), f"{member.name} is ready again")
