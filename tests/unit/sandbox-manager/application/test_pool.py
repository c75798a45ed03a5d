from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from sandbox_manager.domain.admission import Room
from sandbox_manager.domain.errors import EngineUnavailableError, SandboxNotFoundError, StartFailedError
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.manager_harness import HARD, ManagerHarness
from support.memory_manager.registry import MemoryRegistry

_LONG = timedelta(minutes=10)


class CountingRegistry(MemoryRegistry):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name in ("add", "get", "find", "save", "admit", "acquire_lease", "release_lease"):
            self.asked.append(name)
        return super().__getattribute__(name)


async def warm(manager: ManagerHarness) -> Sandbox:
    """The one member of the pool."""
    await manager.pool.tend()
    (member,) = [one for one in await manager.registry.find(occupied=True) if one.status is Status.WARM]
    return member


async def test_a_member_is_booted_and_rests_and_is_nobodys_to_find() -> None:
    manager = ManagerHarness(pool_size=1)

    member = await warm(manager)
    await manager.pool.tend()

    assert manager.runtime.kept == [member.id]
    assert not manager.runtime.things[member.id].paused
    assert len(manager.runtime.things) == 1
    assert await manager.list() == []
    for look in (manager.get, manager.pause, manager.resume):
        with pytest.raises(SandboxNotFoundError):
            await look(member.id)


async def test_a_new_session_claims_the_member_which_takes_its_name_time_and_workspace() -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)
    manager.runtime.kept.clear()
    manager.clock.move(timedelta(hours=3))

    created = await manager.create("s1", "u1")

    sandbox = created.sandbox
    assert (sandbox.id, sandbox.status, created.is_new) == (member.id, Status.READY, True)
    assert (sandbox.identity.session_id, sandbox.identity.user_id, sandbox.identity.generation) == ("s1", "u1", 1)
    assert sandbox.expires_at == manager.clock.now() + HARD
    assert manager.runtime.kept == [member.id]
    assert manager.runtime.workspaces == {"s1"}
    assert (await manager.mint(member.id, ["exec"], timedelta(minutes=5))).endpoint == member.endpoint


async def test_a_claim_and_the_token_after_it_ask_the_registry_no_more_than_they_must() -> None:
    registry = CountingRegistry()
    manager = ManagerHarness(pool_size=1, registry=registry)
    member = await warm(manager)
    registry.asked.clear()

    created = await manager.create("s1", "u1")
    by_then = [what for what in registry.asked if what != "release_lease"]
    await manager.mint(member.id, ["exec"], timedelta(minutes=5))

    assert created.sandbox.status is Status.READY
    assert by_then == ["find", "admit", "save"]
    assert [what for what in registry.asked if what != "release_lease"] == [*by_then, "get"]


async def test_a_user_at_the_limit_gives_up_what_is_unused_and_gets_one() -> None:
    manager = ManagerHarness(pool_size=1, max_per_user=1)
    unused = await manager.ready()
    member = await warm(manager)
    manager.clock.move(_LONG)

    created = await manager.create("s2", unused.identity.user_id)

    assert (created.sandbox.id, created.sandbox.status) == (member.id, Status.READY)
    assert list(manager.runtime.things) == [member.id]


async def test_who_waits_for_another_of_its_own_keeps_nobody_from_the_pool() -> None:
    manager = ManagerHarness(pool_size=1, max_per_user=1)
    await manager.ready()
    member = await warm(manager)
    waiting = (await manager.create("s2", "u1")).sandbox
    await manager.admission.pump()

    created = await manager.create("s3", "u2")

    assert waiting.status is Status.QUEUED
    assert (created.sandbox.id, created.sandbox.status) == (member.id, Status.READY)
    await warm(manager)


async def test_two_sessions_at_once_never_get_the_same_member() -> None:
    one = ManagerHarness(pool_size=1)
    two = ManagerHarness(
        registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, owner="manager-2"
    )
    member = await warm(one)

    created = await asyncio.gather(one.create("s1", "u1"), two.create("s2", "u2"), one.create("s3", "u3"))

    claimed = [each for each in created if each.sandbox.id == member.id]
    assert len(claimed) == 1
    assert len({each.sandbox.id for each in created}) == 3
    for manager, each in zip((one, two, one), created, strict=True):
        assert (await manager.get(each.sandbox.id, 5)).status is Status.READY


