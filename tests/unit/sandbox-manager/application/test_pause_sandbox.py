from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.errors import EngineUnavailableError, SandboxNotReadyError, SandboxOverError
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.keeping import IDLE, PAUSE, Keeping


async def paused(keeping: Keeping) -> Sandbox:
    ready = await keeping.ready()
    return await keeping.pause(ready.id)


async def test_pausing_and_resuming_twice_is_no_error_and_moves_the_end() -> None:
    keeping = Keeping()
    one = await paused(keeping)
    again = await keeping.pause(one.id)
    assert (one.status, again.status) == (Status.PAUSED, Status.PAUSED)
    assert one.idle_expires_at == keeping.clock.now() + PAUSE
    assert keeping.runtime.things[one.id].paused

    resumed = await keeping.resume(one.id)
    assert (resumed.status, (await keeping.resume(one.id)).status) == (Status.READY, Status.READY)
    assert resumed.idle_expires_at == keeping.clock.now() + IDLE
    assert not keeping.runtime.things[one.id].paused


@pytest.mark.parametrize("use", ["token", "renew", "create"])
async def test_whoever_uses_a_paused_sandbox_wakes_it(use: str) -> None:
    keeping = Keeping()
    sandbox = await paused(keeping)

    if use == "token":
        await keeping.mint(sandbox.id, ["exec"], timedelta(minutes=5))
    elif use == "renew":
        await keeping.renew(sandbox.id)
    else:
        assert (await keeping.create("s1", "u1")).sandbox.status is Status.READY

    assert (await keeping.get(sandbox.id)).status is Status.READY
    assert not keeping.runtime.things[sandbox.id].paused


async def test_an_engine_that_refuses_to_pause_leaves_it_running() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.runtime.fail_pause = EngineUnavailableError("Not today.")

    with pytest.raises(EngineUnavailableError):
        await keeping.pause(ready.id)

    assert (await keeping.get(ready.id)).status is Status.READY


async def test_one_that_died_while_paused_is_given_up_and_the_next_use_makes_another() -> None:
    keeping = Keeping()
    sandbox = await paused(keeping)
    keeping.runtime.kill(sandbox.id)

    again = await keeping.ready()

    assert (again.status, again.identity.generation) == (Status.READY, 2)
    assert (await keeping.get(sandbox.id)).status is Status.GONE
    assert list(keeping.runtime.things) == [again.id]


async def test_one_that_is_only_out_of_reach_is_kept() -> None:
    keeping = Keeping()
    sandbox = await paused(keeping)
    keeping.runtime.fail_resume = EngineUnavailableError("Busy.")

    with pytest.raises(EngineUnavailableError):
        await keeping.resume(sandbox.id)

    assert (await keeping.get(sandbox.id)).status is Status.PAUSED


async def test_what_starts_or_is_over_can_neither_be_paused_nor_resumed() -> None:
    keeping = Keeping()
    keeping.runtime.hold = asyncio.Event()
    starting = (await keeping.create("s1", "u1")).sandbox
    await asyncio.sleep(0)
    with pytest.raises(SandboxNotReadyError):
        await keeping.resume(starting.id)

    await keeping.delete(starting.id, keep_workspace=True)
    for change in (keeping.pause, keeping.resume):
        with pytest.raises(SandboxOverError):
            await change(starting.id)


async def test_the_idle_are_paused_unless_they_were_used_meanwhile() -> None:
    keeping = Keeping()
    ready = await keeping.ready()
    keeping.clock.move(IDLE)
    await keeping.renew(ready.id)
    assert (await keeping.pause.when_idle(ready)).status is Status.READY

    keeping.clock.move(IDLE)
    assert (await keeping.pause.when_idle(await keeping.get(ready.id))).status is Status.PAUSED


async def test_a_record_and_what_is_found_are_made_to_agree() -> None:
    keeping = Keeping()
    sandbox = await paused(keeping)
    await keeping.runtime.resume(sandbox.identity)
    await keeping.reconcile()
    assert keeping.runtime.things[sandbox.id].paused

    await keeping.resume(sandbox.id)
    await keeping.runtime.pause(sandbox.identity)
    keeping.runtime.unused_s[sandbox.id] = 0
    await keeping.reconcile()
    assert not keeping.runtime.things[sandbox.id].paused
