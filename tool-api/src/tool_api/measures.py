"""Everything the tool API counts. A new measure is a line here and a row in docs/operations.md."""

from __future__ import annotations

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service_kit.observation.instruments import SECONDS, Labelled

REGISTRY = CollectorRegistry()
_counter = partial(Counter, registry=REGISTRY)
_gauge = partial(Gauge, registry=REGISTRY)
_histogram = partial(Histogram, registry=REGISTRY, buckets=SECONDS)

CALLS = Labelled(_counter("tool_api_calls_total", "Calls of tools.", ["tool", "outcome"]))
CALL_SECONDS = Labelled(_histogram("tool_api_call_seconds", "Duration of tool calls.", ["tool"]))
CALLS_RUNNING = _gauge("tool_api_calls_running", "Calls at work now.")
SHELLS = _gauge("tool_api_shells", "Named shells that are open.")
CODE_CONTEXTS = _gauge("tool_api_code_contexts", "Contexts of code that are open.")
VIEWERS = Labelled(_gauge("tool_api_vnc_viewers", "Viewers of the desktop.", ["mode"]))
HTTP_REQUESTS = Labelled(_counter("tool_api_http_requests_total", "Requests.", ["method", "route", "status"]))
