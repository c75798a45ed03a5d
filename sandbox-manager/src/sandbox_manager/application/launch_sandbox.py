"""The owned tasks that bring sandboxes up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from datetime import timedelta

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.domain.errors import DomainError, StartFailedError
from sandbox_manager.domain.ports import Clock, DoorKeys, Runtime, SandboxRegistry, SandboxSpec
from sandbox_manager.domain.sandbox import Sandbox

_log = logging.getLogger(__name__)

LEASE = timedelta(seconds=15)
_HEARTBEAT_S = 5.0


class Launcher:
    """Owner of the start of every sandbox this manager was asked for.

    A start ends as ready, or as failed with all its remains removed; while it goes on its lease is renewed, so that
    another manager knows a start nobody works on. Whoever cancels a start takes over its clean-up.
    """

    def __init__(
        self,
        *,
        registry: SandboxRegistry,
        runtime: Runtime,
        keys: DoorKeys,
        clock: Clock,
        clean: CleanSandbox,
        owner: str,
        deadline_s: float,
    ) -> None:
        self._registry = registry
        self._runtime = runtime
        self._keys = keys
        self._clock = clock
        self._clean = clean
        self._deadline_s = deadline_s
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.owner = owner

    def launch(self, sandbox: Sandbox) -> None:
        task = asyncio.create_task(self._bring_up(sandbox), name=f"launch-{sandbox.id}")
        self._tasks[sandbox.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(sandbox.id, None))

    async def wait(self, sandbox_id: str, timeout_s: float) -> bool:
        """Wait for the end of a start; False at once when this manager does not own it."""
        task = self._tasks.get(sandbox_id)
        if task is None:
            return False
        await asyncio.wait({task}, timeout=timeout_s)
        return True

    async def cancel(self, sandbox_id: str) -> None:
        """End a start and wait until nothing more is made for it."""
        task = self._tasks.get(sandbox_id)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def close(self) -> None:
        """End all starts."""
        for sandbox_id in list(self._tasks):
            await self.cancel(sandbox_id)

    async def _bring_up(self, sandbox: Sandbox) -> None:
        try:
            await self._start(sandbox)
        except DomainError as error:
            _log.warning("sandbox start not settled", extra={**log_fields(sandbox.identity), "reason": error.detail})
        except Exception:  # noqa: BLE001 - edge of an owned task
            _log.exception("sandbox start crashed", extra=log_fields(sandbox.identity))

    async def _start(self, sandbox: Sandbox) -> None:
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._deadline_s), self._lease_kept(sandbox.id):
                started = await self._runtime.start(
                    SandboxSpec(identity=sandbox.identity, public_key=self._keys.public_key)
                )
        except TimeoutError:
            reason = f"The sandbox did not become ready within {self._deadline_s:.0f} s; the machine may be overloaded."
            await self._fail(sandbox, StartFailedError(reason, retryable=True))
            return
        except DomainError as error:
            await self._fail(sandbox, error)
            return
        except Exception:  # noqa: BLE001 - edge of an owned task
            _log.exception("sandbox start crashed", extra=log_fields(sandbox.identity))
            await self._fail(
                sandbox, StartFailedError("The sandbox could not be started; see the manager's log.", retryable=True)
            )
            return
        ready = await change_sandbox(self._registry, sandbox.id, lambda now: now.made_ready(started))
        if ready is None:
            await self._clean.remove(sandbox.identity, keep_workspace=True)
            return
        took = round((asyncio.get_running_loop().time() - began) * 1000)
        _log.info("sandbox ready", extra={**log_fields(sandbox.identity), "duration_ms": took})

    async def _fail(self, sandbox: Sandbox, error: DomainError) -> None:
        _log.warning("sandbox failed to start", extra={**log_fields(sandbox.identity), "reason": error.detail})
        failed = await change_sandbox(
            self._registry, sandbox.id, lambda now: now.failed(error.detail, retryable=error.retryable)
        )
        if failed is not None:
            await self._clean(failed)
        else:
            await self._clean.remove(sandbox.identity, keep_workspace=True)

    @contextlib.asynccontextmanager
    async def _lease_kept(self, sandbox_id: str) -> AsyncGenerator[None]:
        heartbeat = asyncio.create_task(self._keep_lease(sandbox_id), name=f"lease-{sandbox_id}")
        try:
            yield
        finally:
            heartbeat.cancel()
            await asyncio.wait({heartbeat})

    async def _keep_lease(self, sandbox_id: str) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            with contextlib.suppress(DomainError):
                await change_sandbox(
                    self._registry, sandbox_id, lambda now: now.leased(self.owner, self._clock.now() + LEASE)
                )
