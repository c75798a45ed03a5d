"""How many answers the agents of a run that work for its main one have begun, and how many they are at."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Answering:
    """Those that were recorded are counted again by whoever takes the run over."""

    def __init__(self) -> None:
        self.begun = 0
        self.at_work = 0
        self._over = asyncio.Event()

    @contextmanager
    def one(self) -> Generator[None]:
        """While an agent is at an answer, until what it used is counted."""
        self.begun += 1
        self.at_work += 1
        try:
            yield
        finally:
            self.at_work -= 1
            self._over.set()
            self._over = asyncio.Event()

    async def one_over(self) -> None:
        """Until one of those at work is over."""
        if self.at_work:
            await self._over.wait()
