"""Tracing by the standard OTEL_* variables: where no collector is named, nothing of it is even imported."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module

from contracts.observation.spans import SPANS

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def is_traced(environment: Mapping[str, str]) -> bool:
    """Whether spans are wanted, and where they go is known."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return environment.get("OTEL_TRACES_EXPORTER", "otlp") != "none" and any(map(environment.get, _ENDPOINTS))


@contextmanager
def traced(service: str) -> Generator[None]:
    """Inside, the process's spans go to the collector; at the end the last ones are sent."""
    if not is_traced(os.environ):
        yield
        return
    # Imported now, as it costs memory and time that a deployment without a collector need not pay.
    tracer = import_module("contracts.otel_tracer").OtelTracer(service)
    SPANS.tracer = tracer
    try:
        yield
    finally:
        SPANS.tracer = None
        tracer.close()
