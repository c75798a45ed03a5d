from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Report
from sandbox_manager.domain.sandbox import Identity, Status
from sandbox_manager.infrastructure.runtimes.inside import report_of
from support.keeping import HARD, IDLE, PAUSE, Keeping
from support.sandboxes import new_identity, spec_of


async def test_what_nobody_owns_is_removed_and_its_workspace_kept() -> None:
    keeping = Keeping()
    stray = new_identity()
    await keeping.runtime.start_sandbox(spec_of(stray))
    kept = await keeping.ready()

    await keeping.reconcile()

    assert list(keeping.runtime.things) == [kept.id]
    assert stray.session_id in keeping.runtime.workspaces


async def test_what_died_is_gone_with_a_reason_and_its_place_is_free() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.runtime.kill(ready.id)

    await keeping.reconcile()

    gone = await keeping.get(ready.id)
    assert (gone.status, gone.reason, gone.occupied) == (Status.GONE, "The sandbox was killed.", False)
    assert keeping.runtime.things == {}
    assert keeping.runtime.workspaces == {"s1"}


async def test_what_was_removed_from_outside_is_gone() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.runtime.things.clear()

    await keeping.reconcile()

    assert (await keeping.get(ready.id)).status is Status.GONE


async def test_idle_for_too_long_ends_a_sandbox_and_keeps_its_workspace() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.clock.move(IDLE - timedelta(seconds=1))
    await keeping.reconcile()
    assert (await keeping.get(ready.id)).status is Status.READY

    keeping.clock.move(timedelta(seconds=1))
    await keeping.reconcile()

    gone = await keeping.get(ready.id)
    assert gone.status is Status.GONE
    assert gone.reason == "Nobody used the computer for too long."
    assert keeping.runtime.things == {}
    assert keeping.runtime.workspaces == {"s1"}


async def test_renewing_moves_the_idle_end_but_not_the_hard_one() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    for _ in range(47):
        keeping.clock.move(timedelta(minutes=30))
        await keeping.renew(ready.id)
        await keeping.reconcile()
    assert (await keeping.get(ready.id)).status is Status.READY

    keeping.clock.move(HARD - timedelta(minutes=47 * 30))
    await keeping.reconcile()

    assert (await keeping.get(ready.id)).reason == "The computer reached its longest lifetime."


async def test_a_start_whose_manager_died_fails_once_its_lease_is_over() -> None:
    dead = Keeping()
    dead.runtime.hold = asyncio.Event()
    created = await dead.create("s1", "u1")
    await asyncio.sleep(0)
    alive = Keeping(registry=dead.registry, runtime=dead.runtime, clock=dead.clock, owner="manager-2")

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
    stopped = Keeping()
    stopped.runtime.hold = asyncio.Event()
    created = await stopped.create("s1", "u1")
    await asyncio.sleep(0)
    await stopped.launcher.close()
    other = Keeping(registry=stopped.registry, runtime=stopped.runtime, clock=stopped.clock, owner="manager-2")

    await other.reconcile()

    assert (await other.get(created.sandbox.id)).status is Status.FAILED
    assert other.runtime.things == {}


async def test_what_is_at_another_place_is_left_to_its_managers_and_given_up_only_without_any() -> None:
    there = Keeping()
    there.runtime.where = "there"
    ready = await there.ready()
    await there.presence.tell()
    here = Keeping(registry=there.registry, clock=there.clock, leases=there.leases, owner="manager-2")

    await here.reconcile()
    here.clock.move(timedelta(minutes=9))
    await here.reconcile()
    assert (await here.get(ready.id)).status is Status.READY
    here.clock.move(timedelta(minutes=2))
    await here.reconcile()

    over = await here.get(ready.id)
    assert (over.status, over.occupied, over.reason) == (Status.GONE, False, "The machine it ran on is away.")
    assert list(there.runtime.things) == [ready.id]


async def test_a_sandbox_that_is_used_inside_is_not_idle() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.runtime.unused_s[ready.id] = 60.0
    keeping.clock.move(IDLE + timedelta(seconds=1))

    await keeping.reconcile()

    kept = await keeping.get(ready.id)
    assert kept.status is Status.READY
    assert kept.idle_expires_at == keeping.clock.now() + IDLE - timedelta(minutes=1)


async def test_an_end_that_comes_near_is_told_once_and_taken_back_when_it_is_used() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.clock.move(IDLE - timedelta(minutes=4))
    await keeping.reconcile()
    await keeping.reconcile()
    warned = await keeping.get(ready.id)

    renewed = await keeping.renew(ready.id)

    assert warned.notice is not None
    assert "removed in 4 minutes" in warned.notice
    assert warned.revision == ready.revision + 1
    assert (renewed.notice, renewed.revision) == (None, warned.revision + 1)


async def test_a_longest_lifetime_that_ends_is_told_before() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    for _ in range(47):
        keeping.clock.move(timedelta(minutes=30))
        await keeping.renew(ready.id)
    keeping.clock.move(timedelta(minutes=26))

    await keeping.reconcile()

    assert "longest lifetime in 4 minutes" in ((await keeping.get(ready.id)).notice or "")


