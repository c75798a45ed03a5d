from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.application.presence import PRESENT
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Found, Report
from sandbox_manager.domain.sandbox import Identity, Status
from sandbox_manager.infrastructure.runtimes.sandbox_profile import report_of
from support.manager_harness import HARD, IDLE, PAUSE, ManagerHarness
from support.sandboxes import new_identity, spec_of


async def test_what_nobody_owns_is_removed_and_its_workspace_kept() -> None:
    manager = ManagerHarness()
    stray = new_identity()
    await manager.runtime.start_sandbox(spec_of(stray))
    kept = await manager.ready()

    await manager.reconcile()

    assert list(manager.runtime.things) == [kept.id]
    assert stray.session_id in manager.runtime.workspaces


async def test_what_died_is_gone_with_a_reason_and_its_place_is_free() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.runtime.kill(ready.id)

    await manager.reconcile()

    gone = await manager.get(ready.id)
    assert (gone.status, gone.reason, gone.occupied) == (Status.GONE, "The sandbox was killed.", False)
    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == {"s1"}


async def test_what_was_removed_from_outside_is_gone() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.runtime.things.clear()

    await manager.reconcile()

    assert (await manager.get(ready.id)).status is Status.GONE


async def test_what_becomes_ready_while_others_are_found_lives_on() -> None:
    manager = ManagerHarness()
    dead = await manager.ready("s1", "u1")
    find_all = manager.runtime.found

    async def slow() -> list[Found]:
        found = await find_all()
        manager.runtime.found = find_all
        await manager.ready("s2", "u2")
        manager.runtime.kill(dead.id)
        return found

    manager.runtime.found = slow

    await manager.reconcile()

    (ready,) = await manager.registry.find(session_id="s2")
    assert ready.status is Status.READY
    assert list(manager.runtime.things) == [ready.id]


async def test_idle_for_too_long_ends_a_sandbox_and_keeps_its_workspace() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.clock.move(IDLE - timedelta(seconds=1))
    await manager.reconcile()
    assert (await manager.get(ready.id)).status is Status.READY

    manager.clock.move(timedelta(seconds=1))
    await manager.reconcile()

    gone = await manager.get(ready.id)
    assert gone.status is Status.GONE
    assert gone.reason == "The computer was not used for too long."
    assert manager.runtime.things == {}
    assert manager.runtime.workspaces == {"s1"}


async def test_renewing_moves_the_idle_end_but_not_the_hard_one() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    for _ in range(47):
        manager.clock.move(timedelta(minutes=30))
        await manager.renew(ready.id)
        await manager.reconcile()
    assert (await manager.get(ready.id)).status is Status.READY

    manager.clock.move(HARD - timedelta(minutes=47 * 30))
    await manager.reconcile()

    assert (await manager.get(ready.id)).reason == "The computer reached its maximum lifetime."


async def test_a_start_whose_manager_died_fails_once_its_lease_is_over() -> None:
    dead = ManagerHarness()
    dead.runtime.hold = asyncio.Event()
    created = await dead.create("s1", "u1")
    await asyncio.sleep(0)
    alive = ManagerHarness(registry=dead.registry, runtime=dead.runtime, clock=dead.clock, owner="manager-2")

    await alive.reconcile()
    assert (await alive.get(created.sandbox.id)).status is Status.STARTING
    alive.clock.move(timedelta(seconds=16))
    await alive.reconcile()

    failed = await alive.get(created.sandbox.id)
    assert failed.status is Status.FAILED
    assert failed.retryable
    assert alive.runtime.things == {}
    await dead.launcher.close()


async def test_a_start_of_a_manager_that_stopped_well_is_undone_at_once() -> None:
    stopped = ManagerHarness()
    stopped.runtime.hold = asyncio.Event()
    created = await stopped.create("s1", "u1")
    await asyncio.sleep(0)
    await stopped.launcher.close()
    other = ManagerHarness(registry=stopped.registry, runtime=stopped.runtime, clock=stopped.clock, owner="manager-2")

    await other.reconcile()

    assert (await other.get(created.sandbox.id)).status is Status.FAILED
    assert other.runtime.things == {}


