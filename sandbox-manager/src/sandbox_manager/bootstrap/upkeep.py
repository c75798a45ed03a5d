"""Background work of a manager, each in a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from sandbox_manager.application.pause_sandbox import ResumeSandbox
from sandbox_manager.application.pool import Pool
from sandbox_manager.application.presence import Presence
from sandbox_manager.application.reconcile import Reconcile
from sandbox_manager.application.tend_workspaces import TendWorkspaces
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.ports import Leases, RuntimeHost, SandboxMonitor

_log = logging.getLogger(__name__)

_PUMP_S = 0.5
_POOL_S = 1.0
_RENEW_S = 5.0
_AGAIN_S = 1.0
_STOP_S = 5.0
_SPARE = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Sweeps and the pool, by one manager of a place at a time; admission; its own presence; sandboxes that end on the
    machine."""

    reconcile: Reconcile
    tend: TendWorkspaces
    resume: ResumeSandbox
    pool: Pool
    presence: Presence
    leases: Leases
    host: RuntimeHost
    monitor: SandboxMonitor
    owner: str
    interval_s: float

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        stopping = asyncio.Event()
        tasks = [
            asyncio.create_task(self._sweep_always(stopping), name="reconciler"),
            asyncio.create_task(_repeat(self.resume.in_line, _PUMP_S, stopping), name="admission"),
            asyncio.create_task(_repeat(self.presence.renew, _RENEW_S, stopping), name="presence"),
        ]
        # These may wait long, and are cancelled; the others soon finish their present step.
        waiting = [
            asyncio.create_task(_repeat(self._watch, _AGAIN_S, stopping), name="endings"),
            asyncio.create_task(_repeat(self.pool.tend, _POOL_S, stopping), name="pool"),
        ]
        try:
            yield
        finally:
            stopping.set()
            for task in waiting:
                task.cancel()
            _, late = await asyncio.wait(tasks, timeout=_STOP_S)
            for task in late:
                task.cancel()
            await asyncio.wait([*tasks, *waiting])
            # Pieces that a sweep no longer waits for still run; they end here.
            await asyncio.gather(*(each.aclose() for each in (self.reconcile.each, self.tend.each, self.resume.each)))
            with contextlib.suppress(DomainError):
                await self.leases.release(await self._sweep_lease(), self.owner)
                await self.pool.leave()

    async def _sweep_always(self, stopping: asyncio.Event) -> None:
        """Sweep for ever. The first sweep goes without the lease, which a killed manager may hold: all that ran here
        may have ended with it, unreported."""
        await _attempt(self.reconcile)
        await _repeat(self._sweep, self.interval_s, stopping)

    async def _sweep(self) -> None:
        """Sweep under a lease that outlasts the pause between two sweeps, so that it stays with one manager until that
        is gone."""
        ttl = timedelta(seconds=self.interval_s * 1.5) + _SPARE
        if await self.leases.acquire(await self._sweep_lease(), self.owner, ttl):
            await self.reconcile()
            await self.tend()

    async def _sweep_lease(self) -> str:
        return f"sweep:{await self.host.place()}"

    async def _watch(self) -> None:
        async with contextlib.aclosing(self.monitor.endings()) as endings:
            async for sandbox_id in endings:
                try:
                    await self.reconcile.one(sandbox_id)
                except DomainError as error:
                    _log.warning("ended sandbox not handled", extra={"sandbox_id": sandbox_id, "reason": error.detail})


async def _repeat(work: Callable[[], Awaitable[None]], pause_s: float, stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        await _attempt(work)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause_s):
                await stopping.wait()


async def _attempt(work: Callable[[], Awaitable[None]]) -> None:
    name = getattr(work, "__qualname__", type(work).__name__)
    try:
        await work()
    except DomainError as error:
        _log.warning("upkeep failed", extra={"work": name, "reason": error.detail})
    except Exception:  # noqa: BLE001 - edge of an owned task
        _log.exception("upkeep crashed", extra={"work": name})
