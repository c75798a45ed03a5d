"""Announces the start of a sandbox to its session's readers: that it starts, its place in the queue, and the
outcome."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace

from backend_api.agent.events import SandboxUpdated
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.domain.entity import Sandbox, SandboxStatus
from backend_api.sandboxes.domain.errors import SandboxQueuedError, SandboxUnavailableError
from backend_api.sandboxes.manager.bounded_cache import make_room

SILENT_S = 0.15
"""A start that takes no longer, in seconds, is not announced."""
QUEUE_LOOK_S = 1.0
SHOWN_FOR_S = 25.0
"""Seconds in which a caller that asks again keeps its place, which was announced."""
MAX_ANNOUNCED = 5_000

_Told = tuple[SandboxUpdated, int]
"""The last announcement, and the generation if it is in the queue: the same place of another generation is announced
again."""
Announce = Callable[[SessionId, SandboxUpdated], Awaitable[None]]
"""Stores the event in the session's log and publishes it."""


async def unannounced(_: SessionId, __: SandboxUpdated) -> None:
    """Announce nothing."""


class StartAnnouncer:
    """Keeps the last announcements only to avoid repeating them."""

    def __init__(
        self,
        announce: Announce,
        look_at: Callable[[SessionId], Awaitable[SandboxStatus]],
        clock: Callable[[], float],
    ) -> None:
        self._announce = announce
        self._look_at = look_at
        self._clock = clock
        self._announced: dict[SessionId, tuple[str, int]] = {}
        self._in_line: dict[SessionId, tuple[_Told, float]] = {}

    def forget(self, session_id: SessionId) -> None:
        """Drop a session that is gone."""
        self._announced.pop(session_id, None)
        self._in_line.pop(session_id, None)

    async def announce_start(self, session_id: SessionId, starting: asyncio.Future[Sandbox]) -> Sandbox:
        """Wait for the start and return its outcome. If a caller stops waiting while it is queued, the start has not
        ended."""
        try:
            await asyncio.wait({starting}, timeout=SILENT_S)
            await self._announce_wait(session_id, starting)
            sandbox = await starting
        except SandboxQueuedError:
            raise
        except SandboxUnavailableError as error:
            self.forget(session_id)
            await self._announce(session_id, SandboxUpdated(status="failed", reason=error.detail))
            raise
        self._in_line.pop(session_id, None)
        if self._announced.get(session_id) != (sandbox.id, sandbox.generation):
            make_room(self._announced, MAX_ANNOUNCED)
            self._announced[session_id] = (sandbox.id, sandbox.generation)
            ready = SandboxUpdated(status="ready", expires_at=sandbox.expires_at, has_desktop=sandbox.has_desktop)
            await self._announce(session_id, ready)
        return sandbox

    async def _announce_wait(self, session_id: SessionId, starting: asyncio.Future[Sandbox]) -> None:
        """Announce each step forward in the queue, and the start."""
        last, until = self._in_line.pop(session_id, (None, 0.0))
        last = last if self._clock() < until else None
        while not starting.done():
            now, generation = SandboxUpdated(status="starting"), 0
            with contextlib.suppress(SandboxUnavailableError):
                seen = await self._look_at(session_id)
                now = replace(now, queue_position=seen.queue_position, queue_reason=seen.queue_reason)
                generation = 0 if seen.queue_position is None else seen.generation
            if starting.done():
                return  # the next one may have announced that it is ready
            if (now, generation) != last:
                self._announced.pop(session_id, None)
                await self._announce(session_id, now)
                last = now, generation
            if now.queue_position is not None:
                make_room(self._in_line, MAX_ANNOUNCED)
                self._in_line[session_id] = (now, generation), self._clock() + SHOWN_FOR_S
            await asyncio.wait({starting}, timeout=QUEUE_LOOK_S)
