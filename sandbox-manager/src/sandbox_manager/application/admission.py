"""Admit sandboxes as there is room, in a fair order, over all managers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from sandbox_manager.application import measures
from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.launch_sandbox import Launcher
from sandbox_manager.application.sandbox_work import LEASE, LeasedSandbox
from sandbox_manager.application.watched_start import admitted
from sandbox_manager.domain.admission import (
    Limits,
    Room,
    admissible,
    check_line,
    given_up,
    line,
    sleeper,
    spare,
    waking_after,
    within_user_limits,
)
from sandbox_manager.domain.errors import (
    DomainError,
    EngineUnavailableError,
    TotalLimitError,
    UserQueueLimitError,
)
from sandbox_manager.domain.ports import Clock, RuntimeHost, SandboxRecords
from sandbox_manager.domain.sandbox import Cleanup, Sandbox, Status

_log = logging.getLogger(__name__)

RECLAIMED = "The computer made room for another conversation. It starts again, with its files, when it is used."


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The one gate to a running sandbox. Counting and admitting is one step over all managers, so limits are strict.

    The caller that admits a sandbox starts it. `room` returns the machine's free memory.
    """

    registry: SandboxRecords
    runtime: RuntimeHost
    clock: Clock
    launcher: Launcher
    clean: CleanSandbox
    limits: Limits
    room: Callable[[], Awaitable[Room]]
    fingerprint: Callable[[], Awaitable[str]] | None = None
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def claim(self, sandbox: Sandbox) -> Sandbox | None:
        """Claim a sandbox of the pool at once, for a session without files; None if there is none for it, whatever the
        reason."""
        fingerprint = await self.fingerprint() if self.fingerprint else ""
        place = await self.runtime.place()

        def decide(occupied: list[Sandbox], now: datetime) -> list[Sandbox]:
            claimed = self._claim_pooled(occupied, sandbox, now, place, fingerprint)
            return [claimed] if claimed is not None else []

        try:
            stored = await self._admit_by(decide) if fingerprint else []
        except (UserQueueLimitError, TotalLimitError):
            return None
        if stored:
            measures.POOL_CLAIMS.labels("claimed").inc()
        return next(iter(stored), None)

    async def request(self, sandbox: Sandbox, *, from_pool: bool) -> Sandbox | None:
        """Put a new sandbox in line and admit those whose turn it is; returns its record after that, None if its
        session's place was taken meanwhile. With `from_pool`, which is for sessions without files, it claims a sandbox
        of the pool with the `fingerprint` if nobody waits, and returns that one.

        Raises `UserQueueLimitError`, `TotalLimitError`."""
        fingerprint = await self.fingerprint() if self.fingerprint and from_pool else ""
        stored = await self._admit(sandbox, fingerprint=fingerprint)
        session_id = sandbox.identity.session_id
        mine = next((one for one in stored if one.is_alive and one.identity.session_id == session_id), None)
        if fingerprint and mine is not None:
            measures.POOL_CLAIMS.labels("claimed" if mine.endpoint is not None else "missed").inc()
        return mine

    async def request_wake(self, sandbox_id: str) -> bool:
        """Put a paused sandbox in line, where it counts as running. True if there is room to wake it here now: the
        caller does it then; else `pump` returns it later, at its place."""
        place, room = await self.runtime.place(), await self.room()
        has_room = False

        def decide(occupied: list[Sandbox], now: datetime) -> list[Sandbox]:
            nonlocal has_room
            mine = next((one for one in occupied if one.id == sandbox_id), None)
            if mine is None or (wanted := mine.with_wake_request(now, since=waking_after(occupied, mine, now))) is None:
                return []
            known = [one for one in occupied if one is not mine]
            has_room = wanted in admissible([*known, wanted], self.limits, room, place)
            return [wanted if has_room or mine.is_waiting else replace(wanted, revision=wanted.revision + 1)]

        return bool(await self._admit_by(decide)) and has_room

    async def pump(self) -> list[Sandbox]:
        """Admit those whose turn it is, give up on those that waited in vain, and make room by removing paused ones.

        Returns the paused ones that are to be woken here now."""
        occupied = await self.registry.find(occupied=True)
        if not any(one.is_waiting for one in occupied):
            return []
        awake: list[Sandbox] = []
        try:
            await self.runtime.check()
        except EngineUnavailableError:
            _log.warning("the engine is unavailable while sandboxes wait", extra={"waiting": len(line(occupied))})
        else:
            await self._admit(None)
            occupied = await self.registry.find(occupied=True)
            turns = admissible(occupied, self.limits, await self.room(), await self.runtime.place())
            awake = [one for one in turns if one.status is Status.PAUSED]
        await self._release_unused()
        await self._reclaim()
        return awake

    async def _admit(self, new: Sandbox | None, *, fingerprint: str = "") -> list[Sandbox]:
        place, room = await self.runtime.place(), await self.room()

        def decide(occupied: list[Sandbox], now: datetime) -> list[Sandbox]:
            over = {
                one.id: gone
                for one in occupied
                if (gone := given_up(one, occupied, now, self.limits, room, place)) is not None
            }
            known = [left for one in occupied if (left := over.get(one.id, one)).occupied]
            if new is not None:
                if any(one.identity.session_id == new.identity.session_id for one in known):
                    return []
                claimed = self._claim_pooled(known, new, now, place, fingerprint)
                if claimed is not None:
                    return [*over.values(), claimed]
                known.append(new)
            changed = {new.id: new} if new is not None else {}
            for one in admissible(known, self.limits, room, place):
                started = one.admitted(self.launcher.owner, now + LEASE, self.runtime.name, place)
                if started is not None:
                    changed[one.id] = started
            return [*over.values(), *changed.values()]

        return await self._admit_by(decide)

    def _claim_pooled(
        self, known: list[Sandbox], new: Sandbox, now: datetime, place: str, fingerprint: str
    ) -> Sandbox | None:
        """Claim a sandbox of the pool in place of the new one, if nobody waits for room and its user may have one more
        running."""
        if any(one.identity.session_id == new.identity.session_id for one in known):
            return None
        check_line(known, new.identity.user_id, self.limits)
        warm = next((one for one in known if one.can_be_claimed(place, fingerprint, now)), None)
        if warm is None or within_user_limits([*known, new], self.limits) != [new]:
            return None
        return warm.claimed(new, self.launcher.owner, now + LEASE)

    async def _admit_by(self, decide: Callable[[list[Sandbox], datetime], list[Sandbox]]) -> list[Sandbox]:
        async with self.one_at_a_time:
            since = asyncio.get_running_loop().time()
            stored = await self.registry.admit(decide)
        for one in stored:
            if one.status is Status.STARTING:
                admitted(one, LEASE)
                self.launcher.launch(LeasedSandbox(one, since))
            elif not one.is_alive:
                _log.info("sandbox no longer waited for", extra={**log_fields(one.identity), "reason": one.reason})
        return stored

    async def make_room(self, user_id: str, *, coming: int = 0) -> None:
        """Take the sandbox unused for the longest time from a user with more to run than allowed, or a paused one if
        only the total count is in the way; its workspace is kept. Nothing happens while all are used."""
        own = await self.registry.find(user_id=user_id, occupied=True)
        chosen = spare(own, self.limits, self.clock.now(), coming=coming) or sleeper(own, self.limits, coming=coming)
        if chosen is not None:
            await self.give_up(chosen, RECLAIMED)

    async def _release_unused(self) -> None:
        """Give the places of sandboxes not used of late to those that wait only because of their own user's others."""
        occupied = await self.registry.find(occupied=True)
        entitled = {one.id for one in within_user_limits(occupied, self.limits)}
        for user_id in {one.identity.user_id for one in line(occupied) if one.id not in entitled}:
            await self.make_room(user_id)

    async def _reclaim(self) -> None:
        """Remove a paused sandbox for those that wait: pausing only saves time later. The pool goes first."""
        occupied = await self.registry.find(occupied=True)
        paused = [one for one in occupied if one.status in (Status.PAUSED, Status.WARM) and not one.is_waiting]
        if not paused or not within_user_limits(occupied, self.limits):
            return
        chosen = min(paused, key=lambda one: (not one.is_pooled, one.idle_expires_at))
        await self.give_up(chosen, RECLAIMED)

    async def give_up(self, chosen: Sandbox, reason: str) -> bool:
        """Remove a sandbox that nobody uses, its workspace kept; False if it was used meanwhile."""

        def move(now: Sandbox) -> Sandbox | None:
            return now.retired(reason, Cleanup.KEEP_WORKSPACE) if now.version == chosen.version else None

        over = await change_sandbox(self.registry, chosen.id, move)
        if over is None:
            return False
        try:
            await self.clean(over)
        except DomainError as error:
            _log.warning("sandbox not removed", extra={**log_fields(over.identity), "reason": error.detail})
        return True
