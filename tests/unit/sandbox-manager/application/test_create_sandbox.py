from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.errors import (
    ConflictError,
    EngineUnavailableError,
    StartFailedError,
    UserQueueLimitError,
)
from sandbox_manager.domain.sandbox import Sandbox, Status
from support.manager_harness import ManagerHarness


async def test_a_new_session_gets_a_starting_sandbox_that_becomes_ready() -> None:
    manager = ManagerHarness()

    created = await manager.create("s1", "u1")
    ready = await manager.get(created.sandbox.id, 5)

    assert created.is_new
    assert created.sandbox.status is Status.STARTING
    assert ready.status is Status.READY
    assert ready.identity.generation == 1


async def test_asking_again_answers_the_living_one() -> None:
    manager = ManagerHarness()
    first = await manager.ready()

    again = await manager.create("s1", "u1")

    assert not again.is_new
    assert again.sandbox.id == first.id
    assert len(manager.runtime.starts) == 1


async def test_many_at_once_over_two_managers_make_one_sandbox() -> None:
    one = ManagerHarness()
    two = ManagerHarness(registry=one.registry, runtime=one.runtime, clock=one.clock, owner="manager-2")

    created = await asyncio.gather(*((one, two)[n % 2].create("s1", "u1") for n in range(20)))

    assert len({answer.sandbox.id for answer in created}) == 1
    assert sum(answer.is_new for answer in created) == 1
    await one.launcher.close()
    await two.launcher.close()


async def test_a_session_of_another_user_is_a_conflict() -> None:
    manager = ManagerHarness()
    await manager.ready("s1", "u1")

    with pytest.raises(ConflictError):
        await manager.create("s1", "u2")


async def test_after_a_failure_the_next_one_is_a_new_generation() -> None:
    manager = ManagerHarness()
    manager.runtime.fail_start = StartFailedError("no room", retryable=True)
    failed = await manager.ready()
    manager.runtime.fail_start = None

    again = await manager.ready()

    assert (failed.status, failed.reason, failed.retryable) == (Status.FAILED, "no room", True)
    assert again.status is Status.READY
    assert again.identity.generation == 2
    assert list(manager.runtime.things) == [again.id]


async def test_after_the_end_the_next_one_is_a_new_generation_with_the_same_workspace() -> None:
    manager = ManagerHarness()
    first = await manager.ready()
    await manager.delete(first.id, keep_workspace=True)

    again = await manager.ready()

    assert again.identity.generation == 2
    assert manager.runtime.workspaces == {"s1"}


async def test_a_start_that_takes_too_long_fails_with_a_reason_and_leaves_nothing() -> None:
    manager = ManagerHarness(start_deadline_s=0.05)
    manager.runtime.hold = asyncio.Event()

    failed = await manager.ready()
    await manager.launcher.wait(failed.id, 5)

    assert failed.status is Status.FAILED
    assert failed.retryable
    assert failed.reason is not None
    assert "did not become ready" in failed.reason
    assert manager.runtime.things == {}


async def test_a_missing_engine_is_told_at_once_and_nothing_is_recorded() -> None:
    manager = ManagerHarness()
    manager.runtime.unavailable = EngineUnavailableError("start Docker")

    with pytest.raises(EngineUnavailableError, match="start Docker"):
        await manager.create("s1", "u1")

    assert await manager.list() == []


async def waiting(manager: ManagerHarness, session_id: str, user_id: str = "u1") -> Sandbox:
    sandbox = (await manager.create(session_id, user_id)).sandbox
    assert sandbox.status is Status.QUEUED
    return sandbox


async def test_a_user_with_as_many_running_as_allowed_waits_until_one_ends_and_holds_up_nobody() -> None:
    manager = ManagerHarness(max_per_user=2)
    first = await manager.ready("s1")
    await manager.ready("s2")

    third = await waiting(manager, "s3")

    assert await manager.get.place_in_line(third) == (1, "user_limit")
    assert (await manager.ready("s4", "u2")).status is Status.READY
    await manager.admission.pump()
    assert (await manager.get(third.id)).status is Status.QUEUED
    await manager.delete(first.id, keep_workspace=False)
    await manager.admission.pump()

    assert (await manager.get(third.id, 5)).status is Status.READY


async def test_no_more_of_a_user_wait_than_allowed_and_others_may_wait_all_the_same() -> None:
    manager = ManagerHarness(max_per_user=1, max_total=2, max_queued=1, max_queued_per_user=2)
    await manager.ready("s1")
    for session in ("s2", "s3"):
        await waiting(manager, session)

    with pytest.raises(UserQueueLimitError, match="2 of your conversations wait for a computer already") as raised:
        await manager.create("s4", "u1")

    assert raised.value.retry_after_s > 0
    assert (await manager.ready("s5", "u2")).status is Status.READY
    await waiting(manager, "s6", "u3")


