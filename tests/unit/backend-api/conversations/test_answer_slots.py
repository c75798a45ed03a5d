"""A user has few long answers at once; what is asked beyond waits, and not for ever."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from backend_api.identity.application.answer_slots import AT_ONCE, WAITING, AnswerSlots
from backend_api.identity.domain.errors import TooManyAnswersError
from support.backend_stores import ANNA, BERT


async def test_one_beyond_those_at_once_comes_when_another_ends() -> None:
    slots, came = AnswerSlots(), asyncio.Event()

    async def late() -> None:
        async with slots.claim_slot(ANNA):
            came.set()

    async with AsyncExitStack() as held:
        for _ in range(AT_ONCE - 1):
            await held.enter_async_context(slots.claim_slot(ANNA))
        async with slots.claim_slot(ANNA):
            waiting = asyncio.create_task(late())
            async with slots.claim_slot(BERT):
                await asyncio.sleep(0)
            assert not came.is_set()
        await waiting
    assert came.is_set()


async def test_one_that_waited_in_vain_is_refused_and_leaves_nothing() -> None:
    slots = AnswerSlots(wait_s=0)
    async with AsyncExitStack() as held:
        for _ in range(AT_ONCE):
            await held.enter_async_context(slots.claim_slot(ANNA))
        for _ in range(2 * WAITING):
            with pytest.raises(TooManyAnswersError):
                async with slots.claim_slot(ANNA):
                    pass
    async with AsyncExitStack() as held:
        for _ in range(AT_ONCE):
            await held.enter_async_context(slots.claim_slot(ANNA))


async def test_so_many_wait_and_no_more() -> None:
    slots = AnswerSlots()

    async def one() -> None:
        async with slots.claim_slot(ANNA):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(one()) for _ in range(AT_ONCE + WAITING)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyAnswersError):
        async with slots.claim_slot(ANNA):
            pass
    tasks.pop().cancel()
    await asyncio.sleep(0)
    tasks.append(asyncio.create_task(one()))
    await asyncio.sleep(0)
    assert not tasks[-1].done()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
