"""How many answers the other agents of a run have begun, and how many all of them are at."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class AnswerCount:
    """Counts in this process alone. A worker that takes the run over adds to `begun` those it finds recorded."""

    def __init__(self) -> None:
        self.begun = 0
        self.at_work = 0
        self._over = asyncio.Event()

    @contextmanager
    def count_one(self) -> Generator[None]:
        """While an agent is at an answer, until what it used is counted."""
        self.begun += 1
        with self.count_leads():
            yield

    @contextmanager
    def count_leads(self) -> Generator[None]:
        """While the main agent is at one: the log counts those."""
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1
            self._over.set()
            self._over = asyncio.Event()

    async def wait_for_one(self) -> None:
        """Until one of those at work is over."""
        if self.at_work:
            await self._over.wait()
