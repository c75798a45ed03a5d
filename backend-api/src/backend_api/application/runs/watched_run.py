"""Whom a run is driven for, and its part of the trace: the same whoever drives it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from backend_api.application import measures
from backend_api.domain.conversation.entity import Lease
from contracts.observation.context import working_for
from contracts.observation.spans import span


@contextmanager
def watched_run(lease: Lease) -> Generator[None]:
    """Around all that one worker does for a run."""
    run = lease.run
    if not lease.resumed and run.started_at is not None:
        measures.RUN_WAKE_SECONDS.observe(max((run.started_at - run.created_at).total_seconds(), 0.0))
    attributes = {
        "session.id": run.session_id,
        "run.id": run.id,
        "run.attempt": run.attempt,
        "worker": lease.worker,
    }
    with (
        working_for(request_id=run.request_id, session_id=run.session_id, run_id=run.id),
        span("run", parent=run.trace, attributes=attributes),
        measures.RUNS_HERE.held(),
    ):
        yield
