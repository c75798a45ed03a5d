from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from sandbox_manager.domain.errors import (
    ConflictError,
    EngineUnavailableError,
    StartFailedError,
    UserLimitError,
)
from sandbox_manager.domain.sandbox import Status
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


async def test_a_user_over_the_limit_is_refused_until_one_ends() -> None:
    manager = ManagerHarness(max_per_user=2)
    first = await manager.ready("s1")
    await manager.ready("s2")

    with pytest.raises(UserLimitError) as raised:
        await manager.create("s3", "u1")
    assert raised.value.retry_after_s > 0
    await manager.ready("s4", "u2")
    await manager.delete(first.id, keep_workspace=False)

    assert (await manager.ready("s3")).status is Status.READY


async def test_a_computer_unused_for_a_minute_gives_its_place_to_another_session() -> None:
    manager = ManagerHarness(max_per_user=2)
    oldest = await manager.ready("s1")
    manager.clock.move(timedelta(seconds=30))
    await manager.ready("s2")
    with pytest.raises(UserLimitError):
        await manager.create("s3", "u1")
    manager.clock.move(timedelta(seconds=31))

    assert (await manager.ready("s3")).status is Status.READY

    given_up = await manager.get(oldest.id, 0)
    assert given_up.status is Status.GONE
    assert "another conversation" in (given_up.reason or "")
    assert oldest.id not in manager.runtime.things
    assert "s1" in manager.runtime.workspaces
    with pytest.raises(UserLimitError):
        await manager.create("s4", "u1")


async def test_a_computer_in_use_keeps_its_place() -> None:
    manager = ManagerHarness(max_per_user=1)
    used = await manager.ready("s1")
    manager.clock.move(timedelta(minutes=5))
    await manager.renew(used.id)
    with pytest.raises(UserLimitError):
        await manager.create("s2", "u1")


async def test_many_at_once_stay_within_the_limit() -> None:
    manager = ManagerHarness(max_per_user=3)

    answers = await asyncio.gather(*(manager.create(f"s{n}", "u1") for n in range(8)), return_exceptions=True)

    assert sum(isinstance(answer, UserLimitError) for answer in answers) == 5
    await manager.launcher.close()
