"""A Docker engine that takes calls and answers none: what needs it is told so, the rest goes on, and nothing stays."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator

import httpx
import pytest

from support.engine import of_stack
from support.flaky_proxy import FlakyProxy
from support.managers import manager_over, of_docker, run
from support.sandboxes import why_no_docker
from support.servers import Server

ANSWER_S = 35.0
"""A call of the engine is given up after 30 s."""

pytestmark = pytest.mark.timeout(300)


async def test_an_engine_that_hangs_is_named_and_holds_up_nothing_it_is_not_needed_for(
    mongo_server: Server, mongo_database_name: str, engine: FlakyProxy
) -> None:
    with manager_over(mongo_server, mongo_database_name, **behind(engine)) as manager:
        async with manager.running() as client:
            running = await manager.ready(client, "before")

            engine.freeze()
            began = time.monotonic()
            wanted = [
                asyncio.create_task(client.post("/sandboxes", json={"session_id": f"s{n}", "user_id": f"u{n}"}))
                for n in range(8)
            ]
            readiness = await client.get("/readyz")
            assert (readiness.status_code, readiness.json()["dependencies"]["mongo"]) == (503, "ok")
            assert readiness.json()["dependencies"]["runtime"] == "does not answer"
            assert (await client.get(f"/sandboxes/{running}")).json()["status"] == "ready"
            assert "still here" in await run(client, running, "echo still here")
            assert time.monotonic() - began < 5
            for answer in await asyncio.gather(*wanted):
                assert (answer.status_code, answer.json()["code"]) == (503, "engine_unavailable")
                assert answer.json()["retryable"]
            assert time.monotonic() - began < ANSWER_S

            engine.thaw()
            await asyncio.gather(*(manager.ready(client, f"s{n}") for n in range(2)))
            for sandbox in (await client.get("/sandboxes")).json()["items"]:
                await remove(client, sandbox["id"])
        assert of_stack(manager.stack) == {"containers": [], "networks": [], "volumes": []}


async def test_a_network_that_could_not_be_emptied_first_goes_after_the_container(
    mongo_server: Server, mongo_database_name: str, engine: FlakyProxy
) -> None:
    with manager_over(mongo_server, mongo_database_name, **behind(engine)) as manager:
        async with manager.running() as client:
            sandbox = await manager.ready(client)
            engine.tripwire, engine.trips = b"/disconnect", 2
            await remove(client, sandbox)
            assert engine.trips < 2
        assert of_stack(manager.stack) == {"containers": [], "networks": [], "volumes": []}


@pytest.fixture
async def engine(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[FlakyProxy]:
    """A way to the Docker engine that can be stopped up."""
    for name in [one for one in os.environ if one.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    if (reason := why_no_docker()) is not None:
        pytest.skip(reason)
    socket = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    async with FlakyProxy(socket) as proxy:
        yield proxy


def behind(engine: FlakyProxy) -> dict[str, str]:
    """Settings of a manager that speaks to the engine that way."""
    return of_docker() | {"DOCKER_HOST": f"tcp://127.0.0.1:{engine.port}", "SANDBOX_REMOVE_ON_SHUTDOWN": "true"}


async def remove(client: httpx.AsyncClient, sandbox_id: str) -> None:
    answer = await client.delete(f"/sandboxes/{sandbox_id}", params={"keep_workspace": "false"})
    assert answer.status_code == 204, answer.text