async def test_what_is_at_another_place_is_left_to_its_managers_and_given_up_only_without_any() -> None:
    there = ManagerHarness()
    there.runtime.where = "there"
    ready = await there.ready()
    await there.presence.renew()
    here = ManagerHarness(registry=there.registry, clock=there.clock, leases=there.leases, owner="manager-2")

    await here.reconcile()
    here.clock.move(timedelta(minutes=9))
    await here.reconcile()
    assert (await here.get(ready.id)).status is Status.READY
    here.clock.move(timedelta(minutes=2))
    await here.reconcile()

    over = await here.get(ready.id)
    assert (over.status, over.occupied, over.reason) == (Status.GONE, False, "The machine it ran on is unavailable.")
    assert list(there.runtime.things) == [ready.id]


async def test_a_sandbox_that_is_used_inside_is_not_idle() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.runtime.unused_s[ready.id] = 60.0
    manager.clock.move(IDLE + timedelta(seconds=1))

    await manager.reconcile()

    kept = await manager.get(ready.id)
    assert kept.status is Status.READY
    assert kept.idle_expires_at == manager.clock.now() + IDLE - timedelta(minutes=1)


async def test_an_end_that_comes_near_is_told_once_and_taken_back_when_it_is_used() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.clock.move(IDLE - timedelta(minutes=4))
    await manager.reconcile()
    await manager.reconcile()
    warned = await manager.get(ready.id)

    renewed = await manager.renew(ready.id)

    assert warned.notice is not None
    assert "removed in 4 minutes" in warned.notice
    assert warned.revision == ready.revision + 1
    assert (renewed.notice, renewed.revision) == (None, warned.revision + 1)


async def test_a_longest_lifetime_that_ends_is_told_before() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    for _ in range(47):
        manager.clock.move(timedelta(minutes=30))
        await manager.renew(ready.id)
    manager.clock.move(timedelta(minutes=26))

    await manager.reconcile()

    assert "maximum lifetime in 4 minutes" in ((await manager.get(ready.id)).notice or "")


async def test_two_sweeps_at_once_remove_a_dead_sandbox_once() -> None:
    one = ManagerHarness()
    two = ManagerHarness(
        registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, owner="manager-2"
    )
    ready = await one.ready()
    one.runtime.kill(ready.id)
    one.runtime.removals.clear()

    await asyncio.gather(one.reconcile(), two.reconcile())

    assert one.runtime.removals == [ready.id]


async def test_only_the_last_manager_of_a_place_leaves_nobody_behind() -> None:
    one = ManagerHarness()
    two = ManagerHarness(
        registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, owner="manager-2"
    )
    await one.presence.renew()
    await two.presence.renew()

    assert not await one.presence.leave()
    assert await two.presence.leave()


async def test_the_lease_of_a_manager_that_was_killed_keeps_nothing() -> None:
    killed = ManagerHarness()
    after = ManagerHarness(
        registry=killed.registry, runtime=killed.runtime, clock=killed.clock, leases=killed.leases, owner="manager-2"
    )
    await killed.presence.renew()
    await after.presence.renew()
    after.ended.add(killed.owner)

    assert await after.presence.leave()


async def test_the_lease_of_a_manager_nobody_knows_of_any_more_keeps_nothing() -> None:
    """Gone without a word, on a machine where nobody can see whether it has ended."""
    gone = ManagerHarness()
    after = ManagerHarness(
        registry=gone.registry, runtime=gone.runtime, clock=gone.clock, leases=gone.leases, owner="manager-2"
    )
    await gone.presence.renew()
    gone.clock.move(PRESENT)
    await after.presence.renew()

    assert await after.presence.leave()


async def test_a_living_sandbox_survives_a_new_manager() -> None:
    old = ManagerHarness()
    ready = await old.ready()
    new = ManagerHarness(registry=old.registry, runtime=old.runtime, clock=old.clock, owner="manager-2")

    await new.reconcile()

    assert (await new.get(ready.id)) == ready
    assert list(new.runtime.things) == [ready.id]


async def test_what_stayed_frozen_without_any_manager_is_ended_by_the_first_sweep_of_the_next_one() -> None:
    manager = ManagerHarness()
    late, still_good = [await manager.ready(session_id) for session_id in ("late", "good")]
    await manager.pause(late.id)
    stray = new_identity()  # its database was put back, and knows nothing of it
    await manager.runtime.start_sandbox(spec_of(stray))
    await manager.runtime.pause(stray)
    manager.clock.move(PAUSE + timedelta(seconds=1))
    await manager.renew(still_good.id)
    await manager.pause(still_good.id)

    following = ManagerHarness(
        registry=manager.registry, runtime=manager.runtime, clock=manager.clock, owner="manager-2"
    )
    await following.reconcile()

    found = {one.identity.sandbox_id: one.paused for one in await manager.runtime.found()}
    assert found == {still_good.id: True}
    assert sorted(manager.runtime.removals) == sorted([late.id, stray.sandbox_id])
    assert (await following.renew(still_good.id)).status is Status.READY
    assert not (await manager.runtime.found())[0].paused


