"""Rates that hosts declare, and the turns of a single process if Redis is away."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from backend_api.research.ports import Rate, SourceFaultError

MAX_WAIT_S = 12.0
"""The longest wait for a turn in seconds; a longer one fails at once."""
LOOK_AGAIN_S = 0.1
MAX_GAP_MS = 60_000
MAX_BLOCKED_S = 3_600
WITHOUT_TIME_S = 5
"""The pause in seconds after a host refuses for too many requests without naming a time."""
_INTERVAL = re.compile(r"(\d{1,6})\s*(ms|s|m)?")
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "": 1_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """The rate that an answer's headers declare, and the seconds for which no request may be sent."""

    rate: Rate | None = None
    blocked_s: float = 0.0


def lesson_of(status: int, headers: Mapping[str, str]) -> Lesson:
    """Read Crossref's `x-rate-limit-limit`, `x-rate-limit-interval` and `x-concurrency-limit`, and `Retry-After`."""
    rate = None
    most, interval = (
        _number(headers.get("x-rate-limit-limit")),
        _INTERVAL.fullmatch(headers.get("x-rate-limit-interval", "").strip().lower()),
    )
    if most and interval:
        gap_ms = int(interval[1]) * _UNITS[interval[2] or ""] / most
        at_once = _number(headers.get("x-concurrency-limit")) or _number(headers.get("x-rate-limit-concurrency")) or 1
        rate = Rate(gap_ms=min(max(round(gap_ms), 1), MAX_GAP_MS), at_once=min(at_once, 100))
    return Lesson(rate=rate, blocked_s=_blocked_s(status, headers))


def _blocked_s(status: int, headers: Mapping[str, str]) -> float:
    if status not in (429, 503):
        return 0.0
    said = headers.get("retry-after", "").strip()
    seconds = _number(said)
    if seconds is None and said:
        try:
            at = parsedate_to_datetime(said)
        except ValueError:
            return WITHOUT_TIME_S
        seconds = round((at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    if seconds is None:
        return WITHOUT_TIME_S if status == 429 else 0.0
    return float(min(max(seconds, 0), MAX_BLOCKED_S))


def _number(text: str | None) -> int | None:
    bare = (text or "").strip()
    return int(bare) if bare.isascii() and bare.isdigit() and len(bare) < 10 else None


def too_long(wait_s: float) -> SourceFaultError:
    """The error of a turn whose wait would be too long."""
    return SourceFaultError(f"asks to wait {max(round(wait_s), 1)} seconds")


@dataclass(slots=True)
class _Host:
    next_at: float = 0.0
    at_work: int = 0
    rate: Rate | None = None


class InProcessThrottle:
    """`Throttle` of one process. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(self, host: str, rate: Rate) -> AsyncGenerator[None]:
        """See the port."""
        known = self._host(host)
        until = self._clock() + MAX_WAIT_S
        while known.at_work >= (known.rate or rate).at_once:
            if self._clock() >= until:
                raise too_long(LOOK_AGAIN_S)
            await asyncio.sleep(LOOK_AGAIN_S)
        now = self._clock()
        wait_s = max(known.next_at - now, 0.0)
        if wait_s > max(until - now, 0.0):
            raise too_long(wait_s)
        known.next_at = now + wait_s + (known.rate or rate).gap_ms / 1_000
        known.at_work += 1
        try:
            await asyncio.sleep(wait_s)
            yield
        finally:
            known.at_work -= 1

    async def learn(self, host: str, status: int, headers: Mapping[str, str]) -> None:
        """See the port."""
        lesson, known = lesson_of(status, headers), self._host(host)
        known.rate = lesson.rate or known.rate
        if lesson.blocked_s:
            known.next_at = max(known.next_at, self._clock() + lesson.blocked_s)

    def _host(self, host: str) -> _Host:
        if host not in self._hosts and len(self._hosts) > 500:
            self._hosts = {name: one for name, one in self._hosts.items() if one.at_work}
        return self._hosts.setdefault(host, _Host())
