"""What it costs to count and to trace, in processor time: `.venv/bin/python bench/observing.py`."""

from __future__ import annotations

import os
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "service-kit" / "src"))

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from prometheus_client import CollectorRegistry, Counter, Histogram

from service_kit.observation import spans
from service_kit.observation.instruments import SECONDS, Labelled

ROUNDS = 5
_REGISTRY = CollectorRegistry()


class _Nowhere(SpanExporter):
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def measure(name: str, work: Callable[[], object], number: int = 50_000) -> None:
    best = min(timeit.repeat(work, number=number, repeat=ROUNDS, timer=time.thread_time)) / number
    print(f"{name:58} {best * 1e6:7.2f} us")


def count() -> None:
    calls = Counter("calls_total", "Calls.", ["method", "route", "status"], registry=_REGISTRY)
    took = Histogram("took_seconds", "Took.", ["method", "route"], registry=_REGISTRY, buckets=SECONDS)
    ours, ours_took = Labelled(calls), Labelled(took)
    measure("counter: Prometheus client, 3 labels", lambda: calls.labels("GET", "/api/x", "200").inc())
    measure("counter: the same by `Labelled`", lambda: ours.labels("GET", "/api/x", "200").inc())
    measure("histogram: Prometheus client, 2 labels", lambda: took.labels("GET", "/api/x").observe(0.3))
    measure("histogram: the same by `Labelled`", lambda: ours_took.labels("GET", "/api/x").observe(0.3))
    meter = MeterProvider(metric_readers=[InMemoryMetricReader()]).get_meter("bench")
    added, recorded = meter.create_counter("calls"), meter.create_histogram("took")
    labels = {"method": "GET", "route": "/api/x", "status": "200"}
    measure("counter: OpenTelemetry SDK, 3 attributes", lambda: added.add(1, labels))
    measure("histogram: OpenTelemetry SDK, 3 attributes", lambda: recorded.record(0.3, labels))


def trace() -> None:
    def one() -> None:
        with spans.span("tool call", attributes={"tool.name": "x", "tool.call_id": "y"}) as current:
            current.set_attribute("outcome", "success")

    measure("span: no collector", one)
    spans.TRACER = TracerProvider(sampler=ALWAYS_OFF).get_tracer("bench")
    measure("span: sampled out", one)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(_Nowhere()))
    spans.TRACER = provider.get_tracer("bench")
    measure("span: recorded, given to the batch", one, number=10_000)


if __name__ == "__main__":
    print(os.uname().machine, os.cpu_count(), "cores, Python", sys.version.split()[0])
    count()
    trace()