async def test_one_session_asking_twice_at_once_claims_one() -> None:
    manager = ManagerHarness(pool_size=2)
    await manager.pool.tend()
    await manager.pool.tend()

    one, two = await asyncio.gather(manager.create("s1", "u1"), manager.create("s1", "u1"))

    assert one.sandbox.id == two.sandbox.id
    assert [one.status for one in await manager.registry.find(occupied=True)].count(Status.WARM) == 1


async def test_a_session_with_files_is_started_with_them_and_leaves_the_member_alone() -> None:
    manager = ManagerHarness(pool_size=1)
    first = await manager.ready()
    await manager.delete(first.id, keep_workspace=True)
    member = await warm(manager)

    second = await manager.ready()

    assert second.id != member.id
    assert second.identity.generation == 2
    assert await manager.registry.get(member.id) == member


@pytest.mark.parametrize("what", ["died", "refuses", "has files"])
async def test_a_claim_that_fails_is_started_anew_under_the_same_record(what: str) -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)
    if what == "died":
        manager.runtime.kill(member.id)
    elif what == "refuses":
        manager.runtime.fail_keep = EngineUnavailableError("It does not answer.")
    else:
        manager.runtime.workspaces.add("s1")

    ready = await manager.ready()

    assert (ready.id, ready.status, ready.identity.session_id) == (member.id, Status.READY, "s1")
    assert manager.runtime.starts[-1].identity == ready.identity
    assert manager.runtime.removals == [member.id]
    assert manager.runtime.workspaces == {"s1"}


async def test_a_claimed_sandbox_is_never_pooled_again() -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)
    claimed = await manager.ready()

    await manager.delete(claimed.id, keep_workspace=False)
    manager.clock.move(_LONG)
    other = await warm(manager)

    assert other.id != member.id
    assert manager.runtime.workspaces == {f"pool.{other.id}"}


async def test_a_member_made_otherwise_is_replaced() -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)
    manager.runtime.made_by = "fingerprint-2"

    created = await manager.create("s1", "u1")
    await manager.get(created.sandbox.id, 5)
    await manager.pool.tend()

    assert created.sandbox.id != member.id
    assert member.id not in manager.runtime.things
    assert (await warm(manager)).fingerprint == "fingerprint-2"


@pytest.mark.parametrize("fault", ["start", "restless", "silent"])
async def test_what_can_not_be_booted_leaves_nothing_and_is_not_tried_at_once(fault: str) -> None:
    manager = ManagerHarness(pool_size=1)
    if fault == "start":
        manager.runtime.fail_start = StartFailedError("No room.", retryable=True)
    elif fault == "restless":
        manager.runtime.restless = True
    else:
        manager.runtime.fail_keep = EngineUnavailableError("It does not answer.")

    await manager.pool.tend()
    await manager.pool.tend()

    assert len(manager.runtime.starts) == 1
    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == set()
    assert await manager.registry.find(occupied=True) == []


async def test_nothing_is_booted_while_memory_is_short_or_somebody_starts() -> None:
    short = ManagerHarness(pool_size=1, room=Room(free=500, need=300))
    await short.pool.tend()
    assert short.runtime.starts == []

    busy = ManagerHarness(pool_size=1)
    busy.runtime.hold = asyncio.Event()
    await busy.create("s1", "u1")
    await asyncio.sleep(0)
    await busy.pool.tend()
    assert len([one for one in await busy.registry.find(occupied=True) if one.is_pooled]) == 0
    await busy.launcher.close()


