"""Tries that wait: none goes on before its pause, and who holds the most places gives one up."""

from __future__ import annotations

import asyncio
import time

import pytest

from backend_api.identity.application.delayed_attempts import DelayedAttempts
from backend_api.kit.errors import LimitError

PAUSE_S = 0.3


async def tried(paused: DelayedAttempts, who: str) -> tuple[bool, float]:
    """Whether it might go on, and after how long."""
    began = time.monotonic()
    try:
        await paused.wait(who, PAUSE_S)
    except LimitError:
        return False, time.monotonic() - began
    return True, time.monotonic() - began


async def test_beyond_the_places_tries_are_refused_and_none_goes_on_early() -> None:
    paused = DelayedAttempts(most=10)
    done = await asyncio.gather(*(tried(paused, "greedy") for _ in range(50)))
    assert [went_on for went_on, _ in done].count(True) == 10
    assert all(took >= PAUSE_S * 0.9 for went_on, took in done if went_on)
    assert (await tried(paused, "greedy"))[0], "the places are free again"


async def test_who_comes_from_elsewhere_takes_the_latest_place_of_whoever_holds_most() -> None:
    paused = DelayedAttempts(most=6)
    greedy = [asyncio.create_task(tried(paused, "greedy")) for _ in range(4)]
    modest = [asyncio.create_task(tried(paused, f"modest {number}")) for number in range(2)]
    await asyncio.sleep(0)
    owner = asyncio.create_task(tried(paused, "owner"))
    assert (await owner)[0]
    assert [went_on for went_on, _ in await asyncio.gather(*greedy)] == [True, True, True, False]
    assert all(went_on for went_on, _ in await asyncio.gather(*modest))


async def test_where_nobody_holds_more_who_comes_is_told_when_to_come_again() -> None:
    paused = DelayedAttempts(most=3)
    waiting = [asyncio.create_task(tried(paused, f"one {number}")) for number in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(LimitError) as refused:
        await paused.wait("late", PAUSE_S)
    assert refused.value.retry_after_s == 1
    assert all(went_on for went_on, _ in await asyncio.gather(*waiting))


async def test_a_try_that_is_given_up_leaves_its_place() -> None:
    paused = DelayedAttempts(most=1)
    waiting = asyncio.create_task(tried(paused, "one"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await tried(paused, "another"))[0]
