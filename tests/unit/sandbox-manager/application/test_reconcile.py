from __future__ import annotations

import asyncio
from datetime import timedelta

from sandbox_manager.domain.sandbox import Status
from support.keeping import HARD, IDLE, Keeping
from support.sandboxes import new_identity, spec_of


async def test_what_nobody_owns_is_removed_and_its_workspace_kept() -> None:
    keeping = Keeping()
    stray = new_identity()
    await keeping.runtime.start(spec_of(stray))
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
    assert gone.reason == "The sandbox was idle for too long."
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

    assert (await keeping.get(ready.id)).reason == "The sandbox reached its longest lifetime."


async def test_a_start_whose_manager_died_fails_once_its_lease_is_over() -> None:
    dead = Keeping()
    dead.runtime.hold = asyncio.Event()
    created = await dead.create("s1", "u1")
    await asyncio.sleep(0)
    await dead.launcher.close()
    alive = Keeping(registry=dead.registry, runtime=dead.runtime, clock=dead.clock, owner="manager-2")

    await alive.reconcile()
    assert (await alive.get(created.sandbox.id)).status is Status.STARTING
    alive.clock.move(timedelta(seconds=16))
    await alive.reconcile()

    failed = await alive.get(created.sandbox.id)
    assert failed.status is Status.FAILED
    assert failed.retryable
    assert alive.runtime.things == {}


async def test_a_living_sandbox_survives_a_new_manager() -> None:
    old = Keeping()
    ready = await old.ready()
    new = Keeping(registry=old.registry, runtime=old.runtime, clock=old.clock, owner="manager-2")

    await new.reconcile()

    assert (await new.get(ready.id)) == ready
    assert list(new.runtime.things) == [ready.id]