@pytest.mark.parametrize("what", ["idle", "over"])
async def test_one_somebody_works_on_is_left_to_them_without_a_word(
    what: str, caplog: pytest.LogCaptureFixture
) -> None:
    manager = ManagerHarness()
    other = ManagerHarness(registry=manager.registry, runtime=manager.runtime, clock=manager.clock, owner="manager-2")
    ready = await manager.ready()
    if what == "over":
        manager.runtime.unavailable = EngineUnavailableError("The engine is away.")
        with pytest.raises(EngineUnavailableError):
            await manager.delete(ready.id, keep_workspace=True)
        manager.runtime.unavailable = None
    else:
        await manager.runtime.pause(ready.identity)

    async with other.clean.work.on(ready.id, wait_s=0):
        await manager.reconcile()

    assert "sandbox not reconciled" not in caplog.text
    assert ready.id in manager.runtime.things


async def test_one_that_can_not_be_seen_to_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    await manager.runtime.pause(ready.identity)
    manager.runtime.fail_resume = EngineUnavailableError("It does not wake.")

    await manager.reconcile()

    assert "sandbox not reconciled" in caplog.text


async def test_an_answer_nobody_can_read_stops_neither_the_sweep_nor_the_ones_own_clock() -> None:
    manager = ManagerHarness()
    manager.runtime.fail_keep = OverflowError("cannot convert float infinity to integer")
    hostile, good = await manager.ready("hostile"), await manager.ready("good")
    manager.runtime.kill(good.id)

    await manager.reconcile()
    assert (await manager.get(hostile.id)).status is Status.READY
    assert (await manager.get(good.id)).status is Status.GONE

    manager.clock.move(HARD)
    await manager.reconcile()
    assert (await manager.get(hostile.id)).status is Status.GONE


async def test_one_that_can_not_be_removed_keeps_nobody_else_from_being_removed() -> None:
    manager = ManagerHarness()
    strays = [new_identity() for _ in range(3)]
    for stray in strays:
        await manager.runtime.start_sandbox(spec_of(stray))
    remove, bad = manager.runtime.remove, strays[0].sandbox_id

    async def removing(identity: Identity, *, keep_workspace: bool) -> None:
        if identity.sandbox_id == bad:
            raise RecursionError
        await remove(identity, keep_workspace=keep_workspace)

    manager.runtime.remove = removing
    await manager.reconcile()
    assert list(manager.runtime.things) == [bad]

    manager.runtime.remove = remove
    await manager.reconcile()
    assert manager.runtime.things == {}


@pytest.mark.parametrize(
    "told",
    [
        '{"unused_s": 1, "disk_bytes": Infinity}',
        '{"unused_s": NaN}',
        '{"unused_s": -1}',
        '{"unused_s": 1e300}',
        '{"unused_s": 1, "disk_bytes": -5}',
        '{"unused_s": 1, "disk_bytes": 1e300}',
        '{"unused_s": "1e999"}',
        "[" * 100_000,
        "9" * 5_000,
        "null",
    ],
)
def test_what_is_no_report_is_read_as_none(told: str) -> None:
    with pytest.raises(EngineUnavailableError):
        report_of(told)


async def test_a_death_that_is_heard_of_while_the_sandbox_is_looked_at_is_not_left_to_the_next_sweep() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    held, asked = asyncio.Event(), asyncio.Event()
    answer = manager.runtime.keep_alive

    async def slow(identity: Identity, endpoint: str, token: str) -> Report:
        report = await answer(identity, endpoint, token)
        asked.set()
        await held.wait()
        return report

    manager.runtime.keep_alive = slow
    sweep = asyncio.create_task(manager.reconcile())
    await asyncio.wait_for(asked.wait(), 5)
    manager.runtime.kill(ready.id)
    await manager.reconcile.one(ready.id)
    held.set()
    await sweep

    async with asyncio.timeout(5):
        while (await manager.get(ready.id)).status is not Status.GONE:
            await asyncio.sleep(0)
    await manager.reconcile.each.aclose()
