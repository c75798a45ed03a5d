"""Everything the manager counts. A new measure is a line here and a row in docs/operations.md.

Like a logger, a measure belongs to the process: `measures.CREATES.add("new")` from any layer above the domain, on the
event loop's thread.
"""

from __future__ import annotations

from service_kit.observation.instruments import Instruments

INSTRUMENTS = Instruments()

SANDBOXES = INSTRUMENTS.gauge("sandbox_records", "Sandboxes in the registry, when asked.", "runtime", "status")
CREATES = INSTRUMENTS.counter("sandbox_creates_total", "Requests for a sandbox.", "outcome")
STARTS = INSTRUMENTS.counter("sandbox_starts_total", "Starts that ended.", "runtime", "outcome")
PHASE_SECONDS = INSTRUMENTS.histogram(
    "sandbox_create_phase_seconds",
    "Phases of a create, one after the other; total is from let in to ready.",
    "runtime",
    "phase",
)
REMOVED = INSTRUMENTS.counter("sandbox_removed_total", "Sandboxes removed from the machine.", "runtime")
RECONCILES = INSTRUMENTS.counter("sandbox_reconcile_runs_total", "Sweeps.", "outcome")
RECONCILE_SECONDS = INSTRUMENTS.histogram("sandbox_reconcile_seconds", "Sweeps from begin to end.")
RECONCILED = INSTRUMENTS.counter("sandbox_reconcile_ended_total", "What sweeps gave up or removed.", "what")
POOL_CLAIMS = INSTRUMENTS.counter("sandbox_pool_claims_total", "Wishes the pool could have met.", "outcome")
TOKENS = INSTRUMENTS.counter("sandbox_door_tokens_total", "Endpoint tokens given out.")
HTTP_REQUESTS = INSTRUMENTS.counter("sandbox_http_requests_total", "Requests.", "method", "route", "status")
HTTP_SECONDS = INSTRUMENTS.histogram("sandbox_http_request_seconds", "Requests from begin to end.", "method", "route")
