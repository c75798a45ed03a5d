"""Spans to a collector over OTLP/HTTP, by the standard OTEL_* variables. Imported only where tracing is on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Thread

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.util.types import Attributes

from service_kit.observation.spans import SCOPE

CLOSE_S = 2.0


class ExportingTracers(trace.TracerProvider):
    """Tracers for our own spans, and for those passed on in the name of other services.

    Libraries that trace by themselves get one that does nothing: their attributes hold addresses and texts. Spans leave
    in batches from a thread of their own: nothing waits for the collector.
    """

    def __init__(self, service: str, passed_on: Sequence[str] = ()) -> None:
        self._sink = BatchSpanProcessor(OTLPSpanExporter())
        self._providers = {name: self._provider(name) for name in passed_on}
        self._providers[SCOPE] = self._provider(os.environ.get("OTEL_SERVICE_NAME") or service)

    def get_tracer(
        self,
        instrumenting_module_name: str,
        instrumenting_library_version: str | None = None,
        schema_url: str | None = None,
        attributes: Attributes = None,
    ) -> trace.Tracer:
        provider = self._providers.get(instrumenting_module_name)
        return provider.get_tracer(SCOPE) if provider is not None else trace.NoOpTracer()

    def close(self) -> None:
        """Send the remaining spans, without waiting long for a collector that does not answer."""
        closing = Thread(target=self._sink.shutdown, name="last spans", daemon=True)
        closing.start()
        closing.join(CLOSE_S)

    def _provider(self, service: str) -> TracerProvider:
        provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}), shutdown_on_exit=False)
        provider.add_span_processor(self._sink)
        return provider
