"""A paused sandbox that is used again is let in as a new one is: it counts, and waits where there is no room."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.admission import Room
from sandbox_manager.domain.errors import ElsewhereError, SandboxNotReadyError
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.manager_harness import ManagerHarness
from support.memory_manager.runtime import FakeRuntime

NO_ROOM = Room(free=200, need=300, reserve=250)
SOME_ROOM = Room(free=250, need=300, reserve=250)


async def paused(manager: ManagerHarness, session_id: str = "s1", user_id: str = "u1") -> Sandbox:
    return await manager.pause((await manager.ready(session_id, user_id)).id)


async def waiting(manager: ManagerHarness) -> Sandbox:
    sandbox = await paused(manager)
    manager.room = NO_ROOM
    return await manager.resume(sandbox.id)


def at_another_place(here: ManagerHarness) -> ManagerHarness:
    """A manager of the same deployment with an engine of its own."""
    runtime = FakeRuntime()
    runtime.where = "another-place"
    return ManagerHarness(
        registry=here.registry, runtime=runtime, clock=here.clock, leases=here.leases, owner="manager-2"
    )


async def test_one_woken_counts_against_its_users_limit() -> None:
    manager = ManagerHarness(max_per_user=2)
    sandbox = await paused(manager)
    await manager.ready("s2")
    await manager.ready("s3")

    for use in (manager.resume, manager.renew):
        assert (await use(sandbox.id)).shown is Status.QUEUED
    assert (await manager.create("s1", "u1")).sandbox.shown is Status.QUEUED
    with pytest.raises(SandboxNotReadyError, match="too many running"):
        await manager.mint(sandbox.id, ["exec"], timedelta(minutes=5))
    await manager.resume.in_line()

    assert manager.runtime.things[sandbox.id].paused
    assert await manager.get.place_in_line(sandbox) is None
    assert await manager.get.place_in_line(await manager.get(sandbox.id)) == (1, "user_limit")


async def test_two_wakings_at_once_do_not_both_take_the_last_place() -> None:
    one = ManagerHarness(max_per_user=2)
    two = ManagerHarness(
        registry=one.registry,
        runtime=one.runtime,
        clock=one.clock,
        leases=one.leases,
        max_per_user=2,
        owner="manager-2",
    )
    sandboxes = [await paused(one, f"s{n}") for n in range(2)]
    await one.ready("s2")

    answers = await asyncio.gather(one.resume(sandboxes[0].id), two.resume(sandboxes[1].id))
    await asyncio.gather(one.resume.in_line(), two.resume.in_line())

    assert sorted(answer.shown for answer in answers) == [Status.QUEUED, Status.READY]
    running = [thing for thing in one.runtime.things.values() if not thing.paused]
    assert len(running) == 2


async def test_one_that_is_about_to_be_woken_is_not_overtaken_by_a_new_one_of_its_user() -> None:
    manager = ManagerHarness(max_per_user=1)
    sandbox = await paused(manager)
    assert await manager.admission.request_wake(sandbox.id)

    new = (await manager.create("s2", "u1")).sandbox

    assert new.status is Status.QUEUED


async def test_one_of_the_user_that_nobody_used_of_late_is_paused_instead() -> None:
    manager = ManagerHarness(max_per_user=2)
    sandbox = await paused(manager)
    unused = await manager.ready("s2")
    manager.clock.move(timedelta(minutes=2))
    used = await manager.ready("s3")

    assert (await manager.resume(sandbox.id)).status is Status.READY

    assert [manager.runtime.things[one.id].paused for one in (unused, used)] == [True, False]
    assert (await manager.get(unused.id)).status is Status.PAUSED


@pytest.mark.parametrize("use", ["resume", "renew", "create"])
async def test_where_memory_is_short_it_stands_in_line_until_there_is_more(use: str) -> None:
    manager = ManagerHarness()
    sandbox = await paused(manager)
    manager.room = NO_ROOM

    if use == "create":
        answer = (await manager.create("s1", "u1")).sandbox
    else:
        answer = await {"resume": manager.resume, "renew": manager.renew}[use](sandbox.id)

    assert (answer.id, answer.shown) == (sandbox.id, Status.QUEUED)
    assert await manager.get.place_in_line(answer) == (1, "capacity")
    await manager.resume.in_line()
    assert manager.runtime.things[sandbox.id].paused

    manager.room = SOME_ROOM
    await manager.resume.in_line()

    woken = await manager.get(sandbox.id, 5)
    assert (woken.shown, woken.is_waiting, woken.identity.generation) == (Status.READY, False, 1)
    assert not manager.runtime.things[sandbox.id].paused


async def test_no_token_opens_the_endpoint_of_one_that_waits_to_be_woken() -> None:
    manager = ManagerHarness()
    sandbox = await waiting(manager)

    with pytest.raises(SandboxNotReadyError, match="not enough free memory"):
        await manager.mint(sandbox.id, ["exec"], timedelta(minutes=5))


async def test_others_that_are_only_kept_make_room_for_one_that_waits() -> None:
    manager = ManagerHarness()
    other = await paused(manager, "s2", "u2")
    sandbox = await waiting(manager)

    await manager.resume.in_line()

    assert (await manager.get(other.id)).status is Status.GONE
    assert (await manager.get(sandbox.id)).shown is Status.QUEUED


async def test_one_nobody_waits_for_any_more_goes_on_sleeping() -> None:
    manager = ManagerHarness()
    sandbox = await waiting(manager)
    manager.clock.move(timedelta(seconds=31))
    manager.room = SOME_ROOM

    await manager.resume.in_line()
    await manager.resume.in_line()

    assert (await manager.get(sandbox.id)).shown is Status.PAUSED
    assert manager.runtime.things[sandbox.id].paused


async def test_a_stopped_wish_to_wake_it_leaves_the_line_and_the_sandbox_as_it_was() -> None:
    manager = ManagerHarness()
    sandbox = await waiting(manager)

    await manager.delete(sandbox.id, keep_workspace=True, only_queued=True)

    left = await manager.get(sandbox.id)
    assert (left.shown, left.occupied) == (Status.PAUSED, True)
    assert manager.runtime.things[sandbox.id].paused


async def test_waiting_in_vain_to_be_woken_ends_with_a_reason_and_nothing_lost() -> None:
    manager = ManagerHarness()
    sandbox = await waiting(manager)
    for _ in range(31):
        manager.clock.move(timedelta(seconds=10))
        if (await manager.get(sandbox.id)).is_waiting:
            await manager.renew(sandbox.id)
        await manager.resume.in_line()

    left = await manager.get(sandbox.id)

    assert left.shown is Status.PAUSED
    assert left.reason == "There was not enough free memory to wake this computer within 5 minutes. Try again later."
    manager.room = SOME_ROOM
    assert (await manager.resume(sandbox.id)).reason is None


async def test_whose_machine_is_away_is_told_so_rather_than_of_room_elsewhere() -> None:
    here = ManagerHarness()
    sandbox = await paused(here)
    elsewhere = at_another_place(here)
    await elsewhere.create("s1", "u1")
    for _ in range(31):
        here.clock.move(timedelta(seconds=10))
        if (await elsewhere.get(sandbox.id)).is_waiting:
            await elsewhere.renew(sandbox.id)
        await elsewhere.resume.in_line()

    left = await elsewhere.get(sandbox.id)

    assert left.shown is Status.PAUSED
    assert left.reason is not None
    assert left.reason.startswith(
        "The machine that holds this session's files is unavailable, or had no capacity within 5 min"
    )


async def test_the_managers_of_its_place_wake_one_and_others_let_it_be() -> None:
    here = ManagerHarness()
    sandbox = await paused(here)
    elsewhere = at_another_place(here)

    asked = await elsewhere.create("s1", "u1")
    assert (asked.sandbox.id, asked.sandbox.shown) == (sandbox.id, Status.QUEUED)
    await elsewhere.resume.in_line()
    assert here.runtime.things[sandbox.id].paused

    await here.resume.in_line()

    assert (await elsewhere.get(sandbox.id, 5)).status is Status.READY
    with pytest.raises(ElsewhereError):
        await elsewhere.pause(sandbox.id)
    assert not here.runtime.things[sandbox.id].paused


async def test_a_session_whose_files_are_at_another_place_starts_there_again() -> None:
    here = ManagerHarness()
    elsewhere = at_another_place(here)
    await here.presence.renew()
    first = await here.ready()
    await here.delete(first.id, keep_workspace=True)

    asked = await elsewhere.create("s1", "u1")
    await elsewhere.resume.in_line()
    assert (asked.sandbox.status, elsewhere.runtime.starts) == (Status.QUEUED, [])
    await here.resume.in_line()

    again = await elsewhere.get(asked.sandbox.id, 5)
    assert (again.status, again.identity.generation, again.place) == (Status.READY, 2, here.runtime.where)


async def test_a_session_whose_place_is_gone_for_good_starts_anywhere() -> None:
    here = ManagerHarness()
    elsewhere = at_another_place(here)
    await here.presence.renew()
    first = await here.ready()
    await here.delete(first.id, keep_workspace=True)
    here.clock.move(timedelta(minutes=11))

    again = await elsewhere.ready()

    assert (again.status, again.place) == (Status.READY, "another-place")
