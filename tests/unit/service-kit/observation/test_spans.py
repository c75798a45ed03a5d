"""Spans: nothing where nobody listens, and each below the one it was begun in."""

from __future__ import annotations

import asyncio

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode, TraceFlags

from service_kit.observation import spans
from service_kit.observation.spans import current_trace_id, current_traceparent, following, span

REMOTE = f"00-{'a' * 32}-{'b' * 16}-01"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What a collector would get."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "TRACER", provider.get_tracer(spans.SCOPE))
    return exporter


def parent_of(one: ReadableSpan) -> str | None:
    return f"{one.parent.span_id:016x}" if one.parent is not None else None


def test_without_a_collector_nothing_is_begun() -> None:
    with span("run") as current:
        assert not current.is_recording()
        assert current_traceparent() is None
        assert current_trace_id() is None


def test_without_a_collector_a_callers_trace_is_still_passed_on() -> None:
    with following(REMOTE), span("run"):
        assert current_traceparent() == REMOTE
        assert current_trace_id() == "a" * 32
    assert current_traceparent() is None


def test_without_a_collector_a_span_may_still_name_its_parent_and_end_in_a_failure() -> None:
    with span("run", parent=REMOTE), span("tool"):
        assert current_traceparent() == REMOTE
    with pytest.raises(ValueError, match="as it is"), span("run", parent=REMOTE), span("tool"):
        raise ValueError("as it is")
    assert current_traceparent() is None


def test_a_span_that_is_not_sampled_is_begun_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    monkeypatch.setattr(spans, "TRACER", provider.get_tracer(spans.SCOPE))
    with span("run"):
        run = current_traceparent()
        assert run is not None
        assert not int(run.split("-")[3], 16) & TraceFlags.SAMPLED
    assert current_traceparent() is None


def test_a_span_is_below_the_one_it_was_begun_in(exporter: InMemorySpanExporter) -> None:
    with span("run", parent=REMOTE):
        assert current_trace_id() == "a" * 32
        run = current_traceparent()
        with span("tool"):
            tool = current_traceparent()
        spans.TRACER.start_span("call").end()
    assert current_traceparent() is None
    assert run is not None
    assert tool is not None
    tool_, call_, run_ = exporter.get_finished_spans()
    assert [one.name for one in (tool_, call_, run_)] == ["tool", "call", "run"]
    assert parent_of(run_) == "b" * 16
    assert parent_of(tool_) == parent_of(call_) == run.split("-")[2]
    assert tool != run


def test_a_fault_is_told_by_its_class_alone(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="sk-secret"), span("run"):
        raise ValueError("sk-secret")
    (run,) = exporter.get_finished_spans()
    assert (run.status.status_code, run.status.description) == (StatusCode.ERROR, "ValueError")
    assert "sk-secret" not in run.to_json()


async def test_what_was_cancelled_says_so(exporter: InMemorySpanExporter) -> None:
    async def work() -> None:
        with span("run"):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert exporter.get_finished_spans()[0].status.description == "cancelled"


@pytest.mark.parametrize(
    "sent",
    [
        None,
        "",
        "garbage",
        REMOTE[:-1],
        REMOTE.upper(),
        f"00-{'0' * 32}-{'b' * 16}-01",
        f"00-{'a' * 32}-{'b' * 16}-01-more",
        "0" * 10_000,
        "00-zz-\udcff-01",
    ],
)
def test_what_a_caller_sends_must_be_well_formed(sent: str | None) -> None:
    with following(REMOTE), following(sent) as is_traced:
        assert not is_traced
        assert current_traceparent() is None
