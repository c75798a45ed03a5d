"""Two real managers on one database and one data folder, with real process sandboxes."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Generator

import pytest

from support.managers import Manager, await_status, manager_over, processes_of, run
from support.servers import Server

pytestmark = pytest.mark.timeout(400)
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


async def test_two_managers_asked_at_once_make_one_sandbox_which_either_can_use_and_remove(one: Manager) -> None:
    async with one.running() as first, beside(one).running() as second:
        created = await asyncio.gather(*(client.post("/sandboxes", json=ASK) for client in (first, second) * 4))
        sandbox_id = await one.ready(second)
        told = [await run(client, sandbox_id, "echo here") for client in (first, second)]
        removed = await asyncio.gather(*(client.delete(f"/sandboxes/{sandbox_id}") for client in (first, second) * 2))

    assert {answer.json()["id"] for answer in created} == {sandbox_id}
    assert [answer.status_code for answer in created].count(201) == 1
    assert all("here" in one_told for one_told in told)
    assert {answer.status_code for answer in removed} == {204}
    assert processes_of(sandbox_id) == []


async def test_a_start_by_one_manager_can_be_ended_by_the_other(one: Manager) -> None:
    async with one.running() as first, beside(one).running() as second:
        created = (await first.post("/sandboxes", json=ASK)).json()["id"]
        one.made.add(created)

        assert (await second.delete(f"/sandboxes/{created}", params={"keep_workspace": "true"})).status_code == 204

        over = (await first.get(f"/sandboxes/{created}")).json()
        await gone(created)
    assert over["status"] == "gone"


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


async def test_changes_made_by_one_manager_are_heard_at_the_other_and_can_be_read_again(one: Manager) -> None:
    async with one.running() as first, beside(one).running() as second:
        async with second.stream("GET", "/sandboxes/events") as events:
            lines = events.aiter_lines()
            sandbox_id = await one.ready(first)
            heard = await told(lines, "ready")
        again = await first.get("/sandboxes")
        await first.delete(f"/sandboxes/{sandbox_id}")
        async with first.stream("GET", "/sandboxes/events", headers={"Last-Event-ID": heard[0][0]}) as events:
            rest = await told(events.aiter_lines(), "gone")

    assert again.status_code == 200
    assert [status for _, status in heard] == ["starting", "ready"]
    # A change is told with the state that is newest when it is read.
    assert rest[-1][1] == "gone"
    assert heard[0][0] not in [mark for mark, _ in rest]


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


async def test_only_the_last_manager_that_stops_takes_the_sandboxes_along(one: Manager) -> None:
    one.settings["SANDBOX_REMOVE_ON_SHUTDOWN"] = "true"
    async with one.running() as first:
        async with beside(one).running() as second:
            sandbox_id = await one.ready(second)
        assert "here" in await run(first, sandbox_id, "echo here")

    assert processes_of(sandbox_id) == []


async def test_a_sandbox_all_of_whose_managers_are_gone_ends_itself(one: Manager) -> None:
    one.settings |= {"SANDBOX_ORPHAN_MINUTES": "0.1", "SANDBOX_POOL_SIZE": "1"}
    async with one.running() as client:
        sandbox_id = await one.ready(client)
        await await_status(client, {"ready": 1, "warm": 1})
        (pooled,) = set(os.listdir(one.folder / "live")) - {sandbox_id}
        stats = (await client.get(f"/sandboxes/{sandbox_id}/stats")).json()
        # Longer than they would live alone: the sweep keeps them.
        with pytest.raises(TimeoutError):
            await gone(sandbox_id, within_s=10)
        assert processes_of(pooled)
        await one.kill()

    for each in (sandbox_id, pooled):
        await gone(each)
    assert stats["memory_bytes"] is None or stats["memory_bytes"] > 0
    assert stats["unused_s"] >= 0
