from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError, SandboxNotReadyError, SandboxOverError
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.manager_harness import IDLE, PAUSE, ManagerHarness


async def paused(manager: ManagerHarness) -> Sandbox:
    ready = await manager.ready()
    return await manager.pause(ready.id)


async def test_pausing_and_resuming_twice_is_no_error_and_moves_the_end() -> None:
    manager = ManagerHarness()
    one = await paused(manager)
    again = await manager.pause(one.id)
    assert (one.status, again.status) == (Status.PAUSED, Status.PAUSED)
    assert one.idle_expires_at == manager.clock.now() + PAUSE
    assert manager.runtime.things[one.id].paused

    resumed = await manager.resume(one.id)
    assert (resumed.status, (await manager.resume(one.id)).status) == (Status.READY, Status.READY)
    assert resumed.idle_expires_at == manager.clock.now() + IDLE
    assert not manager.runtime.things[one.id].paused


@pytest.mark.parametrize("use", ["token", "renew", "create"])
async def test_whoever_uses_a_paused_sandbox_wakes_it(use: str) -> None:
    manager = ManagerHarness()
    sandbox = await paused(manager)

    if use == "token":
        await manager.mint(sandbox.id, ["exec"], timedelta(minutes=5))
    elif use == "renew":
        await manager.renew(sandbox.id)
    else:
        assert (await manager.create("s1", "u1")).sandbox.status is Status.READY

    assert (await manager.get(sandbox.id)).status is Status.READY
    assert not manager.runtime.things[sandbox.id].paused


async def test_an_engine_that_refuses_to_pause_leaves_it_running() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.runtime.fail_pause = EngineUnavailableError("Not today.")

    with pytest.raises(EngineUnavailableError):
        await manager.pause(ready.id)

    assert (await manager.get(ready.id)).status is Status.READY


async def test_one_that_died_while_paused_is_given_up_and_the_next_use_makes_another() -> None:
    manager = ManagerHarness()
    sandbox = await paused(manager)
    manager.runtime.kill(sandbox.id)

    again = await manager.ready()

    assert (again.status, again.identity.generation) == (Status.READY, 2)
    assert (await manager.get(sandbox.id)).status is Status.GONE
    assert list(manager.runtime.things) == [again.id]


async def test_one_that_is_only_out_of_reach_is_kept() -> None:
    manager = ManagerHarness()
    sandbox = await paused(manager)
    manager.runtime.fail_resume = EngineUnavailableError("Busy.")

    with pytest.raises(EngineUnavailableError):
        await manager.resume(sandbox.id)

    assert (await manager.get(sandbox.id)).status is Status.PAUSED


async def test_what_starts_or_is_over_can_neither_be_paused_nor_resumed() -> None:
    manager = ManagerHarness()
    manager.runtime.hold = asyncio.Event()
    starting = (await manager.create("s1", "u1")).sandbox
    await asyncio.sleep(0)
    with pytest.raises(SandboxNotReadyError):
        await manager.resume(starting.id)

    await manager.delete(starting.id, keep_workspace=True)
    for change in (manager.pause, manager.resume):
        with pytest.raises(SandboxOverError):
            await change(starting.id)


async def test_the_idle_are_paused_unless_they_were_used_meanwhile() -> None:
    manager = ManagerHarness()
    ready = await manager.ready()
    manager.clock.move(IDLE)
    await manager.renew(ready.id)
    assert (await manager.pause.when_idle(ready)).status is Status.READY

    manager.clock.move(IDLE)
    assert (await manager.pause.when_idle(await manager.get(ready.id))).status is Status.PAUSED


async def test_a_record_and_what_is_found_are_made_to_agree() -> None:
    manager = ManagerHarness()
    sandbox = await paused(manager)
    await manager.runtime.resume(sandbox.identity)
    await manager.reconcile()
    assert manager.runtime.things[sandbox.id].paused

    await manager.resume(sandbox.id)
    await manager.runtime.pause(sandbox.identity)
    manager.runtime.unused_s[sandbox.id] = 0
    await manager.reconcile()
    assert not manager.runtime.things[sandbox.id].paused
