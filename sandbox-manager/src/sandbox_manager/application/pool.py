"""Sandboxes booted in advance."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.keep_alive import KeepAlive
from sandbox_manager.application.sandbox_work import LEASE
from sandbox_manager.domain.admission import Limits, Room, within_user_limits
from sandbox_manager.domain.errors import DomainError, StartFailedError
from sandbox_manager.domain.ports import (
    Clock,
    Leases,
    RuntimeHost,
    SandboxLifecycle,
    SandboxRecords,
    SandboxSpec,
    TokenKeys,
)
from sandbox_manager.domain.sandbox import Cleanup, Identity, Sandbox, Status, pool_session

_log = logging.getLogger(__name__)

_TENDING = timedelta(seconds=15)
_OF_NOBODY = ""
_RESTLESS = "Its desktop does not suspend; its image may be older than the manager."


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolParts:
    """Dependencies of the pool. `room` returns the machine's free memory."""

    registry: SandboxRecords
    host: RuntimeHost
    lifecycle: SandboxLifecycle
    keys: TokenKeys
    clock: Clock
    leases: Leases
    clean: CleanSandbox
    keep_alive: KeepAlive
    limits: Limits
    room: Callable[[], Awaitable[Room]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolIntervals:
    """Intervals in seconds: the quiet time after a member was claimed, the pause between two tries (doubled each time),
    and the time for which a fingerprint is cached."""

    quiet: float = 2.0
    first_pause: float = 5.0
    longest_pause: float = 300.0
    fingerprint: float = 10.0


class Pool:
    """Keeps `size` sandboxes of this place booted and at rest, for sessions that begin with no files.

    One manager of a place tends at a time, and boots one sandbox at a time, while nobody else starts or waits and there
    is memory; after a failure it waits twice as long each time. Members with an old fingerprint are retired. A member
    is claimed by admission, once, and never comes back.
    """

    def __init__(
        self, parts: PoolParts, *, size: int, deadline_s: float, intervals: PoolIntervals | None = None
    ) -> None:
        self._parts = parts
        self._size = size
        self._deadline_s = deadline_s
        self._intervals = intervals or PoolIntervals()
        self._pause_s = self._intervals.first_pause
        self._not_before = 0.0
        self._had = 0
        self._fingerprint = ""
        self._fingerprint_until = 0.0

    async def fingerprint(self) -> str:
        """The fingerprint that members must have now; looked up every few seconds. Raises `EngineUnavailableError`."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._fingerprint_until:
            self._fingerprint = await self._parts.host.fingerprint()
            self._fingerprint_until = loop.time() + self._intervals.fingerprint
        return self._fingerprint

    async def tend(self) -> None:
        """Boot or retire one member if that is due. Raises `EngineUnavailableError`, `RegistryUnavailableError`."""
        parts, loop = self._parts, asyncio.get_running_loop()
        place = await parts.host.place()
        if not await parts.leases.acquire(_lease(place), parts.clean.work.owner, _TENDING):
            return
        members = await self._members(place)
        if len(members) < self._had:
            self._not_before = max(self._not_before, loop.time() + self._intervals.quiet)
        self._had = len(members)
        if self._size == 0 and not members:
            return
        fingerprint = await self.fingerprint()
        surplus = [one for one in members if one.fingerprint != fingerprint] or members[self._size :]
        if surplus:
            await self._retire(surplus[0])
        elif len(members) < self._size and loop.time() >= self._not_before and await self._has_room():
            await self._boot(place, fingerprint)

    async def leave(self) -> None:
        """Let another manager tend."""
        place = await self._parts.host.place()
        await self._parts.leases.release(_lease(place), self._parts.clean.work.owner)

    async def _members(self, place: str) -> list[Sandbox]:
        found = await self._parts.registry.find(user_id=_OF_NOBODY, occupied=True)
        return [one for one in reversed(found) if one.is_pooled and one.is_alive and one.place == place]

    async def _has_room(self) -> bool:
        occupied = await self._parts.registry.find(occupied=True)
        wanted = within_user_limits(occupied, self._parts.limits)
        if any(one.status is Status.STARTING for one in occupied) or any(one.status is Status.QUEUED for one in wanted):
            return False
        if sum(one.places for one in occupied if one.holds_memory) >= self._parts.limits.max_total:
            return False
        return (await self._parts.room()).fits(1)  # there must be memory left for a requested sandbox

    async def _boot(self, place: str, fingerprint: str) -> None:
        parts, now = self._parts, self._parts.clock.now()
        sandbox_id, end = secrets.token_hex(8), now + parts.limits.hard
        sandbox = Sandbox(
            identity=Identity(
                sandbox_id=sandbox_id, session_id=pool_session(sandbox_id), user_id=_OF_NOBODY, generation=0
            ),
            runtime=parts.host.name,
            status=Status.WARMING,
            place=place,
            created_at=now,
            expires_at=end,
            idle_expires_at=end,
            lease_owner=parts.clean.work.owner,
            lease_until=now + LEASE,
            fingerprint=fingerprint,
        )
        if not await parts.registry.add(sandbox):
            return
        async with parts.clean.work.on(sandbox_id, wait_s=0, goes_on=lambda one: one.is_alive):
            trouble = await self._warm_up(sandbox)
            if trouble is None:
                self._had += 1
                self._pause_s = self._intervals.first_pause
                return
            self._not_before = asyncio.get_running_loop().time() + self._pause_s
            fields = {**log_fields(sandbox.identity), "reason": trouble.detail, "pause_s": self._pause_s}
            _log.warning("pool not filled", extra=fields)
            self._pause_s = min(self._pause_s * 2, self._intervals.longest_pause)
            over = await change_sandbox(
                parts.registry, sandbox_id, lambda one: one.retired(trouble.detail, Cleanup.ALL)
            )
            if over is not None:
                await parts.clean.settle(over)

    async def _warm_up(self, sandbox: Sandbox) -> DomainError | None:
        parts, began = self._parts, asyncio.get_running_loop().time()
        limit = asyncio.timeout(self._deadline_s)
        try:
            async with limit:
                spec = SandboxSpec(identity=sandbox.identity, public_key=parts.keys.public_key)
                started = await parts.lifecycle.start_sandbox(spec)
                report = await parts.keep_alive.ask(replace(sandbox, endpoint=started.endpoint))
        except TimeoutError:
            if not limit.expired():
                raise
            return StartFailedError("It did not become ready in time.", retryable=True)
        except DomainError as error:
            return error
        if report is None or not report.resting:
            return StartFailedError(_RESTLESS, retryable=True)
        owner = parts.clean.work.owner
        await change_sandbox(parts.registry, sandbox.id, lambda one: one.as_warm(started, owner))
        took = round((asyncio.get_running_loop().time() - began) * 1000)
        _log.info("sandbox is warm", extra={**log_fields(sandbox.identity), "duration_ms": took})
        return None

    async def _retire(self, sandbox: Sandbox) -> None:
        over = await change_sandbox(
            self._parts.registry,
            sandbox.id,
            lambda one: one.retired("No longer needed in the pool.", Cleanup.ALL) if one.is_pooled else None,
        )
        if over is not None:
            await self._parts.clean(over)


def _lease(place: str) -> str:
    return f"pool:{place}"
