from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.admission import Room
from sandbox_manager.domain.errors import TotalLimitError, UserLimitError
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.keeping import Keeping


async def queued(keeping: Keeping, session_id: str, user_id: str) -> Sandbox:
    created = await keeping.create(session_id, user_id)
    assert created.sandbox.status is Status.QUEUED
    keeping.clock.move(timedelta(milliseconds=1))
    return created.sandbox


async def end(keeping: Keeping, sandbox: Sandbox) -> None:
    await keeping.delete(sandbox.id, keep_workspace=True)
    await keeping.admission.pump()


async def test_who_finds_no_room_waits_and_gets_the_place_that_becomes_free() -> None:
    keeping = Keeping(max_total=1)
    first = await keeping.ready("s1", "u1")
    waiting = await queued(keeping, "s2", "u2")
    assert await keeping.get.position(waiting) == 1

    await end(keeping, first)

    assert (await keeping.get(waiting.id, 5)).status is Status.READY
    assert list(keeping.runtime.things) == [waiting.id]


async def test_asking_again_keeps_the_place_in_line() -> None:
    keeping = Keeping(max_total=1)
    await keeping.ready("s1", "u1")
    waiting = await queued(keeping, "s2", "u2")
    later = await queued(keeping, "s3", "u3")

    again = await keeping.create("s2", "u2")

    assert (again.sandbox.id, again.is_new) == (waiting.id, False)
    assert await keeping.get.position(waiting) == 1
    assert await keeping.get.position(later) == 2


async def test_the_second_wish_of_one_user_comes_after_the_first_of_all_others() -> None:
    keeping = Keeping(max_total=1)
    await keeping.ready("s0", "u0")
    greedy = [await queued(keeping, f"a{n}", "greedy") for n in range(3)]
    modest = await queued(keeping, "b", "modest")

    places = [await keeping.get.position(one) for one in (*greedy, modest)]

    assert places == [1, 3, 4, 2]


async def test_two_managers_let_nobody_in_twice_and_never_more_than_there_is_room_for() -> None:
    one = Keeping(max_total=2)
    two = Keeping(
        registry=one.registry, runtime=one.runtime, clock=one.clock, leases=one.leases, max_total=2, owner="manager-2"
    )

    created = await asyncio.gather(*((one, two)[n % 2].create(f"s{n}", f"u{n}") for n in range(8)))
    for _ in range(5):
        await asyncio.gather(one.admission.pump(), two.admission.pump())

    assert [answer.sandbox.status for answer in created].count(Status.STARTING) == 2
    occupied = await one.registry.find(occupied=True)
    assert sum(sandbox.holds_memory for sandbox in occupied) == 2
    assert len(one.runtime.starts) == 2
    await one.launcher.close()
    await two.launcher.close()


async def test_too_little_free_memory_makes_wait_until_there_is_more() -> None:
    keeping = Keeping(room=Room(free=500, need=300, reserve=300))
    waiting = await queued(keeping, "s1", "u1")
    await keeping.admission.pump()
    assert (await keeping.get(waiting.id)).status is Status.QUEUED

    keeping.room = Room(free=600, need=300, reserve=300)
    await keeping.admission.pump()

    assert (await keeping.get(waiting.id, 5)).status is Status.READY


async def test_what_starts_right_now_counts_as_if_it_had_taken_its_memory() -> None:
    keeping = Keeping(room=Room(free=700, need=300, reserve=0))
    keeping.runtime.hold = asyncio.Event()

    created = [await keeping.create(f"s{n}", f"u{n}") for n in range(3)]

    assert [one.sandbox.status for one in created] == [Status.STARTING, Status.STARTING, Status.QUEUED]
    await keeping.launcher.close()


async def test_waiting_in_vain_ends_with_a_reason_after_a_bounded_time() -> None:
    keeping = Keeping(max_total=1)
    await keeping.ready("s1", "u1")
    waiting = await queued(keeping, "s2", "u2")
    for _ in range(31):
        keeping.clock.move(timedelta(seconds=10))
        await keeping.renew(waiting.id) if (await keeping.get(waiting.id)).lives else None
        await keeping.admission.pump()

    over = await keeping.get(waiting.id)

    assert (over.status, over.retryable, over.occupied) == (Status.FAILED, True, False)
    assert over.reason == "No computer became free within 5 minutes: all 1 are in use. Try again later."


async def test_one_nobody_waits_for_any_more_leaves_the_line() -> None:
    keeping = Keeping(max_total=1)
    first = await keeping.ready("s1", "u1")
    left = await queued(keeping, "s2", "u2")
    keeping.clock.move(timedelta(seconds=20))
    stays = await queued(keeping, "s3", "u3")
    keeping.clock.move(timedelta(seconds=15))

    await end(keeping, first)

    assert (await keeping.get(left.id)).status is Status.GONE
    assert (await keeping.get(stays.id, 5)).status is Status.READY


async def test_a_stopped_wish_leaves_the_line_but_what_got_its_turn_stays() -> None:
    keeping = Keeping(max_total=1)
    first = await keeping.ready("s1", "u1")
    waiting = await queued(keeping, "s2", "u2")

    await keeping.delete(waiting.id, keep_workspace=True, only_queued=True)
    await keeping.delete(first.id, keep_workspace=True, only_queued=True)

    assert not (await keeping.get(waiting.id)).occupied
    assert (await keeping.get(first.id)).status is Status.READY


async def test_what_runs_and_what_waits_counts_against_the_users_limit() -> None:
    keeping = Keeping(max_per_user=2, max_total=1)
    await keeping.ready("s1", "u1")
    await queued(keeping, "s2", "u1")

    with pytest.raises(UserLimitError, match="2 running computers"):
        await keeping.create("s3", "u1")


async def test_a_line_that_is_full_refuses_at_once() -> None:
    keeping = Keeping(max_total=1, max_queued=1)
    await keeping.ready("s1", "u1")
    await queued(keeping, "s2", "u2")

    with pytest.raises(TotalLimitError):
        await keeping.create("s3", "u3")


async def test_a_start_whose_manager_died_right_after_it_was_let_in_frees_its_place() -> None:
    dead = Keeping(max_total=1)
    dead.runtime.hold = asyncio.Event()
    await dead.create("s1", "u1")
    await asyncio.sleep(0)
    alive = Keeping(
        registry=dead.registry,
        runtime=dead.runtime,
        clock=dead.clock,
        leases=dead.leases,
        max_total=1,
        owner="manager-2",
    )
    dead.runtime.hold = None
    waiting = await queued(alive, "s2", "u2")

    alive.clock.move(timedelta(seconds=16))
    await alive.reconcile()
    await alive.admission.pump()

    assert (await alive.get(waiting.id, 5)).status is Status.READY
    await dead.launcher.close()
