"""Waits of a run: for answers that its agents need, for its team, and for a person who controls the computer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from backend_api.agent.session_choices import SessionChoices
from backend_api.agent.waits import Wait, WaitRefusedError
from backend_api.runs.application.change_signal import RunningTeam
from backend_api.runs.application.run_writes import RunWrites

LOOK_AGAIN_S = 0.25
"""How often to check whether the person still controls the computer, in seconds."""


class DrainedError(Exception):
    """Raised between two steps of a run whose process is shutting down."""


class RunWaits:
    """Leaves a waiting run to whoever resolves its waits, unless a stop or a message comes first."""

    def __init__(self, writes: RunWrites, chosen: Callable[[], Awaitable[SessionChoices]]) -> None:
        """Set up the waits. `chosen` returns the session's current choices."""
        self.draining = asyncio.Event()
        """Once set, the run is given back before its next step."""
        self.running_team: RunningTeam | None = None
        """Agents that work beside the main one."""
        self._writes = writes
        self._chosen = chosen

    async def undriven(self) -> SessionChoices:
        """Wait until no person controls the computer, and return the session's choices. Raises `DrainedError`."""
        while (chosen := await self._chosen()).driver is not None:
            if self.draining.is_set():
                raise DrainedError
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await self.draining.wait()
        return chosen

    async def wait(self, waits: Sequence[Wait]) -> bool:
        """Store the waits once the team is idle too; returns False if the agent goes on."""
        if self.running_team is not None:
            waits = [*waits, *await self.running_team.wait_until_idle()]
        if not await self._may_wait(waits) and self.running_team is not None:
            self.running_team.resume()
        return self._writes.has_ended

    async def _may_wait(self, waits: Sequence[Wait]) -> bool:
        if not waits:
            return False
        try:
            await self._writes.wait(waits)
        except WaitRefusedError as refused:
            by = refused.by
        else:
            return True
        # A wait of a sub-agent returns when its call is settled, unless there is nothing else to wait for.
        own = [wait for wait in waits if wait.agent_id is None] or waits
        await self._writes.record([result for wait in own for result in wait.subject.refused_results(by)])
        return False
