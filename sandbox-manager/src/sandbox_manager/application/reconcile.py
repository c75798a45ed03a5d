"""Bring what is wanted and what is found on the machine together."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Clock, Found, Runtime, SandboxRegistry
from sandbox_manager.domain.sandbox import Cleanup, Sandbox, Status

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reconcile:
    """One sweep, both ways: what nobody owns is removed, what died or ran out is given up, its workspace kept.

    Safe to run in several managers at once. Raises `EngineUnavailableError`, `RegistryUnavailableError`.
    """

    registry: SandboxRegistry
    runtime: Runtime
    clock: Clock
    clean: CleanSandbox

    async def __call__(self) -> None:
        # Found is read first: a record is written before anything is made, so what is found then has its record.
        found = {one.identity.sandbox_id: one for one in await self.runtime.found()}
        wanted = {one.id: one for one in await self.registry.find(occupied=True)}
        for sandbox in wanted.values():
            await self._keep(sandbox, found.get(sandbox.id))
        for stray in found.values():
            if stray.identity.sandbox_id not in wanted:
                await self._remove_stray(stray)

    async def _keep(self, sandbox: Sandbox, found: Found | None) -> None:
        try:
            reason = self._reason_to_end(sandbox, found)
            if reason is not None:
                _log.info("sandbox given up", extra={**log_fields(sandbox.identity), "reason": reason})
                await change_sandbox(self.registry, sandbox.id, lambda now: self._ended(now, sandbox.version, reason))
            newest = await self.registry.get(sandbox.id)
            if newest is not None and not newest.lives:
                await self.clean(newest)
        except DomainError as error:
            _log.warning("sandbox not reconciled", extra={**log_fields(sandbox.identity), "reason": error.detail})

    def _ended(self, now: Sandbox, seen_version: int, reason: str) -> Sandbox | None:
        if now.version != seen_version:
            return None  # it moved on since we looked (renewed, ready, deleted); the next sweep looks again
        if now.status is Status.STARTING:
            return now.failed(reason, retryable=True)
        return now.retired(reason, Cleanup.KEEP_WORKSPACE)

    def _reason_to_end(self, sandbox: Sandbox, found: Found | None) -> str | None:
        now = self.clock.now()
        if not sandbox.lives:
            return None
        if sandbox.runtime != self.runtime.name:
            return "The manager was started with another runtime."
        if sandbox.expires_at <= now:
            return "The sandbox reached its longest lifetime."
        if sandbox.idle_expires_at <= now:
            return "The sandbox was idle for too long."
        if sandbox.status is Status.STARTING:
            return "The manager stopped while it started the sandbox." if sandbox.lease_until <= now else None
        if found is None:
            return "The sandbox was removed from outside."
        if not found.running:
            return found.reason or "The sandbox stopped."
        return None

    async def _remove_stray(self, stray: Found) -> None:
        try:
            record = await self.registry.get(stray.identity.sandbox_id)
            if record is not None and record.occupied:
                return
            _log.warning("stray sandbox removed", extra=log_fields(stray.identity))
            await self.clean.remove(stray.identity, keep_workspace=True)
        except DomainError as error:
            _log.warning("stray not removed", extra={**log_fields(stray.identity), "reason": error.detail})
