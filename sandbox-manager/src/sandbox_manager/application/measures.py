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
        "Phases of a sandbox start, in order; total is from admission to ready.",
        ["runtime", "phase"],
    )
)
REMOVED = Labelled(_counter("sandbox_removed_total", "Sandboxes removed from the machine.", ["runtime"]))
RECONCILES = Labelled(_counter("sandbox_reconcile_runs_total", "Sweeps.", ["outcome"]))
RECONCILE_SECONDS = _histogram("sandbox_reconcile_seconds", "Duration of reconciliation sweeps.")
RECONCILED = Labelled(
    _counter("sandbox_reconcile_ended_total", "Sandboxes that reconciliation ended or removed.", ["what"])
)
POOL_CLAIMS = Labelled(_counter("sandbox_pool_claims_total", "Claims the pool could have served.", ["outcome"]))
TOKENS = _counter("sandbox_endpoint_tokens_total", "Endpoint tokens issued.")
HTTP_REQUESTS = Labelled(_counter("sandbox_http_requests_total", "Requests.", ["method", "route", "status"]))
HTTP_SECONDS = Labelled(_histogram("sandbox_http_request_seconds", "Duration of requests.", ["method", "route"]))
