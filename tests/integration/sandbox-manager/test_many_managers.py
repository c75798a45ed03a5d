"""Two real managers on one database and one data folder, with real process sandboxes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Generator

import pytest

from support.managers import Manager, await_status, manager_over, processes_of, run
from support.servers import Server

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(400)]
ASK = {"session_id": "s1", "user_id": "u1"}


@pytest.fixture
def one(mongo_server: Server, mongo_database_name: str) -> Generator[Manager]:
    with manager_over(mongo_server, mongo_database_name) as manager:
        yield manager


def beside(manager: Manager) -> Manager:
    return Manager(manager.settings, made=manager.made)


async def gone(sandbox_id: str, within_s: float = 60) -> None:
    async with asyncio.timeout(within_s):
        while processes_of(sandbox_id):
            await asyncio.sleep(0.1)


async def test_what_one_manager_does_the_other_knows_goes_on_with_and_can_undo(one: Manager) -> None:
    one.settings["SANDBOX_REMOVE_ON_SHUTDOWN"] = "true"
    async with one.running() as first:
        async with beside(one).running() as second:
            cut_short = (await first.post("/sandboxes", json=ASK)).json()["id"]
            one.made.add(cut_short)
            ended = await second.delete(f"/sandboxes/{cut_short}", params={"keep_workspace": "true"})
            over = (await first.get(f"/sandboxes/{cut_short}")).json()
            await gone(cut_short)

            # Asked at once they make one.
            async with second.stream("GET", "/sandboxes/events") as events:
                lines = events.aiter_lines()
                created = await asyncio.gather(*(client.post("/sandboxes", json=ASK) for client in (first, second) * 4))
                sandbox_id = await one.ready(second)
                heard = await told(lines, "ready")
            used = [await run(client, sandbox_id, "echo here") for client in (first, second)]
            removed = await asyncio.gather(
                *(client.delete(f"/sandboxes/{sandbox_id}") for client in (first, second) * 2)
            )
            left = processes_of(sandbox_id)
            async with first.stream("GET", "/sandboxes/events", headers={"Last-Event-ID": heard[0][0]}) as events:
                rest = await told(events.aiter_lines(), "gone")
            listed = await first.get("/sandboxes")

            kept = await one.ready(second)
        # The last manager that stops takes the sandboxes along, and no workspace.
        assert "here" in await run(first, kept, "echo here | tee note")

    assert (ended.status_code, over["status"]) == (204, "gone")
    assert {answer.json()["id"] for answer in created} == {sandbox_id}
    assert [answer.status_code for answer in created].count(201) == 1
    assert all("here" in one_told for one_told in used)
    assert {answer.status_code for answer in removed} == {204}
    assert listed.status_code == 200
    assert [status for _, status in heard] == ["starting", "ready"]
    # A change is told with the state that is newest when it is read.
    assert rest[-1][1] == "gone"
    assert heard[0][0] not in [mark for mark, _ in rest]
    assert (left, processes_of(kept)) == ([], [])
    assert (one.folder / "workspaces" / "s1" / "note").read_text() == "here\n"


async def test_a_start_of_a_killed_manager_is_undone_by_the_other_within_a_bounded_time(one: Manager) -> None:
    two = beside(one)
    async with two.running() as second:
        async with one.running() as first:
            created = (await first.post("/sandboxes", json=ASK)).json()["id"]
            one.made.add(created)
            await one.kill()
        async with asyncio.timeout(60):
            while (await second.get(f"/sandboxes/{created}")).json()["status"] == "starting":
                await asyncio.sleep(0.2)
        again = await two.ready(second)
        await second.delete(f"/sandboxes/{again}")
        await gone(created)


async def test_limits_hold_over_both_managers_and_the_line_moves_when_a_place_becomes_free(one: Manager) -> None:
    one.settings["SANDBOX_MAX_TOTAL"] = "1"
    async with one.running() as first, beside(one).running() as second:
        asked = [{"session_id": f"s{n}", "user_id": f"u{n}"} for n in range(4)]
        clients = (first, second) * 2
        created = await asyncio.gather(
            *(client.post("/sandboxes", json=ask) for client, ask in zip(clients, asked, strict=True))
        )
        sandboxes = [answer.json() for answer in created]
        one.made |= {sandbox["id"] for sandbox in sandboxes}
        (let_in,) = [sandbox for sandbox in sandboxes if sandbox["status"] == "starting"]
        # Asked for again: who came first is known once all have come.
        waiting = [one for one in sandboxes if one is not let_in]
        line = {one["id"]: (await second.get(f"/sandboxes/{one['id']}")).json()["queue_position"] for one in waiting}
        next_one = min(waiting, key=lambda one: line[one["id"]])

        await first.get(f"/sandboxes/{let_in['id']}", params={"wait_ms": 60000})
        await second.delete(f"/sandboxes/{let_in['id']}")
        got = {"status": "queued"}
        async with asyncio.timeout(90):
            while got["status"] in ("queued", "starting"):
                got = (await first.get(f"/sandboxes/{next_one['id']}", params={"wait_ms": 5000})).json()
        for sandbox in sandboxes:
            await first.delete(f"/sandboxes/{sandbox['id']}")
        await await_status(first, {})

    assert sorted(line.values()) == [1, 2, 3]
    assert got["status"] == "ready"


async def told(lines: object, until: str) -> list[tuple[str, str]]:
    """Mark and status of each change up to one."""
    heard: list[tuple[str, str]] = []
    mark = ""
    async with asyncio.timeout(60):
        async for line in lines:  # type: ignore[attr-defined]
            name, _, value = line.partition(": ")
            if name == "id":
                mark = value
            elif name == "data":
                heard.append((mark, json.loads(value)["status"]))
                if heard[-1][1] == until:
                    break
    return heard


async def test_a_sandbox_all_of_whose_managers_are_gone_ends_itself(one: Manager) -> None:
    one.settings |= {"SANDBOX_TUNING": "orphan-s=5,sweep-ms=200", "SANDBOX_POOL_SIZE": "1"}
    async with one.running() as client:
        sandbox_id = await one.ready(client)
        await await_status(client, {"ready": 1, "warm": 1})
        (pooled,) = set(os.listdir(one.folder / "live")) - {sandbox_id}
        stats = (await client.get(f"/sandboxes/{sandbox_id}/stats")).json()
        # Longer than they would live alone: the sweep keeps them.
        with pytest.raises(TimeoutError):
            await gone(sandbox_id, within_s=7)
        assert processes_of(pooled)
        await one.kill()

    for each in (sandbox_id, pooled):
        await gone(each)
    assert stats["memory_bytes"] is None or stats["memory_bytes"] > 0
    assert stats["unused_s"] >= 0
