"""Freeze a sandbox, and let it go on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from sandbox_manager.application.admission import Admission
from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.fan_out import FanOut, Piece
from sandbox_manager.domain.admission import spare
from sandbox_manager.domain.errors import (
    DomainError,
    ElsewhereError,
    SandboxNotFoundError,
    SandboxNotReadyError,
    SandboxOverError,
)
from sandbox_manager.domain.ports import Clock, Found, SandboxLifecycle, SandboxRecords
from sandbox_manager.domain.sandbox import Cleanup, Sandbox, Status

_log = logging.getLogger(__name__)

_WAIT_S = 20.0
_ROUND_S = 1.0
_DID_NOT_WAKE = "The computer did not wake up."


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseSandbox:
    """Freeze a ready sandbox until it is used; `keep` is the longest time it may wait for that.

    Idempotent. Pausing and resuming hold the lease, and change the record first: a token requested meanwhile waits and
    then wakes it. Raises `SandboxNotFoundError`, `SandboxNotReadyError`, `SandboxOverError`, `SandboxBusyError`,
    `ElsewhereError`, `EngineUnavailableError`; it then runs on.
    """

    registry: SandboxRecords
    runtime: SandboxLifecycle
    clock: Clock
    clean: CleanSandbox
    keep: timedelta

    async def __call__(self, sandbox_id: str) -> Sandbox:
        return await self._pause(await known(self.registry, sandbox_id), lambda _: True, _WAIT_S)

    async def when_idle(self, sandbox: Sandbox) -> Sandbox:
        """Pause it unless it was used meanwhile."""
        return await self._pause(sandbox, lambda now: now.idle_expires_at <= self.clock.now(), 0)

    async def unless_used(self, sandbox: Sandbox) -> Sandbox:
        """Pause it for another sandbox of the same user, unless it was used meanwhile."""
        return await self._pause(sandbox, lambda now: now.idle_expires_at <= sandbox.idle_expires_at, _WAIT_S)

    async def _pause(self, sandbox: Sandbox, still: Callable[[Sandbox], bool], wait_s: float) -> Sandbox:
        async with self.clean.work.on(sandbox.id, wait_s=wait_s) as newest:
            if newest.status is Status.PAUSED:
                return newest
            if not await self.clean.is_here(newest):
                raise ElsewhereError
            now = self.clock.now()
            paused = await change_sandbox(
                self.registry, sandbox.id, lambda one: one.paused(now, self.keep) if still(one) else None
            )
            if paused is None:
                return await not_changed(self.registry, sandbox.id)
            try:
                await self.runtime.pause(sandbox.identity)
            except DomainError:
                await change_sandbox(self.registry, sandbox.id, lambda one: one.resumed(now, timedelta()))
                raise
        _log.info("sandbox paused", extra=log_fields(sandbox.identity))
        return paused


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSandbox:
    """Let a paused sandbox go on, or put it in line if there is no room. One that does not wake up is given up, its
    workspace kept.

    Idempotent. For a user at the limit of running ones, the one unused for the longest time is paused; the request
    waits while all are used. Raises as `PauseSandbox` does.
    """

    registry: SandboxRecords
    runtime: SandboxLifecycle
    clock: Clock
    clean: CleanSandbox
    idle: timedelta
    admission: Admission
    pause: PauseSandbox
    each: FanOut = field(default_factory=lambda: FanOut(trouble="sandbox not woken", wait_s=_ROUND_S))

    async def __call__(self, sandbox_id: str) -> Sandbox:
        sandbox = await known(self.registry, sandbox_id)
        if sandbox.status is not Status.PAUSED or not await self._has_room(sandbox):
            return await not_changed(self.registry, sandbox_id)
        return await self._wake(sandbox, _WAIT_S)

    async def in_line(self) -> None:
        """Wake the paused sandboxes whose turn has come."""
        await self.each(self._piece(one) for one in await self.admission.pump())

    def _piece(self, sandbox: Sandbox) -> Piece:
        return Piece(sandbox.id, log_fields(sandbox.identity), lambda: self._wake(sandbox, 0))

    async def _has_room(self, sandbox: Sandbox) -> bool:
        if await self.admission.request_wake(sandbox.id):
            return True
        own = await self.registry.find(user_id=sandbox.identity.user_id, occupied=True)
        unused = spare(own, self.admission.limits, self.clock.now())
        if unused is None:
            return False
        await self.pause.unless_used(unused)
        return await self.admission.request_wake(sandbox.id)

    async def _wake(self, sandbox: Sandbox, wait_s: float) -> Sandbox:
        sandbox_id = sandbox.id
        async with self.clean.work.on(sandbox_id, wait_s=wait_s) as newest:
            if newest.status is not Status.PAUSED:
                return await not_changed(self.registry, sandbox_id)
            try:
                await self.runtime.resume(sandbox.identity)
            except DomainError as error:
                await self._give_up_dead(newest, error)
            resumed = await change_sandbox(
                self.registry, sandbox_id, lambda one: one.resumed(self.clock.now(), self.idle)
            )
        if resumed is None:
            return await not_changed(self.registry, sandbox_id)
        _log.info("sandbox resumed", extra=log_fields(sandbox.identity))
        return resumed

    async def _give_up_dead(self, sandbox: Sandbox, error: DomainError) -> None:
        found = {one.identity.sandbox_id: one for one in await self.runtime.found()}
        if (here := found.get(sandbox.id)) is not None and here.running:
            await change_sandbox(self.registry, sandbox.id, lambda one: one.left_paused())
            raise error
        over = await change_sandbox(
            self.registry, sandbox.id, lambda one: one.retired(_DID_NOT_WAKE, Cleanup.KEEP_WORKSPACE)
        )
        if over is not None:
            await self.clean.settle(over)

    async def mend(self, sandbox: Sandbox, found: Found) -> None:
        """Bring a sandbox into the state of its record, which differs because work on it was cut off."""
        async with self.clean.work.on(sandbox.id, wait_s=0) as newest:
            if newest.status is Status.PAUSED and not found.paused:
                await self.runtime.pause(newest.identity)
            elif newest.status in (Status.READY, Status.WARM) and found.paused:
                await self.runtime.resume(newest.identity)


async def known(registry: SandboxRecords, sandbox_id: str) -> Sandbox:
    """The sandbox's record. Raises `SandboxNotFoundError`, also for an unclaimed one of the pool."""
    sandbox = await registry.get(sandbox_id)
    if sandbox is None or sandbox.is_pooled:
        raise SandboxNotFoundError
    return sandbox


async def not_changed(registry: SandboxRecords, sandbox_id: str) -> Sandbox:
    """The sandbox as it is if there was nothing to do; else an error with the reason."""
    sandbox = await known(registry, sandbox_id)
    if sandbox.status in (Status.READY, Status.PAUSED):
        return sandbox
    if sandbox.is_alive:
        raise SandboxNotReadyError(f"The sandbox is {sandbox.status.value}.")
    raise SandboxOverError("The computer is gone; start it again.")
