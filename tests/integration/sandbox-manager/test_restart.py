"""A real manager process with real process sandboxes, killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator

import pytest

from support.managers import Manager, manager_over, processes_of, run
from support.servers import Server
from support.sources import python_path

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def manager(mongo_server: Server, mongo_database_name: str) -> Generator[Manager]:
    with manager_over(mongo_server, mongo_database_name) as manager:
        yield manager


async def test_a_sandbox_outlives_a_killed_manager_and_a_start_cut_off_then_is_cleaned_up(manager: Manager) -> None:
    async with manager.running() as client:
        sandbox_id = await manager.ready(client)
        await run(client, sandbox_id, "echo before > note")
        cut_off = (await client.post("/sandboxes", json={"session_id": "s2", "user_id": "u1"})).json()["id"]
        manager.made.add(cut_off)
        await manager.kill()
    assert processes_of(sandbox_id)

    async with manager.running() as client:
        told = await run(client, sandbox_id, "cat note")
        assert (await client.delete(f"/sandboxes/{sandbox_id}")).status_code == 204
        assert processes_of(sandbox_id) == []
        async with asyncio.timeout(60):
            while (await client.get(f"/sandboxes/{cut_off}")).json()["status"] == "starting":
                await asyncio.sleep(0.1)
        again = await manager.ready(client, "s2")
        await client.delete(f"/sandboxes/{again}")

    assert "before" in told
    assert again != cut_off
    assert processes_of(cut_off) == []


@pytest.mark.thorough
async def test_what_a_killed_manager_left_goes_with_the_next_one_however_soon_that_stops(manager: Manager) -> None:
    manager.settings["SANDBOX_REMOVE_ON_SHUTDOWN"] = "true"
    async with manager.running() as client:
        sandbox_id = await manager.ready(client)
        await manager.kill()
    assert processes_of(sandbox_id)

    async with manager.running():
        pass

    assert processes_of(sandbox_id) == []
    assert os.listdir(manager.folder / "workspaces") == ["s1"]


@pytest.mark.thorough
async def test_a_sandbox_whose_processes_died_is_gone_and_rebuilt_with_its_workspace(manager: Manager) -> None:
    async with manager.running() as client:
        sandbox_id = await manager.ready(client)
        await run(client, sandbox_id, "echo before > note")
        for pid in processes_of(sandbox_id):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        async with asyncio.timeout(10):
            while (await client.get(f"/sandboxes/{sandbox_id}")).json()["status"] != "gone":
                await asyncio.sleep(0.05)
        again = await manager.ready(client)
        told = await run(client, again, "cat note")
        await client.delete(f"/sandboxes/{again}")

    assert again != sandbox_id
    assert "before" in told


@pytest.mark.thorough
async def test_what_ended_with_a_killed_manager_is_known_as_soon_as_the_next_one_starts(
    mongo_server: Server, mongo_database_name: str
) -> None:
    with manager_over(mongo_server, mongo_database_name, SANDBOX_TUNING="sweep-ms=60000") as manager:
        async with manager.running() as client:
            sandbox_id = await manager.ready(client)
            await manager.kill()
        for pid in processes_of(sandbox_id):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        async with manager.running() as client, asyncio.timeout(20):
            while (await client.get(f"/sandboxes/{sandbox_id}")).json()["status"] != "gone":
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("token", ["", "short"])
def test_a_missing_or_short_service_token_refuses_the_start_by_its_name(token: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": python_path("sandbox-manager"),
        "MONGO_URI": "mongodb://127.0.0.1:1",
        "SANDBOX_MANAGER_TOKEN": token,
    }

    done = subprocess.run([sys.executable, "-m", "sandbox_manager"], env=environment, capture_output=True, timeout=30)

    assert done.returncode == 2
    assert b"SANDBOX_MANAGER_TOKEN" in done.stderr


@pytest.mark.thorough
async def test_a_pooled_sandbox_is_claimed_with_its_folder_and_outlives_a_killed_manager(manager: Manager) -> None:
    manager.settings["SANDBOX_POOL_SIZE"] = "1"
    async with manager.running() as client:
        await manager.await_claimable(client)
        (pooled,) = os.listdir(manager.folder / "live")
        await manager.kill()

    async with manager.running() as client:
        claimed = await client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"})
        told = await run(client, claimed.json()["id"], "echo mine > note; cat note")
        await client.delete(f"/sandboxes/{pooled}", params={"keep_workspace": "true"})
        again = await manager.ready(client)
        later = await run(client, again, "cat note; id -u")
        await client.delete(f"/sandboxes/{again}")

    assert (claimed.json()["id"], claimed.json()["status"]) == (pooled, "ready")
    assert "mine" in told
    assert "mine" in later
    assert processes_of(pooled) == []


@pytest.mark.thorough
async def test_a_manager_killed_in_the_middle_of_a_claim_leaves_the_session_one_working_sandbox(
    manager: Manager,
) -> None:
    manager.settings |= {"SANDBOX_POOL_SIZE": "1", "SANDBOX_REMOVE_ON_SHUTDOWN": "true"}
    async with manager.running() as client:
        await manager.await_claimable(client)
        ask = client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"})
        claim = asyncio.create_task(ask, name="claim")
        await asyncio.wait({claim}, timeout=0.02)
        await manager.kill()
        await asyncio.wait({claim})
        claim.exception()

    # No new member is booted for whom nobody asks.
    manager.settings["SANDBOX_POOL_SIZE"] = "0"
    async with manager.running() as client:
        async with asyncio.timeout(120):
            while (await client.get("/stats")).json()["by_status"].get("starting"):
                await asyncio.sleep(0.1)
        sandbox_id = await manager.ready(client)
        told = await run(client, sandbox_id, "echo works")
        await client.delete(f"/sandboxes/{sandbox_id}", params={"keep_workspace": "false"})

    assert "works" in told
    assert [os.listdir(manager.folder / name) for name in ("live", "workspaces", "uids")] == [[], [], []]
