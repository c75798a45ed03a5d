"""Exclusive work on one sandbox, over all managers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import timedelta
from weakref import WeakValueDictionary

from sandbox_manager.domain.errors import DomainError, SandboxBusyError
from sandbox_manager.domain.ports import SandboxLeases
from sandbox_manager.domain.sandbox import Sandbox

LEASE = timedelta(seconds=10)
_HEARTBEAT_S = 1.0
_LOOK_S = 0.1
_FRESH_S = 3.0


@dataclass(frozen=True, slots=True)
class LeasedSandbox:
    """A record as it was stored with this manager's lease on it, and the loop's time before that."""

    sandbox: Sandbox
    since: float


class SandboxWork:
    """Hands out the right to start, pause, resume or remove a sandbox.

    It is a lease on the record, renewed during the work and taken over when its owner is dead: by the database's clock,
    so that no manager's own matters.
    """

    def __init__(self, registry: SandboxLeases, owner: str) -> None:
        self._registry = registry
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.owner = owner

    @contextlib.asynccontextmanager
    async def on(
        self,
        sandbox_id: str,
        *,
        wait_s: float,
        goes_on: Callable[[Sandbox], bool] = lambda _: True,
        leased: LeasedSandbox | None = None,
    ) -> AsyncGenerator[Sandbox]:
        """The block has the sandbox for itself; it is cancelled when the lease is lost or `goes_on` returns False.

        `leased` is a lease acquired a moment ago, which need not be acquired again.

        Raises `SandboxBusyError` when somebody else works on it for longer than `wait_s`, when the block was cut off,
        or when there is no such sandbox.
        """
        lock = self._locks.setdefault(sandbox_id, asyncio.Lock())
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_s
        await _acquire(lock, wait_s)
        try:
            if leased is None or loop.time() - leased.since > _FRESH_S:
                leased = await self._lease(sandbox_id, until)
            cut = asyncio.timeout(None)
            try:
                async with cut, self._lease_renewed(leased, cut, goes_on):
                    yield leased.sandbox
            except TimeoutError:
                if not cut.expired():
                    raise
                raise SandboxBusyError from None
            finally:
                with contextlib.suppress(DomainError):
                    await self._registry.release_lease(sandbox_id, self.owner)
        finally:
            lock.release()

    async def _lease(self, sandbox_id: str, until: float) -> LeasedSandbox:
        while True:
            since = asyncio.get_running_loop().time()
            sandbox = await self._registry.acquire_lease(sandbox_id, self.owner, LEASE)
            if sandbox is not None:
                return LeasedSandbox(sandbox, since)
            if asyncio.get_running_loop().time() >= until:
                raise SandboxBusyError
            await asyncio.sleep(_LOOK_S)

    @contextlib.asynccontextmanager
    async def _lease_renewed(
        self, leased: LeasedSandbox, cut: asyncio.Timeout, goes_on: Callable[[Sandbox], bool]
    ) -> AsyncGenerator[None]:
        beating = asyncio.create_task(self._renew_lease(leased, cut, goes_on), name=f"lease-{leased.sandbox.id}")
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.wait({beating})

    async def _renew_lease(
        self, leased: LeasedSandbox, cut: asyncio.Timeout, goes_on: Callable[[Sandbox], bool]
    ) -> None:
        loop = asyncio.get_running_loop()
        held_until = leased.since + LEASE.total_seconds()
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            asked_at = loop.time()
            try:
                async with asyncio.timeout_at(held_until):
                    sandbox = await self._registry.acquire_lease(leased.sandbox.id, self.owner, LEASE)
            except (DomainError, TimeoutError):
                if loop.time() + _HEARTBEAT_S < held_until:
                    continue
                sandbox = None
            if sandbox is None or not goes_on(sandbox):
                cut.reschedule(loop.time())
                return
            held_until = asked_at + LEASE.total_seconds()


async def _acquire(lock: asyncio.Lock, wait_s: float) -> None:
    if not lock.locked():
        await lock.acquire()
        return
    try:
        async with asyncio.timeout(wait_s):
            await lock.acquire()
    except TimeoutError:
        raise SandboxBusyError from None
