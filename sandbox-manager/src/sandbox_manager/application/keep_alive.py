"""Renew a sandbox's watchdog, and read when it was last used."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import log_fields
from sandbox_manager.domain.disk import DiskLimit
from sandbox_manager.domain.errors import EngineUnavailableError
from sandbox_manager.domain.ports import Clock, Report, SandboxMonitor, SandboxRecords, TokenKeys
from sandbox_manager.domain.sandbox import Sandbox

_log = logging.getLogger(__name__)

_TOKEN = timedelta(seconds=60)
_MIB = 1024 * 1024
KEEP = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepAlive:
    """Return the record with its idle end by the sandbox's report, in which commands, screens and calls are activity;
    and with the notice to its user about the size of its files.

    If it does not answer, its record counts. `wall` is this machine's clock, which tokens use.
    """

    registry: SandboxRecords
    runtime: SandboxMonitor
    keys: TokenKeys
    clock: Clock
    wall: Clock
    idle: timedelta
    disk: DiskLimit = field(default_factory=DiskLimit)
    deadline_s: float = 5.0

    async def __call__(self, sandbox: Sandbox) -> Sandbox:
        report = await self.ask(sandbox)
        if report is None:
            return sandbox
        sandbox = await self._with_fill(sandbox, report)
        active_at = self.clock.now() - timedelta(seconds=max(report.unused_s, 0.0))
        renewed = sandbox.renewed(active_at, self.idle)
        if renewed is None or renewed.idle_expires_at == sandbox.idle_expires_at:
            return sandbox
        stored = await change_sandbox(self.registry, sandbox.id, lambda now: now.renewed(active_at, self.idle))
        return stored or sandbox

    async def _with_fill(self, sandbox: Sandbox, report: Report) -> Sandbox:
        used, files = report.disk_bytes, report.disk_files or 0
        size = sandbox.configuration.size
        disk = self.disk if size is None else replace(self.disk, limit_bytes=size.disk_mb * _MIB)
        if used is None or disk.fill(used, sandbox.fill, files) is sandbox.fill:
            return sandbox
        by_files = disk.is_by_files(used, files)

        def filled(now: Sandbox) -> Sandbox | None:
            fill = disk.fill(used, now.fill, files)
            notice = disk.notice(fill, is_by_files=by_files)
            return now.filled(fill, notice, 0 if by_files else disk.limit_mb)

        return await change_sandbox(self.registry, sandbox.id, filled) or sandbox

    async def ask(self, sandbox: Sandbox) -> Report | None:
        """The sandbox's report; None if it does not answer."""
        if sandbox.endpoint is None:
            return None
        now = self.wall.now()
        token = self.keys.sign(sandbox.identity, [KEEP], now, now + _TOKEN)
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self.runtime.keep_alive(sandbox.identity, sandbox.endpoint, token)
        except (EngineUnavailableError, TimeoutError) as error:
            fields = {**log_fields(sandbox.identity), "reason": str(error) or "it took too long"}
            _log.warning("sandbox did not answer its keep-alive", extra=fields)
            return None
        except Exception:  # noqa: BLE001 - whatever is in it may answer; its time must run out all the same
            _log.exception("answer of a sandbox could not be read", extra=log_fields(sandbox.identity))
            return None
