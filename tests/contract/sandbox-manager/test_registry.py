"""One suite for the registry of the tests and the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from sandbox_manager.bootstrap.assembly import SandboxRegistry
from sandbox_manager.domain.configuration import Configuration, Size
from sandbox_manager.domain.errors import MarkLostError
from sandbox_manager.domain.sandbox import LONG_AGO, Cleanup, Sandbox, Status
from sandbox_manager.infrastructure.machine import SystemClock
from sandbox_manager.infrastructure.mongo.connect import connected, load_token_keys
from sandbox_manager.infrastructure.mongo.registry import MongoRegistry
from support.memory_manager.registry import MemoryRegistry
from support.sandboxes import new_identity
from support.servers import Server


@pytest.fixture(params=["memory", "mongo"])
async def registry(request: pytest.FixtureRequest) -> AsyncGenerator[SandboxRegistry]:
    if request.param == "memory":
        yield MemoryRegistry()
        return
    server: Server = request.getfixturevalue("mongo_server")
    async with connected(server.uri, request.getfixturevalue("mongo_database_name")):
        yield MongoRegistry()


SHORT, LONG = timedelta(seconds=1), timedelta(minutes=1)


def record(session_id: str = "s1", generation: int = 1, age_s: int = 0) -> Sandbox:
    now = SystemClock().now() - timedelta(seconds=age_s)
    return Sandbox(
        identity=new_identity(session_id, generation),
        runtime="fake",
        status=Status.STARTING,
        created_at=now,
        expires_at=now + timedelta(hours=1),
        idle_expires_at=now + timedelta(minutes=1),
        lease_owner="m1",
        lease_until=now,
    )


async def test_a_record_comes_back_as_it_was_stored(registry: SandboxRegistry) -> None:
    now = SystemClock().now()
    size = Size(cpus=0.5, memory_mb=4096, disk_mb=100)
    made_of = Configuration(image_name="py", size_name="large", image="agent-sandbox:py", size=size, places=2)
    sandbox = replace(record(), asked_at=now, waking_since=now - SHORT, notice="It ends.", reason="Why not.")
    sandbox = replace(sandbox, configuration=made_of)

    assert await registry.add(sandbox)

    assert await registry.get(sandbox.id) == sandbox
    assert await registry.get("never") is None


async def test_a_session_has_one_place(registry: SandboxRegistry) -> None:
    answers = await asyncio.gather(*(registry.add(record(generation=n)) for n in range(1, 11)))

    assert sum(answers) == 1


async def test_a_freed_place_takes_the_next_generation_but_not_the_same(registry: SandboxRegistry) -> None:
    sandbox = record()
    await registry.add(sandbox)
    await registry.save(replace(sandbox, occupied=False, status=Status.GONE, cleanup=Cleanup.NONE))

    assert not await registry.add(record(generation=1))
    assert await registry.add(record(generation=2))


async def test_of_two_changes_to_the_same_version_one_holds(registry: SandboxRegistry) -> None:
    sandbox = record()
    await registry.add(sandbox)

    assert await registry.save(replace(sandbox, reason="one"))
    assert not await registry.save(replace(sandbox, reason="two"))

    stored = await registry.get(sandbox.id)
    assert stored is not None
    assert (stored.reason, stored.version) == ("one", 2)


async def test_find_answers_what_matches_newest_first(registry: SandboxRegistry) -> None:
    old, new, other = record("s1", age_s=20), record("s2", age_s=10), record("s3")
    other = replace(other, identity=replace(other.identity, user_id="u2"), occupied=False)
    for sandbox in (old, new, other):
        await registry.add(sandbox)

    assert await registry.find(user_id="user-1") == [new, old]
    assert await registry.find(session_id="s3") == [other]
    assert await registry.find(occupied=True) == [new, old]
    assert await registry.find(user_id="user-1", session_id="s3") == []


async def test_a_lease_is_held_by_one_until_it_lapses_or_is_given_back(registry: SandboxRegistry) -> None:
    sandbox = record()
    await registry.add(sandbox)

    taken = await asyncio.gather(*(registry.acquire_lease(sandbox.id, f"m{n}", SHORT) for n in range(8)))
    (holder,) = [one.lease_owner for one in taken if one is not None]
    assert await registry.acquire_lease(sandbox.id, holder, SHORT) is not None
    assert await registry.acquire_lease(sandbox.id, "other", SHORT) is None

    async with asyncio.timeout(20):
        while await registry.acquire_lease(sandbox.id, "other", LONG) is None:
            await asyncio.sleep(0.05)
    await registry.release_lease(sandbox.id, holder)
    assert await registry.acquire_lease(sandbox.id, "third", LONG) is None
    await registry.release_lease(sandbox.id, "other")
    assert await registry.acquire_lease(sandbox.id, "third", LONG) is not None
    assert await registry.acquire_lease("never", "third", LONG) is None


async def test_a_former_owner_can_store_nothing_it_read_before(registry: SandboxRegistry) -> None:
    await registry.add(record())
    (sandbox,) = await registry.find()
    mine = await registry.acquire_lease(sandbox.id, "m1", SHORT)
    assert mine is not None
    await registry.release_lease(sandbox.id, "m1")
    assert await registry.acquire_lease(sandbox.id, "m2", LONG) is not None

    assert not await registry.save(replace(mine, reason="too late"))


async def test_storing_a_record_leaves_its_lease_alone(registry: SandboxRegistry) -> None:
    sandbox = record()
    await registry.add(sandbox)
    held = await registry.acquire_lease(sandbox.id, "m1", LONG)
    assert held is not None

    assert await registry.save(replace(held, reason="one", lease_owner="", lease_until=LONG_AGO))

    stored = await registry.get(sandbox.id)
    assert stored is not None
    assert (stored.reason, stored.lease_owner, stored.lease_until) == ("one", "m1", held.lease_until)


async def test_admissions_are_one_after_the_other(registry: SandboxRegistry) -> None:
    """Each sees what the one before it stored: of many that want the last place one gets it."""

    async def want(session_id: str) -> int:
        new = replace(record(session_id), lease_owner="", lease_until=LONG_AGO)

        def decide(occupied: list[Sandbox], now: datetime) -> list[Sandbox]:
            assert now.tzinfo is not None
            return [new] if len(occupied) < 3 else []

        return len(await registry.admit(decide))

    admitted = await asyncio.gather(*(want(f"s{n}") for n in range(8)))

    # One that lost a race over the first admission of all answers nothing and is asked again by who wanted it.
    assert sum(admitted) <= 3
    while len(await registry.find(occupied=True)) < 3:
        await want(f"again-{len(await registry.find())}")
    assert await want("late") == 0


async def test_an_admission_changes_records_with_their_lease(registry: SandboxRegistry) -> None:
    queued = replace(record(), status=Status.QUEUED)
    await registry.add(queued)

    def decide(occupied: list[Sandbox], now: datetime) -> list[Sandbox]:
        moved = [one.admitted("m1", now + LONG, "fake", "here") for one in occupied]
        return [one for one in moved if one is not None]

    (started,) = await registry.admit(decide)

    assert (started.status, started.lease_owner, started.place) == (Status.STARTING, "m1", "here")
    assert await registry.get(queued.id) == started
    assert await registry.acquire_lease(queued.id, "m2", LONG) is None


async def test_changes_worth_seeing_are_told_in_order_and_again_after_a_mark(registry: SandboxRegistry) -> None:
    sandbox = record()
    async with registry.changes(None) as changes, asyncio.timeout(20):
        await registry.add(sandbox)
        await registry.save(replace(sandbox, idle_expires_at=sandbox.expires_at))
        await registry.save(replace(sandbox, version=2, notice="soon", revision=2))
        first = await anext(changes)
        second = await anext(changes)
    async with registry.changes(first.mark) as changes, asyncio.timeout(20):
        again = await anext(changes)

    assert (first.sandbox.id, second.sandbox.notice) == (sandbox.id, "soon")
    assert again == second


async def test_a_mark_nobody_knows_is_lost(registry: SandboxRegistry) -> None:
    with pytest.raises(MarkLostError):
        async with registry.changes("zz"):
            pass


async def test_a_registry_that_answers_checks_well(registry: SandboxRegistry) -> None:
    await registry.check()


async def test_the_key_pair_is_made_once(mongo_server: Server, mongo_database_name: str) -> None:
    async with connected(mongo_server.uri, mongo_database_name):
        keys = await asyncio.gather(*(load_token_keys() for _ in range(5)))

    assert len({one.public_key for one in keys}) == 1


async def test_changes_are_followed_for_longer_than_a_database_may_take_to_answer(
    mongo_server: Server, mongo_database_name: str
) -> None:
    async with connected(mongo_server.uri, mongo_database_name, answer_ms=1_000):
        registry, sandbox = MongoRegistry(), record()
        async with registry.changes(None) as changes, asyncio.timeout(20):
            upcoming = asyncio.ensure_future(anext(changes))
            await asyncio.wait({upcoming}, timeout=3)
            assert not upcoming.done()

            await registry.add(sandbox)

            assert (await upcoming).sandbox == sandbox
