"""The owned tasks that bring sandboxes up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.sandbox_work import SandboxWork
from sandbox_manager.application.watched_start import phase_reached, watched_start
from sandbox_manager.domain.errors import DomainError, StartFailedError
from sandbox_manager.domain.ports import DoorKeys, Runtime, SandboxRegistry, SandboxSpec
from sandbox_manager.domain.sandbox import Identity, Sandbox, Started, Status

_log = logging.getLogger(__name__)


class Launcher:
    """Owner of the start of every sandbox this manager was asked for.

    A start ends as ready, or as failed with all its remains removed; while it goes on its lease is kept, so that
    another manager knows a start nobody works on. One that was given up meanwhile, by any manager, is ended; whoever
    gave it up or cancels it takes over its clean-up.
    """

    def __init__(
        self,
        *,
        registry: SandboxRegistry,
        runtime: Runtime,
        keys: DoorKeys,
        clean: CleanSandbox,
        work: SandboxWork,
        deadline_s: float,
        files_ready: Callable[[Identity], Awaitable[None]] | None = None,
        claim: Callable[[Sandbox], Awaitable[Started | None]] | None = None,
    ) -> None:
        self._registry = registry
        self._runtime = runtime
        self._keys = keys
        self._clean = clean
        self._work = work
        self._deadline_s = deadline_s
        self._files_ready = files_ready
        self._claim = claim
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def owner(self) -> str:
        """Whose starts these are."""
        return self._work.owner

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
        async with self._work.on(sandbox.id, wait_s=0, goes_on=_still_wanted) as newest:
            if newest.status is not Status.STARTING:
                return
            with watched_start(sandbox) as watch:
                error = await self._trouble_of(sandbox)
                watch.ended(error)
            if error is None:
                return
            _log.warning("sandbox failed to start", extra={**log_fields(sandbox.identity), "reason": error.detail})
            failed = await change_sandbox(
                self._registry, sandbox.id, lambda now: now.failed(error.detail, retryable=error.retryable)
            )
            if failed is not None:
                await self._clean.settle(failed)

    async def _trouble_of(self, sandbox: Sandbox) -> DomainError | None:
        began = asyncio.get_running_loop().time()
        limit = asyncio.timeout(self._deadline_s)
        try:
            async with limit:
                started = await self._claim(sandbox) if self._claim is not None else None
                if started is not None:
                    phase_reached("claimed")
                else:
                    started = await self._begin(sandbox.identity)
        except TimeoutError:
            if not limit.expired():
                raise
            reason = f"The sandbox did not become ready within {self._deadline_s:.0f} s; the machine may be overloaded."
            return StartFailedError(reason, retryable=True)
        except DomainError as error:
            return error
        except Exception:  # noqa: BLE001 - edge of an owned task
            _log.exception("sandbox start crashed", extra=log_fields(sandbox.identity))
            return StartFailedError("The sandbox could not be started; see the manager's log.", retryable=True)
        await change_sandbox(self._registry, sandbox.id, lambda now: now.made_ready(started, self.owner))
        took = round((asyncio.get_running_loop().time() - began) * 1000)
        _log.info("sandbox started", extra={**log_fields(sandbox.identity), "duration_ms": took})
        return None

    async def _begin(self, identity: Identity) -> Started:
        if self._files_ready is not None:
            await self._files_ready(identity)
        return await self._runtime.start(SandboxSpec(identity=identity, public_key=self._keys.public_key))


def _still_wanted(sandbox: Sandbox) -> bool:
    return sandbox.status in (Status.STARTING, Status.READY)
