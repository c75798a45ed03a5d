"""Tracing by the standard OTEL_* variables: without a collector, the SDK is not even imported."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module

from opentelemetry.propagate import set_global_textmap
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.trace import set_tracer_provider

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def is_traced(environment: Mapping[str, str]) -> bool:
    """Whether spans are wanted and a collector is configured."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return environment.get("OTEL_TRACES_EXPORTER", "otlp") != "none" and any(map(environment.get, _ENDPOINTS))


def follows_callers(environment: Mapping[str, str]) -> bool:
    """Whether a service at the edge continues the trace that a caller began."""
    return is_traced(environment) and "tracecontext" in environment.get("OTEL_PROPAGATORS", "tracecontext")


@contextmanager
def traced(service: str, *, passed_on: Sequence[str] = ()) -> Generator[None]:
    """Send the spans of this process to the collector, with those in the name of the services `passed_on`; call it
    once. At the end the last spans are sent."""
    # Otherwise clients of models and of MCP would send the trace to third parties.
    set_global_textmap(CompositePropagator([]))
    if not is_traced(os.environ):
        yield
        return
    # Imported now, as it costs memory and time that a deployment without a collector need not pay.
    tracers = import_module("service_kit.otel_tracer").ExportingTracers(service, passed_on)
    set_tracer_provider(tracers)
    try:
        yield
    finally:
        tracers.close()
