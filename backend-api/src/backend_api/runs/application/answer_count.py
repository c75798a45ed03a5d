"""Counters of the answers that a run's other agents have begun, and of those that all its agents are writing."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class AnswerCount:
    """Counts in this process alone. A worker that takes the run over adds the recorded answers to `begun`."""

    def __init__(self) -> None:
        self.begun = 0
        self.at_work = 0
        self._over = asyncio.Event()

    @contextmanager
    def count_one(self) -> Generator[None]:
        """Count an answer of an agent as in progress until its usage is counted."""
        self.begun += 1
        with self.count_leads():
            yield

    @contextmanager
    def count_leads(self) -> Generator[None]:
        """Count an answer of the main agent as in progress; the log counts how many it has begun."""
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1
            self._over.set()
            self._over = asyncio.Event()

    async def wait_for_one(self) -> None:
        """Wait until one of the answers in progress has ended."""
        if self.at_work:
            await self._over.wait()