async def test_a_user_has_no_more_computers_in_all_than_allowed_and_waits_in_order_for_one_more() -> None:
    manager = ManagerHarness(max_per_user=3, max_per_user_total=2)
    first, second = await manager.ready("s1"), await manager.ready("s2")
    line: list[Sandbox] = []
    for session in ("s3", "s4"):
        line.append(await waiting(manager, session))
        manager.clock.move(timedelta(milliseconds=1))

    assert [await manager.get.place_in_line(one) for one in line] == [(1, "user_limit"), (2, "user_limit")]
    for one, ended in zip(line, (first, second), strict=True):
        await manager.admission.pump()
        assert (await manager.get(one.id)).status is Status.QUEUED
        await manager.delete(ended.id, keep_workspace=True)
        await manager.admission.pump()
        assert (await manager.get(one.id, 5)).status is Status.READY


async def test_a_paused_computer_gives_its_place_to_one_that_waits_for_how_many_its_user_has_in_all() -> None:
    manager = ManagerHarness(max_per_user=2, max_per_user_total=2)
    first, second = await manager.ready("s1"), await manager.ready("s2")
    third = await waiting(manager, "s3")
    await manager.admission.pump()
    assert (await manager.get(third.id)).status is Status.QUEUED

    await manager.pause(first.id)
    await manager.admission.pump()
    await manager.admission.pump()

    assert (await manager.get(third.id, 5)).status is Status.READY
    given_up = await manager.get(first.id)
    assert (given_up.status, "s1" in manager.runtime.workspaces) == (Status.GONE, True)
    assert (await manager.get(second.id)).status is Status.READY


async def test_who_waits_gets_the_place_of_the_computer_unused_for_longest_as_soon_as_that_is_a_minute() -> None:
    manager = ManagerHarness(max_per_user=2)
    oldest = await manager.ready("s1")
    manager.clock.move(timedelta(seconds=20))
    used = await manager.ready("s2")
    first = await waiting(manager, "s3")
    manager.clock.move(timedelta(milliseconds=1))
    second = await waiting(manager, "s4")

    for _ in range(5):
        manager.clock.move(timedelta(seconds=10))
        for one in (used, first, second):
            await manager.renew(one.id)
        await manager.admission.pump()
    await manager.admission.pump()

    given_up = await manager.get(oldest.id)
    assert (given_up.status, "s1" in manager.runtime.workspaces) == (Status.GONE, True)
    assert "another conversation" in (given_up.reason or "")
    assert (await manager.get(first.id, 5)).status is Status.READY
    assert (await manager.get(second.id)).status is Status.QUEUED
    assert (await manager.get(used.id)).status is Status.READY


async def test_one_unused_computer_is_given_up_for_one_that_waits_also_while_it_is_still_being_removed() -> None:
    manager = ManagerHarness(max_per_user=2)
    both = [await manager.ready(f"s{n}") for n in range(2)]
    third = await waiting(manager, "s3")
    manager.runtime.unavailable = EngineUnavailableError("The engine is away.")
    manager.clock.move(timedelta(minutes=2))

    for _ in range(3):
        await manager.renew(third.id)
        await manager.admission.pump()

    assert sorted([(await manager.get(one.id)).status for one in both]) == [Status.GONE, Status.READY]


async def test_waiting_in_vain_for_ones_own_computers_ends_with_what_to_do() -> None:
    manager = ManagerHarness(max_per_user=1)
    used = await manager.ready("s1")
    third = await waiting(manager, "s2")
    for _ in range(31):
        manager.clock.move(timedelta(seconds=10))
        await manager.renew(used.id)
        await manager.renew(third.id) if (await manager.get(third.id)).is_alive else None
        await manager.admission.pump()

    over = await manager.get(third.id)

    assert (over.status, over.retryable) == (Status.FAILED, True)
    assert over.reason == (
        "You already have 1 running computer, which is the maximum, and it was in use for 5 minutes. "
        "Delete a conversation, or try again later."
    )


async def test_a_computer_unused_for_a_minute_gives_its_place_to_another_session() -> None:
    manager = ManagerHarness(max_per_user=2)
    oldest = await manager.ready("s1")
    manager.clock.move(timedelta(seconds=30))
    await manager.ready("s2")
    manager.clock.move(timedelta(seconds=31))

    assert (await manager.ready("s3")).status is Status.READY

    given_up = await manager.get(oldest.id, 0)
    assert given_up.status is Status.GONE
    assert "another conversation" in (given_up.reason or "")
    assert oldest.id not in manager.runtime.things
    assert "s1" in manager.runtime.workspaces
    await waiting(manager, "s4")


async def test_a_computer_in_use_keeps_its_place() -> None:
    manager = ManagerHarness(max_per_user=1)
    used = await manager.ready("s1")
    manager.clock.move(timedelta(minutes=5))
    await manager.renew(used.id)

    await waiting(manager, "s2")
    await manager.admission.pump()

    assert (await manager.get(used.id)).status is Status.READY


async def test_many_at_once_stay_within_the_limit() -> None:
    manager = ManagerHarness(max_per_user=3)

    answers = await asyncio.gather(*(manager.create(f"s{n}", "u1") for n in range(8)))

    assert sum(answer.sandbox.status is Status.QUEUED for answer in answers) == 5
    await manager.launcher.close()
