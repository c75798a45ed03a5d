"""Tracing is on where the standard variables name a collector, and costs nothing elsewhere."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contracts.observation.spans import SPANS
from contracts.tracing import is_traced, traced

ROOT = Path(__file__).parents[3]
PARTS = ("opentelemetry.sdk.trace", "opentelemetry.exporter", "google.protobuf")
COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}


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


def test_without_a_collector_there_is_no_tracer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    with traced("backend-api"):
        assert SPANS.tracer is None


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("backend-api", ("backend_api.bootstrap.__main__", "backend_api.bootstrap.worker")),
        ("sandbox-manager", ("sandbox_manager.bootstrap.serve",)),
    ],
)
def test_nothing_of_it_is_loaded_before(source: str, modules: tuple[str, ...]) -> None:
    # The client of Redis loads the SDK's metrics by itself, where it finds them.
    look = "import sys; print([name for name in sys.modules if name.startswith(" + repr(PARTS) + ")])"
    program = "".join(f"import {module}; " for module in modules) + look
    path = os.pathsep.join(str(ROOT / part / "src") for part in (source, "contracts", "service-kit"))
    answer = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=True
    )
    assert answer.stdout.decode().strip() == "[]"


def test_a_collector_that_is_away_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with traced("backend-api"):
            with SPANS.span("run") as span:
                assert span.traceparent is not None
            began = time.monotonic()
        assert time.monotonic() - began < 10
    assert SPANS.tracer is None
