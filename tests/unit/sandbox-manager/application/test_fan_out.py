from __future__ import annotations

import asyncio
import logging

import pytest

from sandbox_manager.application.fan_out import FanOut, Piece
from sandbox_manager.domain.errors import EngineUnavailableError


class Work:
    """What it did, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.hold = asyncio.Event()

    def piece(self, key: str, *, trouble: Exception | None = None, hangs: bool = False) -> Piece:
        async def work() -> None:
            if hangs:
                await self.hold.wait()
            self.done.append(key)
            if trouble is not None:
                raise trouble

        return Piece(key, {"sandbox_id": key}, work)


@pytest.mark.parametrize("trouble", [EngineUnavailableError("no"), OverflowError("cannot convert"), RecursionError()])
async def test_whatever_one_raises_is_told_and_the_others_are_done(
    trouble: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    work, each = Work(), FanOut(trouble="not done", at_once=1)

    with caplog.at_level(logging.WARNING):
        await each([work.piece("bad", trouble=trouble), work.piece("good")])

    assert sorted(work.done) == ["bad", "good"]
    assert [vars(one)["sandbox_id"] for one in caplog.records] == ["bad"]


async def test_what_failed_is_tried_again_after_what_did_not() -> None:
    work, each = Work(), FanOut(trouble="not done", at_once=1)
    pieces = [work.piece("bad", trouble=ValueError()), work.piece("good")]
    await each(pieces)

    work.done.clear()
    await each(pieces)

    assert work.done == ["good", "bad"]


async def test_one_that_hangs_loses_its_turn_and_holds_up_nobody() -> None:
    work, each = Work(), FanOut(trouble="not done", at_once=1, deadline_s=0.05)

    await each([work.piece("hangs", hangs=True), work.piece("good")])

    assert work.done == ["good"]


async def test_the_others_are_not_waited_for_longer_than_wait_s_and_nothing_is_begun_twice() -> None:
    work, each = Work(), FanOut(trouble="not done", wait_s=0.05)
    await each([work.piece("slow", hangs=True), work.piece("good")])
    assert work.done == ["good"]

    await each([work.piece("slow", hangs=True), work.piece("good")])
    work.hold.set()
    await each([work.piece("last")])

    assert work.done.count("slow") == 1


async def test_what_can_not_be_cancelled_gives_up_its_turn_all_the_same() -> None:
    each, over = FanOut(trouble="not done", at_once=1, deadline_s=0.05, wait_s=2), asyncio.Event()
    work = Work()

    async def stubborn() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    await each([Piece("stubborn", {}, stubborn), work.piece("good")])
    assert work.done == ["good"]
    over.set()


async def test_cancelling_ends_all_of_it() -> None:
    each, ended = FanOut(trouble="not done"), asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(each([Piece("one", {}, waits)]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=5)

    assert task.cancelled()
    assert ended.is_set()


@pytest.mark.parametrize("cancels", [True, False])
async def test_nothing_runs_on_after_it_was_cancelled_or_closed(*, cancels: bool) -> None:
    each, began, over = FanOut(trouble="not done", wait_s=5 if cancels else 0.01), asyncio.Event(), asyncio.Event()

    async def cleans_up() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(20):
                await asyncio.sleep(0)
            over.set()

    task = asyncio.create_task(each([Piece("one", {}, cleans_up)]))
    await asyncio.wait_for(began.wait(), 5)
    if cancels:
        task.cancel()
    await asyncio.wait({task}, timeout=5)
    if not cancels:
        assert not over.is_set()
        await each.aclose()

    assert over.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_is_given_again_while_it_is_at_work_is_done_once_more_after_that() -> None:
    work, each = Work(), FanOut(trouble="not done", wait_s=0.01)
    await each([work.piece("slow", hangs=True)])

    for _ in range(2):
        await each([Piece("slow", {}, work.piece("newer").work)], again=True)
    assert work.done == []
    work.hold.set()
    async with asyncio.timeout(5):
        while len(work.done) < 2:
            await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)

    assert work.done == ["slow", "newer"]


async def test_nothing_is_begun_again_after_closing() -> None:
    work, each = Work(), FanOut(trouble="not done", wait_s=0.01)
    await each([work.piece("slow", hangs=True)])
    await each([work.piece("slow")], again=True)

    await each.aclose()
    for _ in range(10):
        await asyncio.sleep(0)

    assert work.done == []
    assert asyncio.all_tasks() == {asyncio.current_task()}