async def test_two_sweeps_at_once_remove_a_dead_sandbox_once() -> None:
    one = Keeping()
    two = Keeping(registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, owner="manager-2")
    ready = await one.ready()
    one.runtime.kill(ready.id)
    one.runtime.removals.clear()

    await asyncio.gather(one.reconcile(), two.reconcile())

    assert one.runtime.removals == [ready.id]


async def test_only_the_last_manager_of_a_place_leaves_nobody_behind() -> None:
    one = Keeping()
    two = Keeping(registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, owner="manager-2")
    await one.presence.tell()
    await two.presence.tell()

    assert not await one.presence.leave()
    assert await two.presence.leave()


async def test_a_living_sandbox_survives_a_new_manager() -> None:
    old = Keeping()
    ready = await old.ready()
    new = Keeping(registry=old.registry, runtime=old.runtime, clock=old.clock, owner="manager-2")

    await new.reconcile()

    assert (await new.get(ready.id)) == ready
    assert list(new.runtime.things) == [ready.id]


async def test_what_stayed_frozen_without_any_manager_is_ended_by_the_first_sweep_of_the_next_one() -> None:
    keeping = Keeping()
    late, still_good = [await keeping.ready(session_id) for session_id in ("late", "good")]
    await keeping.pause(late.id)
    stray = new_identity()  # its database was put back, and knows nothing of it
    await keeping.runtime.start_sandbox(spec_of(stray))
    await keeping.runtime.pause(stray)
    keeping.clock.move(PAUSE + timedelta(seconds=1))
    await keeping.renew(still_good.id)
    await keeping.pause(still_good.id)

    following = Keeping(registry=keeping.registry, runtime=keeping.runtime, clock=keeping.clock, owner="manager-2")
    await following.reconcile()

    found = {one.identity.sandbox_id: one.paused for one in await keeping.runtime.found()}
    assert found == {still_good.id: True}
    assert sorted(keeping.runtime.removals) == sorted([late.id, stray.sandbox_id])
    assert (await following.renew(still_good.id)).status is Status.READY
    assert not (await keeping.runtime.found())[0].paused


@pytest.mark.parametrize("what", ["idle", "over"])
async def test_one_somebody_works_on_is_left_to_them_without_a_word(
    what: str, caplog: pytest.LogCaptureFixture
) -> None:
    keeping = Keeping()
    other = Keeping(registry=keeping.registry, runtime=keeping.runtime, clock=keeping.clock, owner="manager-2")
    ready = await keeping.ready()
    if what == "over":
        keeping.runtime.unavailable = EngineUnavailableError("The engine is away.")
        with pytest.raises(EngineUnavailableError):
            await keeping.delete(ready.id, keep_workspace=True)
        keeping.runtime.unavailable = None
    else:
        await keeping.runtime.pause(ready.identity)

    async with other.clean.work.on(ready.id, wait_s=0):
        await keeping.reconcile()

    assert "sandbox not reconciled" not in caplog.text
    assert ready.id in keeping.runtime.things


async def test_one_that_can_not_be_seen_to_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    await keeping.runtime.pause(ready.identity)
    keeping.runtime.fail_resume = EngineUnavailableError("It does not wake.")

    await keeping.reconcile()

    assert "sandbox not reconciled" in caplog.text


async def test_an_answer_nobody_can_read_stops_neither_the_sweep_nor_the_ones_own_clock() -> None:
    keeping = Keeping()
    keeping.runtime.fail_keep = OverflowError("cannot convert float infinity to integer")
    hostile, good = await keeping.ready("hostile"), await keeping.ready("good")
    keeping.runtime.kill(good.id)

    await keeping.reconcile()
    assert (await keeping.get(hostile.id)).status is Status.READY
    assert (await keeping.get(good.id)).status is Status.GONE

    keeping.clock.move(HARD)
    await keeping.reconcile()
    assert (await keeping.get(hostile.id)).status is Status.GONE


async def test_one_that_can_not_be_removed_keeps_nobody_else_from_being_removed() -> None:
    keeping = Keeping()
    strays = [new_identity() for _ in range(3)]
    for stray in strays:
        await keeping.runtime.start_sandbox(spec_of(stray))
    remove, bad = keeping.runtime.remove, strays[0].sandbox_id

    async def removing(identity: Identity, *, keep_workspace: bool) -> None:
        if identity.sandbox_id == bad:
            raise RecursionError
        await remove(identity, keep_workspace=keep_workspace)

    keeping.runtime.remove = removing
    await keeping.reconcile()
    assert list(keeping.runtime.things) == [bad]

    keeping.runtime.remove = remove
    await keeping.reconcile()
    assert keeping.runtime.things == {}


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
    keeping = Keeping()
    ready = await keeping.ready()
    held, asked = asyncio.Event(), asyncio.Event()
    answer = keeping.runtime.keep_alive

    async def slow(identity: Identity, endpoint: str, token: str) -> Report:
        report = await answer(identity, endpoint, token)
        asked.set()
        await held.wait()
        return report

    keeping.runtime.keep_alive = slow
    sweep = asyncio.create_task(keeping.reconcile())
    await asyncio.wait_for(asked.wait(), 5)
    keeping.runtime.kill(ready.id)
    await keeping.reconcile.one(ready.id)
    held.set()
    await sweep

    async with asyncio.timeout(5):
        while (await keeping.get(ready.id)).status is not Status.GONE:
            await asyncio.sleep(0)
    await keeping.reconcile.each.aclose()
