"""A signal by which agents that work side by side in a run learn that something has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from backend_api.agent.waits import Wait


class ChangeSignal:
    """Wakes all waiters. A waiter that takes `next` before it looks misses nothing that comes after."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def notify(self) -> None:
        """Wake all waiters."""
        self.next.set()
        self.next = asyncio.Event()


class RunningTeam(Protocol):
    """Agents that work beside the main one."""

    async def wait_until_idle(self) -> Sequence[Wait]:
        """Return what the agents wait for, once none of them can go on; nothing of them changes until `resume`. Raises
        `DrainedError`."""
        ...

    def resume(self) -> None:
        """Let the agents go on, as the run does not wait after all."""
        ...
