"""Sandboxes whose starting, readiness and failure are told in the session's stream."""

from __future__ import annotations

import asyncio
import contextlib
from weakref import WeakValueDictionary

from backend_api.domain.agent.events import SandboxUpdated
from backend_api.domain.conversation.entity import SessionId
from backend_api.domain.conversation.ports import EventLog, SessionStream
from backend_api.domain.sandbox.entity import Sandbox, SandboxStatus
from backend_api.domain.sandbox.errors import SandboxUnavailableError
from backend_api.domain.sandbox.ports import Sandboxes

SILENT_S = 0.15
LOOK_S = 1.0
MAX_REMEMBERED = 5_000


class AnnouncedSandboxes:
    """`Sandboxes` around another one. What was told last is remembered only to keep the stream short."""

    def __init__(self, inner: Sandboxes, log: EventLog, stream: SessionStream) -> None:
        self._inner = inner
        self._log = log
        self._stream = stream
        self._announced: dict[str, tuple[str, int]] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ensure(self, session_id: str, user_id: str) -> Sandbox:
        lock = self._locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            ensuring = asyncio.ensure_future(self._inner.ensure(session_id, user_id))
            try:
                await asyncio.wait({ensuring}, timeout=SILENT_S)
                await self._announce_wait(session_id, ensuring)
                sandbox = await ensuring
            except SandboxUnavailableError as error:
                await self._announce(session_id, SandboxUpdated(status="failed", reason=error.detail), None)
                raise
            finally:
                ensuring.cancel()
            if self._announced.get(session_id) != (sandbox.id, sandbox.generation):
                ready = SandboxUpdated(status="ready", expires_at=sandbox.expires_at, has_desktop=sandbox.has_desktop)
                await self._announce(session_id, ready, (sandbox.id, sandbox.generation))
            return sandbox

    async def status(self, session_id: str) -> SandboxStatus:
        return await self._inner.status(session_id)

    async def renew(self, session_id: str) -> SandboxStatus:
        return await self._inner.renew(session_id)

    async def keep_alive(self, session_id: str) -> None:
        await self._inner.keep_alive(session_id)

    async def delete(self, session_id: str, user_id: str) -> None:
        await self._inner.delete(session_id, user_id)
        self._announced.pop(session_id, None)

    async def _announce_wait(self, session_id: str, ensuring: asyncio.Future[Sandbox]) -> None:
        """Announce each step forward in the queue, and the start."""
        last: SandboxUpdated | None = None
        while not ensuring.done():
            now = await self._waiting(session_id)
            if now != last:
                await self._announce(session_id, now, None)
                last = now
            await asyncio.wait({ensuring}, timeout=LOOK_S)

    async def _waiting(self, session_id: str) -> SandboxUpdated:
        with contextlib.suppress(SandboxUnavailableError):
            status = await self._inner.status(session_id)
            return SandboxUpdated(status="starting", queue_position=status.queue_position)
        return SandboxUpdated(status="starting")

    async def _announce(self, session_id: str, event: SandboxUpdated, announced: tuple[str, int] | None) -> None:
        self._announced.pop(session_id, None)
        if announced is not None:
            while len(self._announced) >= MAX_REMEMBERED:
                del self._announced[next(iter(self._announced))]
            self._announced[session_id] = announced
        identifier = SessionId(session_id)
        await self._stream.append(identifier, await self._log.append(identifier, [event]))
