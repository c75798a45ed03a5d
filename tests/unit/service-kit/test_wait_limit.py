"""Each wait has its time, and who is told to end meanwhile ends."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref

import pytest

from service_kit.wait_limit import WaitLimit


def current() -> asyncio.Task[object]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def test_a_wait_that_takes_too_long_ends_and_the_next_has_its_own_time() -> None:
    limit = WaitLimit(0.02)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            with limit:
                await asyncio.Event().wait()
        assert current().cancelling() == 0
    with limit:
        assert await asyncio.sleep(0, "here") == "here"


async def test_only_what_is_waited_for_takes_time_and_each_wait_its_own() -> None:
    limit = WaitLimit(0.9)
    for _ in range(3):
        with limit:
            await asyncio.sleep(0.35)
    await asyncio.sleep(1)
    with limit:
        await asyncio.sleep(0)


async def test_a_cancellation_from_elsewhere_stays_one() -> None:
    limit = WaitLimit(30)

    async def wait() -> None:
        with limit:
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()


async def test_a_cancellation_that_comes_with_the_end_of_its_time_is_not_lost() -> None:
    limit = WaitLimit(0.01)
    waited_for: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait() -> None:
        with limit:
            await waited_for

    task = asyncio.create_task(wait())
    # What is waited for is cancelled first by the limit, in the same turn of the loop as the task.
    waited_for.add_done_callback(lambda _: task.cancel())
    await asyncio.wait({task})
    assert task.cancelled()


async def test_a_cancellation_that_comes_just_before_the_end_of_its_time_is_not_lost() -> None:
    limit = WaitLimit(0.05)
    loop = asyncio.get_running_loop()

    async def wait() -> None:
        with limit:
            await asyncio.Event().wait()

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    # Both are due in one turn of the loop, as it was held up meanwhile.
    loop.call_later(0.04, task.cancel)
    time.sleep(0.06)  # noqa: ASYNC251 -- what holds it up
    await asyncio.wait({task})
    assert task.cancelled()


async def test_tasks_may_wait_one_after_another() -> None:
    limit = WaitLimit(0.05)

    async def wait() -> None:
        with limit:
            await asyncio.Event().wait()

    with limit:
        await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.create_task(wait()), 10)
    assert current().cancelling() == 0


async def test_once_closed_nothing_of_it_stays() -> None:
    limit = WaitLimit(3_600)
    with limit:
        await asyncio.sleep(0)
    limit.close()
    kept = weakref.ref(limit)
    del limit
    gc.collect()
    assert kept() is None


async def test_another_error_is_told_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        with WaitLimit(30):
            raise ZeroDivisionError
