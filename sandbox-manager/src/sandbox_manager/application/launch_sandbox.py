"""The owned tasks that bring sandboxes up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from sandbox_manager.application.change import change_sandbox
from sandbox_manager.application.clean_sandbox import CleanSandbox, log_fields
from sandbox_manager.application.sandbox_work import LeasedSandbox, SandboxWork
from sandbox_manager.application.watched_start import phase_reached, watched_start
from sandbox_manager.domain.errors import DomainError, StartFailedError
from sandbox_manager.domain.ports import SandboxLifecycle, SandboxRecords, SandboxSpec, TokenKeys
from sandbox_manager.domain.sandbox import Identity, Sandbox, Started, Status

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Start:
    """One start. `settled` is set once its outcome is stored; callers need not wait for the rest."""

    settled: asyncio.Event = field(default_factory=asyncio.Event)
    ready: Sandbox | None = None
    task: asyncio.Task[None] | None = None


class Launcher:
    """Owner of the start of every sandbox that was requested from this manager.

    A start ends as ready, or as failed with all its remains removed; its lease is renewed meanwhile, so that other
    managers recognise an abandoned start. A start that any manager gave up is ended; the one that gave it up or cancels
    it takes over its clean-up.
    """

    def __init__(
        self,
        *,
        registry: SandboxRecords,
        runtime: SandboxLifecycle,
        keys: TokenKeys,
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
        self._starts: dict[str, _Start] = {}

    @property
    def owner(self) -> str:
        """The manager that owns these starts."""
        return self._work.owner

    def launch(self, leased: LeasedSandbox) -> None:
        """Start a sandbox that was admitted or claimed, with its lease."""
        sandbox_id, start = leased.sandbox.id, _Start()
        start.task = asyncio.create_task(self._bring_up(leased, start), name=f"launch-{sandbox_id}")
        self._starts[sandbox_id] = start

        def over(_: asyncio.Task[None]) -> None:
            start.settled.set()
            self._starts.pop(sandbox_id, None)

        start.task.add_done_callback(over)

    async def wait(self, sandbox_id: str, timeout_s: float) -> bool:
        """Wait for the end of a start; False at once when this manager does not own it."""
        start = self._starts.get(sandbox_id)
        if start is None:
            return False
        if start.task is not None:
            await asyncio.wait({start.task}, timeout=timeout_s)
        return True

    async def ready(self, sandbox_id: str, timeout_s: float) -> Sandbox | None:
        """The record once the sandbox is ready; None if it is not ready within the time, or not here."""
        start = self._starts.get(sandbox_id)
        if start is None:
            return None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await start.settled.wait()
        return start.ready

    async def cancel(self, sandbox_id: str) -> None:
        """End a start and wait until nothing more is made for it."""
        start = self._starts.get(sandbox_id)
        if start is not None and start.task is not None:
            if not start.settled.is_set():
                start.task.cancel()
            await asyncio.wait({start.task})

    async def close(self) -> None:
        """End all starts."""
        for sandbox_id in list(self._starts):
            await self.cancel(sandbox_id)

    async def _bring_up(self, leased: LeasedSandbox, start: _Start) -> None:
        sandbox = leased.sandbox
        try:
            await self._start(leased, start)
        except DomainError as error:
            _log.warning("sandbox start not settled", extra={**log_fields(sandbox.identity), "reason": error.detail})
        except Exception:  # noqa: BLE001 - edge of an owned task
            _log.exception("sandbox start crashed", extra=log_fields(sandbox.identity))

    async def _start(self, leased: LeasedSandbox, start: _Start) -> None:
        async with self._work.on(leased.sandbox.id, wait_s=0, goes_on=_still_wanted, leased=leased) as sandbox:
            if sandbox.status is not Status.STARTING:
                return
            with watched_start(sandbox) as watch:
                error = await self._trouble_of(sandbox, start)
                watch.ended(error)
            if error is None:
                start.settled.set()
                return
            _log.warning("sandbox failed to start", extra={**log_fields(sandbox.identity), "reason": error.detail})
            failed = await change_sandbox(
                self._registry, sandbox.id, lambda now: now.failed(error.detail, retryable=error.retryable)
            )
            if failed is not None:
                await self._clean.settle(failed)

    async def _trouble_of(self, sandbox: Sandbox, start: _Start) -> DomainError | None:
        began = asyncio.get_running_loop().time()
        limit = asyncio.timeout(self._deadline_s)
        try:
            async with limit:
                started = await self._claim(sandbox) if self._claim is not None else None
                if started is not None:
                    phase_reached("claimed")
                else:
                    started = await self._begin(sandbox)
        except TimeoutError:
            if not limit.expired():
                raise
            reason = (
                f"The computer did not become ready within {self._deadline_s:.0f} s; the machine may be overloaded."
            )
            return StartFailedError(reason, retryable=True)
        except DomainError as error:
            return error
        except Exception:  # noqa: BLE001 - edge of an owned task
            _log.exception("sandbox start crashed", extra=log_fields(sandbox.identity))
            return StartFailedError("The computer could not be started; the server's log says why.", retryable=True)
        start.ready = await change_sandbox(
            self._registry, sandbox.id, lambda now: now.as_ready(started, self.owner), known=sandbox
        )
        took = round((asyncio.get_running_loop().time() - began) * 1000)
        _log.info("sandbox started", extra={**log_fields(sandbox.identity), "duration_ms": took})
        return None

    async def _begin(self, sandbox: Sandbox) -> Started:
        if self._files_ready is not None:
            await self._files_ready(sandbox.identity)
        spec = SandboxSpec(
            identity=sandbox.identity, public_key=self._keys.public_key, configuration=sandbox.configuration
        )
        return await self._runtime.start_sandbox(spec)


def _still_wanted(sandbox: Sandbox) -> bool:
    return sandbox.status in (Status.STARTING, Status.READY)
