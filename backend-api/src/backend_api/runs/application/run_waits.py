"""How a run waits: for what its agents wait for, for its team, and for a person who controls the computer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from backend_api.agent.chosen import SessionChoices
from backend_api.agent.waits import Wait, WaitRefusedError
from backend_api.runs.application.change_signal import RunningTeam
from backend_api.runs.application.run_writes import RunWrites

LOOK_AGAIN_S = 0.25
"""Whether the person still controls the computer."""


class DrainedError(Exception):
    """Raised between two steps of a run whose process ends."""


class RunWaits:
    """It leaves a run to whoever resolves what it waits for, unless a stop or a message comes first."""

    def __init__(self, writes: RunWrites, chosen: Callable[[], Awaitable[SessionChoices]]) -> None:
        """`chosen` tells what the session chose by now."""
        self.draining = asyncio.Event()
        """Once set, the run is given back before its next step."""
        self.running_team: RunningTeam | None = None
        """Agents that work beside the main one."""
        self._writes = writes
        self._chosen = chosen

    async def undriven(self) -> SessionChoices:
        """What the session chose by then, once no person controls the computer. Raises `DrainedError`."""
        while (chosen := await self._chosen()).driver is not None:
            if self.draining.is_set():
                raise DrainedError
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN_S):
                    await self.draining.wait()
        return chosen

    async def wait(self, waits: Sequence[Wait]) -> bool:
        """Store what is waited for once the team is idle too; false where the agent goes on."""
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
        # What an agent below waits for comes back when the call it works on is settled, unless that is all there is.
        own = [wait for wait in waits if wait.agent_id is None] or waits
        await self._writes.record([result for wait in own for result in wait.subject.not_begun(by)])
        return False
