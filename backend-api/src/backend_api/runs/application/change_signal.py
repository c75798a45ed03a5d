"""How agents that work beside each other in a run hear that something has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from backend_api.agent.waits import Wait


class ChangeSignal:
    """Wakes all that wait. Who takes `next` before it looks misses nothing that comes after."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def notify(self) -> None:
        """Something has changed."""
        self.next.set()
        self.next = asyncio.Event()


class RunningTeam(Protocol):
    """Agents that work beside the main one."""

    async def wait_until_idle(self) -> Sequence[Wait]:
        """Once none of them can go on, what they wait for; nothing of them changes until `resume`. Raises
        `DrainedError`."""
        ...

    def resume(self) -> None:
        """The run does not wait after all."""
        ...
