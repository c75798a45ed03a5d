"""Reconcile the wanted sandboxes with those found on the machine."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sandbox_manager.application import measures
from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.fan_out import FanOut, Piece
from sandbox_manager.application.keep_alive import KeepAlive
from sandbox_manager.application.presence import Presence
from sandbox_manager.domain.clocks import Clocks
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Clock, Found, RuntimeHost, SandboxLifecycle, SandboxRecords
from sandbox_manager.domain.sandbox import Cleanup, Sandbox, Status

_log = logging.getLogger(__name__)

_STOPPED = "The start of the computer was interrupted."
_RESTLESS = "Its desktop was no longer suspended."
Pause = Callable[[Sandbox], Awaitable[object]]
Mend = Callable[[Sandbox, Found], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """One sweep, both ways: remains without an owner are removed; sandboxes that died or whose time is over are given
    up, their workspace kept.

    Safe to run in several managers at once: ending a sandbox takes its lease. Sandboxes at another place are left to
    the managers there, and given up only if there are none. `pause` freezes idle ones, which end without it. `mend`
    freezes or wakes one to match its record. Each is handled apart from the others: none stops a sweep. Raises
    `EngineUnavailableError`, `RegistryUnavailableError`.
    """

    registry: SandboxRecords
    host: RuntimeHost
    lifecycle: SandboxLifecycle
    clock: Clock
    clean: CleanSandbox
    clocks: Clocks
    presence: Presence
    keep_alive: KeepAlive
    pause: Pause | None = None
    mend: Mend | None = None
    each: FanOut = field(default_factory=lambda: FanOut(trouble="sandbox not reconciled"))

    async def __call__(self) -> None:
        began, outcome = time.perf_counter(), "failed"
        try:
            await self._sweep()
            outcome = "done"
        finally:
            measures.RECONCILES.labels(outcome).inc()
            measures.RECONCILE_SECONDS.observe(time.perf_counter() - began)

    async def _sweep(self) -> None:
        # Read what is found first: a record is written before anything is made, so all that is found has one.
        found = await self._find_all()
        wanted = {one.id: one for one in await self.registry.find(occupied=True)}
        strays = [one for one in found.values() if one.identity.sandbox_id not in wanted]
        if await self._is_any_dead(wanted.values(), found):
            # It may have become ready while the others were found, which takes seconds on a busy machine.
            found = await self._find_all()
        await self.each(
            [self._piece(one, found.get(one.id)) for one in wanted.values()] + [self._removal_of(one) for one in strays]
        )

    async def one(self, sandbox_id: str) -> None:
        """Look at one sandbox only: something happened to it."""
        sandbox = await self._get_settled(sandbox_id)
        if sandbox is not None:
            piece = Piece(sandbox_id, log_fields(sandbox.identity), lambda: self._look_at(sandbox_id))
            await self.each([piece], again=True)

    async def _look_at(self, sandbox_id: str) -> None:
        # It may have waited for a sweep to be done with the sandbox, whose record has moved on since.
        sandbox = await self._get_settled(sandbox_id)
        if sandbox is not None:
            await self._keep(sandbox, (await self._find_all()).get(sandbox_id))

    async def _find_all(self) -> dict[str, Found]:
        return {one.identity.sandbox_id: one for one in await self.lifecycle.found()}

    async def _is_any_dead(self, wanted: Iterable[Sandbox], found: Mapping[str, Found]) -> bool:
        """Whether a sandbox of this place that should run does not, by what was found."""
        place = await self.host.place()
        return any(
            one.place == place
            and one.status in (Status.READY, Status.PAUSED, Status.WARM)
            and self._why_dead(one, found.get(one.id)) is not None
            for one in wanted
        )

    async def _get_settled(self, sandbox_id: str) -> Sandbox | None:
        """The record; None if there is none, or if it is only about to start, which its starter sees to."""
        sandbox = await self.registry.get(sandbox_id)
        if sandbox is None or not sandbox.occupied or sandbox.status in (Status.QUEUED, Status.STARTING):
            return None
        return sandbox

    def _piece(self, sandbox: Sandbox, found: Found | None) -> Piece:
        return Piece(sandbox.id, log_fields(sandbox.identity), lambda: self._keep(sandbox, found))

    def _removal_of(self, stray: Found) -> Piece:
        return Piece(stray.identity.sandbox_id, log_fields(stray.identity), lambda: self._remove_stray(stray))

    async def _keep(self, sandbox: Sandbox, found: Found | None) -> None:
        if sandbox.status is Status.QUEUED:
            return
        if not await self.clean.is_here(sandbox):
            await self._leave_or_expire(sandbox)
        elif sandbox.status in (Status.STARTING, Status.WARMING):
            await self._keep_starting(sandbox)
        elif sandbox.is_alive:
            await self._keep_running(sandbox, found)
        else:
            await self.clean(sandbox, wait_s=0)

    async def _keep_starting(self, sandbox: Sandbox) -> None:
        if sandbox.lease_until > self.clock.now():
            return
        async with self.clean.work.on(sandbox.id, wait_s=0) as newest:
            if newest.status not in (Status.STARTING, Status.WARMING):
                return
            failed = await change_sandbox(
                self.registry,
                sandbox.id,
                lambda now: now.failed(_STOPPED, retryable=True) or now.retired(_STOPPED, Cleanup.ALL),
            )
            if failed is not None:
                measures.RECONCILED.labels("dead_start").inc()
                _log.warning("start of a dead manager undone", extra=log_fields(sandbox.identity))
                await self.clean.settle(failed)

    async def _keep_running(self, sandbox: Sandbox, found: Found | None) -> None:
        reason = self._why_dead(sandbox, found)
        if reason is None and sandbox.status is Status.READY:
            sandbox = await self.keep_alive(sandbox)
        elif reason is None and sandbox.status is Status.WARM:
            report = await self.keep_alive.ask(sandbox)
            reason = _RESTLESS if report is not None and not report.resting else None
        now = self.clock.now()
        reason = reason or self.clocks.over(sandbox, now)
        if reason is not None:
            await self._end(sandbox, reason)
        elif sandbox.status is Status.READY and sandbox.idle_expires_at <= now:
            await self._pause_or_end(sandbox)
        elif found is not None and self.mend is not None and found.paused is not (sandbox.status is Status.PAUSED):
            await self.mend(sandbox, found)
        else:
            notice = None if sandbox.is_pooled else self.clocks.notice(sandbox, now)
            if notice is not None:
                await change_sandbox(
                    self.registry, sandbox.id, lambda one: _if_unchanged(one, sandbox, one.warned(notice))
                )

    async def _pause_or_end(self, sandbox: Sandbox) -> None:
        try:
            if self.pause is not None:
                await self.pause(sandbox)
                return
        except EngineUnavailableError as error:
            _log.warning("sandbox not paused", extra={**log_fields(sandbox.identity), "reason": error.detail})
            sandbox = await self.registry.get(sandbox.id) or sandbox
        await self._end(sandbox, "The computer was not used for too long.")

    def _why_dead(self, sandbox: Sandbox, found: Found | None) -> str | None:
        if sandbox.runtime != self.host.name:
            return "The manager was started with another runtime."
        if found is None:
            return "The computer was removed from outside."
        if not found.running:
            return found.reason or "The computer stopped."
        return None

    async def _end(self, sandbox: Sandbox, reason: str) -> None:
        # A sandbox that changed since (renewed, resumed, deleted) is left to the next sweep.
        over = await change_sandbox(
            self.registry,
            sandbox.id,
            lambda now: _if_unchanged(now, sandbox, now.retired(reason, Cleanup.KEEP_WORKSPACE)),
        )
        if over is not None:
            measures.RECONCILED.labels("given_up").inc()
            _log.info("sandbox given up", extra={**log_fields(sandbox.identity), "reason": reason})
            await self.clean(over)

    async def _leave_or_expire(self, sandbox: Sandbox) -> None:
        within = self.clocks.orphan if sandbox.runtime == self.host.name else timedelta()
        if await self.presence.is_kept(sandbox.place, within=within):
            return

        def forsaken(now: Sandbox) -> Sandbox | None:
            over = now.failed(_STOPPED, retryable=True) or now.retired(
                "The machine it ran on is unavailable.", Cleanup.KEEP_WORKSPACE
            )
            newest = over or now
            return newest.settled(newest.cleanup, self.clock.now())

        if await change_sandbox(self.registry, sandbox.id, forsaken) is not None:
            measures.RECONCILED.labels("forsaken").inc()
            _log.warning("sandbox of a place without managers given up", extra=log_fields(sandbox.identity))

    async def _remove_stray(self, stray: Found) -> None:
        record = await self.registry.get(stray.identity.sandbox_id)
        if record is not None and record.occupied:
            return
        measures.RECONCILED.labels("stray").inc()
        _log.warning("stray sandbox removed", extra=log_fields(stray.identity))
        await self.clean.remove(stray.identity, keep_workspace=True)


def _if_unchanged(now: Sandbox, seen: Sandbox, moved: Sandbox | None) -> Sandbox | None:
    return moved if now.version == seen.version else None
