"""What a sandbox reports of its time is held within the call's own."""

from __future__ import annotations

import math
import time

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import INVALID_SPAN, Span

from backend_api.sandboxes.tool_api import remote_spans
from backend_api.sandboxes.tool_api.remote_spans import MAX_SPANS, record_remote_spans


class Call:
    """A call that is traced, and what is recorded below it: name, begin as Unix time, seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        provider = TracerProvider(shutdown_on_exit=False)
        self._exporter = InMemorySpanExporter()
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        monkeypatch.setattr(remote_spans, "_TRACER", provider.get_tracer("tool-api"))
        self.span: Span = provider.get_tracer("agent").start_span("endpoint call")

    @property
    def recorded(self) -> list[tuple[str, float, float]]:
        found: list[tuple[str, float, float]] = []
        for one in self._exporter.get_finished_spans():
            assert one.parent == self.span.get_span_context()
            assert one.start_time is not None
            assert one.end_time is not None
            assert not one.attributes
            found.append((one.name, one.start_time / 1e9, (one.end_time - one.start_time) / 1e9))
        return found


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    return Call(monkeypatch)


def reported(name: str = "tool", start_ms: float = 1.0, duration_ms: float = 10.0) -> dict[str, object]:
    return {"name": name, "start_ms": start_ms, "duration_ms": duration_ms}


def test_it_lies_in_the_middle_of_the_call(call: Call) -> None:
    began = time.time() - 10
    record_remote_spans([reported(start_ms=0, duration_ms=4_000)], call.span, began)
    ((name, at, seconds),) = call.recorded
    assert name == "tool-api tool"
    assert math.isclose(at - began, 3.0, abs_tol=0.5)
    assert math.isclose(seconds, 4.0)


def test_no_lie_leads_out_of_the_call(call: Call) -> None:
    began = time.time() - 1
    lies = [reported(start_ms=9e9, duration_ms=1), reported(start_ms=0, duration_ms=9e9)]
    record_remote_spans(lies, call.span, began)
    assert len(call.recorded) == 2
    for _, at, seconds in call.recorded:
        assert began - 1e-6 <= at <= at + seconds <= time.time()


def test_no_more_than_a_few_are_taken(call: Call) -> None:
    record_remote_spans([reported()] * 100, call.span, time.time() - 1)
    assert len(call.recorded) == MAX_SPANS


@pytest.mark.parametrize(
    "sent",
    [
        "text",
        {"name": "tool"},
        [reported(start_ms=-1)],
        [reported(duration_ms=math.nan)],
        [reported(duration_ms=math.inf)],
        [reported(name="Loud <b>")],
        [reported(name="x" * 100)],
    ],
)
def test_nonsense_is_dropped(sent: object, call: Call) -> None:
    record_remote_spans(sent, call.span, time.time() - 1)
    assert call.recorded == []


def test_nobody_listens_where_nothing_is_traced(call: Call) -> None:
    record_remote_spans([reported()], INVALID_SPAN, time.time())
    assert call.recorded == []
