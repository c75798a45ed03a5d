"""One suite for the registry of the tests and the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta

import pytest

from sandbox_manager.domain.ports import SandboxRegistry
from sandbox_manager.domain.sandbox import Cleanup, Sandbox, Status
from sandbox_manager.infrastructure.clock import SystemClock
from sandbox_manager.infrastructure.memory.registry import MemoryRegistry
from sandbox_manager.infrastructure.mongo.connect import connected, load_door_keys
from sandbox_manager.infrastructure.mongo.registry import MongoRegistry
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
    sandbox = record()

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


async def test_a_registry_that_answers_checks_well(registry: SandboxRegistry) -> None:
    await registry.check()


async def test_the_key_pair_is_made_once(mongo_server: Server, mongo_database_name: str) -> None:
    async with connected(mongo_server.uri, mongo_database_name):
        keys = await asyncio.gather(*(load_door_keys() for _ in range(5)))

    assert len({one.public_key for one in keys}) == 1
