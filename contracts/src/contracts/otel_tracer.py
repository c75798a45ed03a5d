"""Spans to a collector over OTLP/HTTP, by the standard OTEL_* variables. Imported only where tracing is on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Thread

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import Tracer as LibraryTracer

from contracts.observation.spans import Attribute, Kind, Span

CLOSE_S = 2.0
_KINDS = {"server": SpanKind.SERVER, "client": SpanKind.CLIENT, "internal": SpanKind.INTERNAL}
_SCOPE = "agent"


class OtelTracer:
    """`Tracer`. Spans leave in batches from a thread of their own: nothing waits for the collector."""

    def __init__(self, service: str) -> None:
        self._sink = BatchSpanProcessor(OTLPSpanExporter())
        self._tracers: dict[str, LibraryTracer] = {}
        self._own = self.of(os.environ.get("OTEL_SERVICE_NAME") or service)
        self.trusts_callers = "tracecontext" in os.environ.get("OTEL_PROPAGATORS", "tracecontext")

    def start(self, name: str, parent: str | None, kind: Kind, attributes: Mapping[str, Attribute]) -> Span:
        span = self._own.start_span(name, _context(parent), kind=_KINDS[kind], attributes=attributes)
        return _Span(self, span)

    def of(self, service: str) -> LibraryTracer:
        """For spans in the name of a service; few words, as few are our services."""
        tracer = self._tracers.get(service)
        if tracer is None:
            provider = TracerProvider(resource=Resource.create({SERVICE_NAME: service}), shutdown_on_exit=False)
            provider.add_span_processor(self._sink)
            tracer = self._tracers[service] = provider.get_tracer(_SCOPE)
        return tracer

    def close(self) -> None:
        """Send what is left; a collector that does not answer keeps nobody waiting."""
        closing = Thread(target=self._sink.shutdown, name="last spans", daemon=True)
        closing.start()
        closing.join(CLOSE_S)


class _Span:
    def __init__(self, tracer: OtelTracer, span: OtelSpan) -> None:
        self._tracer = tracer
        self._span = span
        context = span.get_span_context()
        self.traceparent: str | None = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"

    def note(self, name: str, value: Attribute) -> None:
        self._span.set_attribute(name, value)

    def end(self, error: str | None = None) -> None:
        if error is not None:
            self._span.set_status(Status(StatusCode.ERROR, error))
        self._span.end()

    def beside(self, service: str, name: str, *, at: float, seconds: float) -> None:
        begun = round(at * 1e9)
        span = self._tracer.of(service).start_span(name, set_span_in_context(self._span), start_time=begun)
        span.end(begun + round(seconds * 1e9))


def _context(traceparent: str | None) -> Context:
    """Of nobody where there is no parent: what the library thinks is current is not asked."""
    if traceparent is None:
        return Context()
    _, trace_id, span_id, flags = traceparent.split("-")
    parent = SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))
    return set_span_in_context(NonRecordingSpan(parent), Context())