async def test_only_one_manager_of_a_place_fills_the_pool_until_it_goes() -> None:
    one = ManagerHarness(pool_size=1)
    shared = {"registry": one.registry, "runtime": one.runtime, "clock": one.clock, "leases": one.leases}
    two = ManagerHarness(**shared, pool_size=2, owner="manager-2")
    await warm(one)

    await two.pool.tend()
    while_there = len(one.runtime.things)
    await one.pool.leave()
    await two.pool.tend()

    assert (while_there, len(one.runtime.things)) == (1, 2)


async def test_who_waits_for_room_goes_before_the_pool() -> None:
    manager = ManagerHarness(pool_size=1, max_total=1)
    first = await manager.ready()
    await manager.delete(first.id, keep_workspace=True)
    member = await warm(manager)

    waiting = await manager.create("s1", "u1")
    await manager.admission.pump()
    await manager.admission.pump()

    assert waiting.sandbox.status is Status.QUEUED
    assert (await manager.get(waiting.sandbox.id, 5)).status is Status.READY
    assert member.id not in manager.runtime.things


async def test_a_member_whose_boot_was_cut_off_is_removed_and_one_that_died_too() -> None:
    manager = ManagerHarness(pool_size=1)
    manager.runtime.hold = asyncio.Event()
    boot = asyncio.create_task(manager.pool.tend())
    while not manager.runtime.things:
        await asyncio.sleep(0)
    boot.cancel()
    await asyncio.wait({boot})
    manager.clock.move(_LONG)

    await manager.reconcile()

    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == set()
    manager.runtime.hold = None
    member = await warm(manager)
    manager.runtime.kill(member.id)
    await manager.reconcile()
    assert manager.runtime.workspaces == set()


async def test_a_manager_killed_in_the_middle_of_a_claim_leaves_nothing_to_the_next() -> None:
    one = ManagerHarness(pool_size=1)
    two = ManagerHarness(
        registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, owner="manager-2"
    )
    member = await warm(one)
    one.launcher.launch = lambda _: None  # type: ignore[method-assign]
    claimed = (await one.create("s1", "u1")).sandbox
    assert (claimed.id, claimed.status) == (member.id, Status.STARTING)

    await two.reconcile()
    assert (await two.get(member.id)).status is Status.STARTING
    one.clock.move(_LONG)
    await two.reconcile()
    again = await two.ready()

    assert again.id != member.id
    assert list(two.runtime.things) == [again.id]
    assert two.runtime.workspaces == {"s1"}


async def test_a_claim_given_up_in_its_middle_ends_with_nothing_left() -> None:
    manager = ManagerHarness(pool_size=1)
    await warm(manager)
    claim = asyncio.create_task(manager.create("s1", "u1"))
    while not (known := await manager.registry.find(session_id="s1")):
        await asyncio.sleep(0)

    await manager.delete(known[0].id, keep_workspace=False)
    await claim

    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == set()
    assert await manager.registry.find(occupied=True) == []


async def test_members_are_kept_alive_and_never_found_frozen_for_long() -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)
    manager.runtime.kept.clear()

    await manager.reconcile()
    await manager.runtime.pause(member.identity)
    await manager.reconcile()

    assert manager.runtime.kept == [member.id]
    assert not manager.runtime.things[member.id].paused
    assert (await manager.ready()).id == member.id


async def test_a_member_that_no_longer_rests_is_removed_and_one_that_is_silent_left() -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)

    manager.runtime.fail_keep = EngineUnavailableError("It does not answer.")
    await manager.reconcile()
    silent = list(manager.runtime.things)
    manager.runtime.fail_keep, manager.runtime.restless = None, True
    await manager.reconcile()

    assert silent == [member.id]
    assert manager.runtime.things == {}


async def test_the_pool_goes_with_the_stack() -> None:
    manager = ManagerHarness(pool_size=1)
    await warm(manager)

    await manager.remove_all()

    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == set()


async def test_a_pool_made_smaller_is_emptied() -> None:
    manager = ManagerHarness(pool_size=1)
    member = await warm(manager)
    smaller = ManagerHarness(
        registry=manager.registry, runtime=manager.runtime, clock=manager.clock, leases=manager.leases
    )

    await smaller.pool.tend()

    assert member.id not in manager.runtime.things
