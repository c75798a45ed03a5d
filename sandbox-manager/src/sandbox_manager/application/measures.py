"""Everything the manager counts. A new measure is a line here and a row in docs/operations.md.

Like a logger, a measure belongs to the process: `measures.CREATES.labels("new").inc()`, from any layer above the
domain.
"""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service_kit.observation.instruments import SECONDS, Labelled

REGISTRY = CollectorRegistry()
_counter = partial(Counter, registry=REGISTRY)
_gauge = partial(Gauge, registry=REGISTRY)
_histogram = partial(Histogram, registry=REGISTRY, buckets=SECONDS)

SANDBOXES = _gauge("sandbox_records", "Sandboxes in the registry, when asked.", ["runtime", "status"])
CREATES = Labelled(_counter("sandbox_creates_total", "Requests for a sandbox.", ["outcome"]))
STARTS = Labelled(_counter("sandbox_starts_total", "Starts that ended.", ["runtime", "outcome"]))
PHASE_SECONDS = Labelled(
    _histogram(
        "sandbox_create_phase_seconds",
        "Phases of a create, one after the other; total is from let in to ready.",
        ["runtime", "phase"],
    )
)
REMOVED = Labelled(_counter("sandbox_removed_total", "Sandboxes removed from the machine.", ["runtime"]))
RECONCILES = Labelled(_counter("sandbox_reconcile_runs_total", "Sweeps.", ["outcome"]))
RECONCILE_SECONDS = _histogram("sandbox_reconcile_seconds", "Sweeps from begin to end.")
RECONCILED = Labelled(_counter("sandbox_reconcile_ended_total", "What sweeps gave up or removed.", ["what"]))
POOL_CLAIMS = Labelled(_counter("sandbox_pool_claims_total", "Wishes the pool could have met.", ["outcome"]))
TOKENS = _counter("sandbox_door_tokens_total", "Endpoint tokens given out.")
HTTP_REQUESTS = Labelled(_counter("sandbox_http_requests_total", "Requests.", ["method", "route", "status"]))
HTTP_SECONDS = Labelled(_histogram("sandbox_http_request_seconds", "Requests from begin to end.", ["method", "route"]))
