"""Tracing is on where the standard variables name a collector, and costs nothing elsewhere."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service_kit.tracing import follows_callers, is_traced
from support.otlp import otlp_collector

ROOT = Path(__file__).parents[3]
PARTS = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "google.protobuf")
COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}


def run(program: str, *sources: str, **environment: str) -> str:
    """A process of its own, as it has one provider of tracers for good."""
    path = os.pathsep.join(str(ROOT / part / "src") for part in (*sources, "contracts", "service-kit"))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    answer = subprocess.run(
        [sys.executable, "-c", program],
        env={**inherited, "PYTHONPATH": path, **environment},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return answer.stdout.decode().strip()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (COLLECTOR, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"}, True),
        (COLLECTOR | {"OTEL_SDK_DISABLED": "true"}, False),
        (COLLECTOR | {"OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_the_standard_variables_decide(environment: dict[str, str], *, expected: bool) -> None:
    assert is_traced(environment) is expected


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, False), (COLLECTOR, True), (COLLECTOR | {"OTEL_PROPAGATORS": "none"}, False)],
)
def test_a_caller_may_be_believed_or_not(environment: dict[str, str], *, expected: bool) -> None:
    assert follows_callers(environment) is expected


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("backend-api", ("backend_api.main.__main__", "backend_api.main.worker")),
        pytest.param("sandbox-manager", ("sandbox_manager.bootstrap.serve",), marks=pytest.mark.thorough),
        pytest.param("tool-api", ("tool_api.__main__",), marks=pytest.mark.thorough),
    ],
)
def test_the_sdk_is_not_loaded_before(source: str, modules: tuple[str, ...]) -> None:
    # The client of Redis loads the SDK's metrics by itself, where it finds them.
    look = "import sys; print([name for name in sys.modules if name.startswith(" + repr(PARTS) + ")])"
    program = "".join(f"import {module}; " for module in modules) + look
    assert run(program, source) == "[]"


def test_nothing_is_recorded_without_a_collector() -> None:
    program = """
from service_kit.observation.spans import span
from service_kit.tracing import traced
with traced("backend-api"), span("run") as current:
    print(current.is_recording())
"""
    assert run(program) == "False"


@pytest.mark.thorough
def test_a_collector_that_is_away_keeps_nobody_waiting() -> None:
    program = """
import time
from service_kit.observation.spans import current_traceparent, span
from service_kit.tracing import traced
with traced("backend-api"):
    with span("run"):
        assert current_traceparent() is not None
    began = time.monotonic()
print(time.monotonic() - began < 10)
"""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert run(program, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{closed.getsockname()[1]}") == "True"


def test_only_our_own_spans_leave_and_third_parties_get_no_trace() -> None:
    program = """
import json
from opentelemetry import propagate, trace
from service_kit.observation.spans import span
from service_kit.tracing import traced
sent = {}
with traced("backend-api", passed_on=["tool-api"]), span("run"):
    with trace.get_tracer("anthropic").start_as_current_span("chat", attributes={"text": "words"}):
        propagate.inject(sent)
    with trace.get_tracer("tool-api").start_as_current_span("tool"):
        pass
print(json.dumps(sent))
"""
    with otlp_collector() as collector:
        sent: dict[str, Any] = json.loads(run(program, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url))
    assert sent == {}
    assert {(one.service, one.name) for one in collector.spans} == {("backend-api", "run"), ("tool-api", "tool")}
    assert len({one.trace for one in collector.spans}) == 1
