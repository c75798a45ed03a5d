"""All metrics of gateway and worker. A new one is a line here and a row in docs/operations.md.

Like a logger, a metric belongs to the process: `measures.RUNS_ENDED.labels("failed").inc()`, from any layer above the
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

RUNS_QUEUED = _counter("agent_runs_queued_total", "Runs queued for a message.")
RUNS_STARTED = _counter("agent_runs_started_total", "Runs begun for the first time.")
RUN_TAKEOVERS = _counter("agent_run_takeovers_total", "Runs taken over from another worker.")
RUNS_ENDED = Labelled(_counter("agent_runs_ended_total", "Runs that ended.", ["status"]))
RUN_SECONDS = Labelled(_histogram("agent_run_seconds", "From the first start of a run to its end.", ["status"]))
RUN_WAKE_SECONDS = _histogram("agent_run_wake_seconds", "From queued to started.")
RUNS_HERE = _gauge("agent_runs_in_process", "Runs this process drives now.")
QUEUE_DEPTH = _gauge("agent_runs_waiting", "Runs in the ledger that wait for a worker, when asked.")
LEASES_LOST = _counter("agent_leases_lost_total", "Runs this process lost to another one.")
EVENTS_STORED = Labelled(_counter("agent_events_stored_total", "Events stored.", ["type"]))
DELTAS = Labelled(_counter("agent_deltas_total", "Pieces of text shown live, after merging.", ["type"]))
STREAM_READERS = Labelled(_gauge("agent_stream_readers", "Streams open now.", ["transport"]))
SLOW_READERS = Labelled(
    _counter("agent_slow_readers_total", "Stream readers disconnected because they fell behind.", ["transport"])
)
CONNECTIONS_CUT = Labelled(
    _counter("agent_connections_cut_total", "Connections refused or closed: over a limit, or too slow.", ["reason"])
)
SCREENS = _gauge("agent_screens", "Desktops shown now.")

MODEL_CALLS = Labelled(_counter("agent_model_calls_total", "Calls of models.", ["provider", "model", "outcome"]))
MODEL_FIRST_SECONDS = Labelled(
    _histogram(
        "agent_model_first_token_seconds",
        "From a model call to the first of its answer.",
        ["provider", "model"],
    )
)
MODEL_SECONDS = Labelled(_histogram("agent_model_seconds", "Duration of model calls.", ["provider", "model"]))
MODEL_TOKENS = Labelled(_counter("agent_model_tokens_total", "Tokens, as reported by providers.", ["model", "kind"]))
TOOL_CALLS = Labelled(_counter("agent_tool_calls_total", "Calls of tools.", ["tool", "outcome"]))
TOOL_SECONDS = Labelled(_histogram("agent_tool_seconds", "Duration of tool calls.", ["tool"]))

TRANSACTIONS = Labelled(_counter("agent_transactions_total", "Transactions of MongoDB.", ["outcome"]))
TRANSACTION_RETRIES = _counter("agent_transaction_retries_total", "Transactions retried after a conflict.")
REDIS_FAILURES = Labelled(_counter("agent_redis_failures_total", "Redis did not answer, or refused.", ["use"]))
HTTP_REQUESTS = Labelled(_counter("agent_http_requests_total", "Requests.", ["method", "route", "status"]))
HTTP_SECONDS = Labelled(_histogram("agent_http_request_seconds", "Duration of requests.", ["method", "route"]))
