"""Metrics of runs, counted from stored events."""

from __future__ import annotations

from collections.abc import Sequence

from backend_api.agent.events import Event, RunFinished, RunQueued, RunStarted
from backend_api.kit import measures


def count_stored(events: Sequence[Event]) -> None:
    """Counts events by their type. Every run is recorded in its events, so this counts all runs, whoever wrote them."""
    for event in events:
        payload = event.payload
        measures.EVENTS_STORED.labels(payload.type).inc()
        if isinstance(payload, RunQueued):
            measures.RUNS_QUEUED.inc()
        elif isinstance(payload, RunStarted):
            if payload.attempt == 1:
                measures.RUNS_STARTED.inc()
        elif isinstance(payload, RunFinished):
            measures.RUNS_ENDED.labels(payload.status).inc()
            measures.RUN_SECONDS.labels(payload.status).observe(payload.duration_ms / 1000)
