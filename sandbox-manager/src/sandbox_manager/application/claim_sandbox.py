"""Give a booted sandbox of the pool to the session that wants one."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.keep_alive import KEEP
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Clock, SandboxLifecycle, SandboxMonitor, TokenKeys
from sandbox_manager.domain.sandbox import Sandbox, Started

_log = logging.getLogger(__name__)

_TOKEN = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSandbox:
    """Bind a claimed sandbox to the session's generation, upon which it wakes, and give its workspace to the session;
    the record names its owner already.

    Returns None if that did not work: nothing of it is left then, and the same record is to be started from scratch.
    Raises `EngineUnavailableError` if it can't be removed either. `wall` is this machine's clock, which tokens use.
    """

    lifecycle: SandboxLifecycle
    monitor: SandboxMonitor
    keys: TokenKeys
    wall: Clock
    clean: CleanSandbox
    deadline_s: float = 5.0

    async def __call__(self, sandbox: Sandbox) -> Started | None:
        if sandbox.endpoint is None:
            return None
        try:
            async with asyncio.timeout(self.deadline_s):
                outcomes = await asyncio.gather(
                    self.lifecycle.assign_workspace(sandbox.identity),
                    self._open(sandbox, sandbox.endpoint),
                    return_exceptions=True,
                )
        except TimeoutError as error:
            outcomes = [error]
        for trouble in outcomes:
            if isinstance(trouble, DomainError | TimeoutError):
                fields = {**log_fields(sandbox.identity), "reason": str(trouble) or "it took too long"}
                _log.warning("claim failed, restarted", extra=fields)
                await self.clean.remove(sandbox.identity, keep_workspace=True)
                return None
            if trouble is not None:
                raise trouble
        return Started(endpoint=sandbox.endpoint, has_desktop=sandbox.has_desktop, has_network=sandbox.has_network)

    async def _open(self, sandbox: Sandbox, endpoint: str) -> None:
        now = self.wall.now()
        claim = self.keys.sign(
            sandbox.identity, [KEEP], now, now + _TOKEN, claim_until=now + (sandbox.expires_at - sandbox.created_at)
        )
        await self.monitor.keep_alive(sandbox.identity, endpoint, claim)
