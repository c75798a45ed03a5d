from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.admission import Room
from sandbox_manager.domain.errors import TotalLimitError
from sandbox_manager.domain.sandbox import Sandbox, Status
from sandbox_manager.interfaces.http.to_wire import to_wire
from support.manager_harness import ManagerHarness


async def queued(manager: ManagerHarness, session_id: str, user_id: str) -> Sandbox:
    created = await manager.create(session_id, user_id)
    assert created.sandbox.status is Status.QUEUED
    manager.clock.move(timedelta(milliseconds=1))
    return created.sandbox


async def end(manager: ManagerHarness, sandbox: Sandbox) -> None:
    await manager.delete(sandbox.id, keep_workspace=True)
    await manager.admission.pump()


async def test_who_finds_no_room_waits_and_gets_the_place_that_becomes_free() -> None:
    manager = ManagerHarness(max_total=1)
    first = await manager.ready("s1", "u1")
    waiting = await queued(manager, "s2", "u2")
    assert await manager.get.place_in_line(waiting) == (1, "capacity")

    await end(manager, first)

    assert (await manager.get(waiting.id, 5)).status is Status.READY
    assert list(manager.runtime.things) == [waiting.id]


async def test_asking_again_keeps_the_place_in_line() -> None:
    manager = ManagerHarness(max_total=1)
    await manager.ready("s1", "u1")
    waiting = await queued(manager, "s2", "u2")
    later = await queued(manager, "s3", "u3")

    again = await manager.create("s2", "u2")

    assert (again.sandbox.id, again.is_new) == (waiting.id, False)
    assert await manager.get.place_in_line(waiting) == (1, "capacity")
    assert await manager.get.place_in_line(later) == (2, "capacity")


async def test_the_second_wish_of_one_user_comes_after_the_first_of_all_others() -> None:
    manager = ManagerHarness(max_total=1)
    await manager.ready("s0", "u0")
    greedy = [await queued(manager, f"a{n}", "greedy") for n in range(3)]
    modest = await queued(manager, "b", "modest")

    places = [await manager.get.place_in_line(one) for one in (*greedy, modest)]

    assert [place.position for place in places if place] == [1, 3, 4, 2]


async def test_two_managers_let_nobody_in_twice_and_never_more_than_there_is_room_for() -> None:
    one = ManagerHarness(max_total=2)
    two = ManagerHarness(
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
    manager = ManagerHarness(room=Room(free=500, need=300, reserve=300))
    waiting = await queued(manager, "s1", "u1")
    await manager.admission.pump()
    assert (await manager.get(waiting.id)).status is Status.QUEUED

    manager.room = Room(free=600, need=300, reserve=300)
    await manager.admission.pump()

    assert (await manager.get(waiting.id, 5)).status is Status.READY


async def test_what_starts_right_now_counts_as_if_it_had_taken_its_memory() -> None:
    manager = ManagerHarness(room=Room(free=700, need=300, reserve=0))
    manager.runtime.hold = asyncio.Event()

    created = [await manager.create(f"s{n}", f"u{n}") for n in range(3)]

    assert [one.sandbox.status for one in created] == [Status.STARTING, Status.STARTING, Status.QUEUED]
    await manager.launcher.close()


async def test_waiting_in_vain_ends_with_a_reason_after_a_bounded_time() -> None:
    manager = ManagerHarness(max_total=1)
    await manager.ready("s1", "u1")
    waiting = await queued(manager, "s2", "u2")
    for _ in range(31):
        manager.clock.move(timedelta(seconds=10))
        await manager.renew(waiting.id) if (await manager.get(waiting.id)).is_alive else None
        await manager.admission.pump()

    over = await manager.get(waiting.id)

    assert (over.status, over.retryable, over.occupied) == (Status.FAILED, True, False)
    assert over.reason == "No computer became free within 5 minutes: all 1 are in use. Try again later."


async def test_one_nobody_waits_for_any_more_leaves_the_line() -> None:
    manager = ManagerHarness(max_total=1)
    first = await manager.ready("s1", "u1")
    left = await queued(manager, "s2", "u2")
    manager.clock.move(timedelta(seconds=20))
    stays = await queued(manager, "s3", "u3")
    manager.clock.move(timedelta(seconds=15))

    await end(manager, first)

    assert (await manager.get(left.id)).status is Status.GONE
    assert (await manager.get(stays.id, 5)).status is Status.READY


async def test_a_stopped_wish_leaves_the_line_but_what_got_its_turn_stays() -> None:
    manager = ManagerHarness(max_total=1)
    first = await manager.ready("s1", "u1")
    waiting = await queued(manager, "s2", "u2")

    await manager.delete(waiting.id, keep_workspace=True, only_queued=True)
    await manager.delete(first.id, keep_workspace=True, only_queued=True)

    left = await manager.get(waiting.id)
    assert (left.occupied, left.retryable) == (False, True)
    assert (await manager.get(first.id)).status is Status.READY


async def test_a_start_that_is_given_up_in_line_leaves_what_was_there_before_it() -> None:
    manager = ManagerHarness(max_total=1)
    first = await manager.ready("s1", "u1")
    for _ in range(2):
        waiting = await queued(manager, "s2", "u2")
        await manager.delete(waiting.id, keep_workspace=True, only_queued=True)
        (listed,) = await manager.list(session_id="s2")
        assert (to_wire(listed).was_never_there, listed.identity) == (True, waiting.identity)
    await manager.delete(first.id, keep_workspace=True)
    before = await manager.ready("s2", "u2")
    await manager.delete(before.id, keep_workspace=True, reason="It was idle.")
    await manager.ready("s1", "u1")
    again = await queued(manager, "s2", "u2")
    assert [one.id for one in await manager.list(session_id="s2")] == [again.id]
    await manager.delete(again.id, keep_workspace=True, only_queued=True)

    (listed,) = await manager.list(session_id="s2")

    assert (listed.id, to_wire(listed).was_never_there, listed.reason) == (before.id, False, "It was idle.")


async def test_who_waits_for_others_of_the_same_user_stands_behind_those_who_wait_for_room() -> None:
    manager = ManagerHarness(max_per_user=2, max_total=1)
    await manager.ready("s1", "u1")
    own = [await queued(manager, f"a{n}", "u1") for n in range(2)]
    other = await queued(manager, "b", "u2")

    places = [await manager.get.place_in_line(one) for one in (*own, other)]

    assert places == [(1, "capacity"), (3, "user_limit"), (2, "capacity")]


async def test_a_line_that_is_full_refuses_at_once() -> None:
    manager = ManagerHarness(max_total=1, max_queued=1)
    await manager.ready("s1", "u1")
    await queued(manager, "s2", "u2")

    with pytest.raises(TotalLimitError):
        await manager.create("s3", "u3")


async def test_a_start_whose_manager_died_right_after_it_was_let_in_frees_its_place() -> None:
    dead = ManagerHarness(max_total=1)
    dead.runtime.hold = asyncio.Event()
    await dead.create("s1", "u1")
    await asyncio.sleep(0)
    alive = ManagerHarness(
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
