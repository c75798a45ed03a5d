"""How a host says that it may be asked, and the turns of one process."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from backend_api.research.ports import Rate, SourceFaultError
from backend_api.research.throttling import InProcessThrottle, lesson_of

CROSSREF = {"x-rate-limit-limit": "50", "x-rate-limit-interval": "1s", "x-concurrency-limit": "3"}


def test_headers_of_crossref_say_how_often_and_how_many_at_once() -> None:
    assert lesson_of(200, CROSSREF).rate == Rate(gap_ms=20, at_once=3)
    assert lesson_of(200, CROSSREF | {"x-rate-limit-interval": "2m"}).rate == Rate(gap_ms=2_400, at_once=3)
    assert lesson_of(200, {"x-rate-limit-limit": "5", "x-rate-limit-interval": "1s"}).rate == Rate(
        gap_ms=200, at_once=1
    )
    for broken in ({"x-rate-limit-limit": "0"}, {"x-rate-limit-limit": "x"}, {"x-rate-limit-interval": "soon"}):
        assert lesson_of(200, {**CROSSREF, **broken}).rate is None


def test_a_host_that_is_asked_too_often_says_for_how_long_it_is_left_alone() -> None:
    assert lesson_of(429, {"retry-after": "7"}).blocked_s == 7
    assert lesson_of(503, {"retry-after": "7"}).blocked_s == 7
    assert lesson_of(429, {}).blocked_s == 5
    assert lesson_of(503, {}).blocked_s == 0
    assert lesson_of(200, {"retry-after": "7"}).blocked_s == 0
    assert lesson_of(429, {"retry-after": "999999999"}).blocked_s == 3_600
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < lesson_of(429, {"retry-after": at}).blocked_s <= 60
    assert lesson_of(429, {"retry-after": "soon"}).blocked_s == 5


async def test_turns_follow_one_another_and_what_would_take_too_long_is_told_at_once() -> None:
    now, throttle = 100.0, InProcessThrottle(clock=lambda: now)
    rate = Rate(gap_ms=0, at_once=2)
    async with throttle.turn("a", rate), throttle.turn("a", rate), throttle.turn("b", Rate(gap_ms=30_000, at_once=1)):
        waits = asyncio.create_task(_take(throttle, rate))
        await asyncio.sleep(0)
        assert not waits.done()
    await waits
    with pytest.raises(SourceFaultError, match="to wait 30 seconds"):
        async with throttle.turn("b", rate):
            pass
    await throttle.learn("a", 429, {"retry-after": "60"})
    with pytest.raises(SourceFaultError, match="to wait 60 seconds"):
        async with throttle.turn("a", rate):
            pass


async def _take(throttle: InProcessThrottle, rate: Rate) -> None:
    async with throttle.turn("a", rate):
        pass
