"""A start with its phases: counted, in the trace, and on every log line made meanwhile."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta

from opentelemetry.trace import Span

from sandbox_manager.application import measures
from sandbox_manager.domain.errors import DomainError
from sandbox_manager.domain.sandbox import Sandbox
from service_kit.observation.context import current_work, working_for
from service_kit.observation.spans import span


class StartWatch:
    """Records what a start has reached."""

    def __init__(self, runtime: str, span: Span) -> None:
        self._runtime = runtime
        self._span = span
        self._began = self._last = time.perf_counter()

    def reached(self, phase: str) -> None:
        now = time.perf_counter()
        measures.PHASE_SECONDS.labels(self._runtime, phase).observe(now - self._last)
        self._span.set_attribute(f"phase.{phase}_ms", round((now - self._last) * 1000, 1))
        self._last = now

    def ended(self, error: DomainError | None) -> None:
        """Record the end; `error` is why it did not get ready."""
        outcome = "ready" if error is None else error.code
        measures.STARTS.labels(self._runtime, outcome).inc()
        self._span.set_attribute("outcome", outcome)
        if error is None:
            measures.PHASE_SECONDS.labels(self._runtime, "total").observe(time.perf_counter() - self._began)


_current: ContextVar[StartWatch | None] = ContextVar("start", default=None)


def phase_reached(phase: str) -> None:
    """Report a phase from within a start; does nothing if no start is watched."""
    watch = _current.get()
    if watch is not None:
        watch.reached(phase)


@contextmanager
def watched_start(sandbox: Sandbox) -> Generator[StartWatch]:
    """Watch the start that the block works on."""
    work, identity = current_work(), sandbox.identity
    attributes = {"sandbox.id": identity.sandbox_id, "session.id": identity.session_id, "runtime": sandbox.runtime}
    with (
        working_for(request_id=work.request_id, session_id=identity.session_id, run_id=work.run_id),
        span("sandbox create", attributes=attributes) as current,
    ):
        watch = StartWatch(sandbox.runtime, current)
        token = _current.set(watch)
        try:
            yield watch
        finally:
            _current.reset(token)


def admitted(sandbox: Sandbox, lease: timedelta) -> None:
    """Record the admission of a sandbox: its lease begins then."""
    if sandbox.asked_at is not None:
        waited = (sandbox.lease_until - lease - sandbox.asked_at).total_seconds()
        measures.PHASE_SECONDS.labels(sandbox.runtime, "admitted").observe(max(waited, 0.0))
