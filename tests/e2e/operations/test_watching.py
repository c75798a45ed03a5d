"""What an operator sees of one conversation: traces, logs and metrics of the three services, and nothing secret."""

from __future__ import annotations

import json

import pytest
from prometheus_client.parser import text_string_to_metric_families

from .conftest import REQUEST_ID, Line, Watched

pytestmark = pytest.mark.asyncio(loop_scope="package")

OF_THE_PROCESS = {"database is open", "worker started", "worker ends", "runtime chosen"}
"""Lines that belong to nobody's request."""


async def test_a_run_is_one_trace_over_all_services(watched: Watched) -> None:
    (run,) = watched.collector.named("run")
    ours = [span for span in watched.collector.spans if span.trace == run.trace]
    by_id = {span.id: span for span in ours}

    assert {span.service for span in ours} == {"backend-api", "backend-api-worker", "sandbox-manager", "tool-api"}
    assert by_id[run.parent].name == "request"
    assert by_id[run.parent].attributes["http.route"] == "/api/sessions/{session_id}/messages"

    def way(name: str) -> list[str]:
        span = next(one for one in ours if one.name == name)
        names = [name]
        while span.parent in by_id and span.id != run.id:
            span = by_id[span.parent]
            names.append(span.name)
        return names

    assert way("model call") == ["model call", "run"]
    assert way("tool-api tool") == ["tool-api tool", "endpoint call", "tool call", "run"]
    assert way("sandbox create") == ["sandbox create", "manager request", "tool call", "run"]
    tool = next(span for span in ours if span.name == "tool-api tool")
    endpoint = by_id[tool.parent]
    assert endpoint.start <= tool.start <= tool.end <= endpoint.end


async def test_no_span_holds_a_secret_or_what_was_said(watched: Watched) -> None:
    told = json.dumps([[span.name, span.attributes] for span in watched.collector.spans])
    assert [name for name, secret in watched.secrets.items() if secret in told] == []


async def test_no_log_holds_a_secret_or_what_was_said(watched: Watched) -> None:
    found = [
        (service, name, line)
        for service, lines in watched.logs.items()
        for line in lines
        for name, secret in watched.secrets.items()
        if secret in json.dumps(line)
    ]
    assert found == []


async def test_every_line_of_a_run_says_whom_it_is_for(watched: Watched) -> None:
    lines = [line for line in watched.logs["worker-1"] if not line["logger"].startswith("uvicorn")]
    ours = [line for line in lines if line["message"] not in OF_THE_PROCESS]
    assert {line["message"] for line in ours} >= {"run claimed", "run left"}
    ids = {"request_id": REQUEST_ID, "session_id": watched.session_id, "run_id": watched.run_id}
    assert [line for line in ours if not ids.items() <= line.items()] == []


async def test_manager_and_sandbox_log_under_the_callers_ids(watched: Watched) -> None:
    ids = {"request_id": REQUEST_ID, "session_id": watched.session_id, "run_id": watched.run_id}

    def of_the_run(lines: list[Line]) -> list[Line]:
        return [line for line in lines if ids.items() <= line.items()]

    managed = of_the_run(watched.logs["manager-1"])
    assert {"request", "sandbox started"} <= {line["message"] for line in managed}
    called = of_the_run(watched.logs["sandbox"])
    assert "/tools/shell_exec" in {line.get("path") for line in called}


async def test_every_line_of_a_request_has_its_id(watched: Watched) -> None:
    for member in ("gateway-1", "manager-1"):
        lines = [line for line in watched.logs[member] if line["message"] == "request"]
        assert lines
        assert [line for line in lines if not line.get("request_id")] == []
    about = [line for line in watched.logs["gateway-1"] if watched.session_id in str(line.get("path"))]
    assert about
    assert [line for line in about if line.get("session_id") != watched.session_id] == []


async def test_metrics_tell_of_the_run(watched: Watched) -> None:
    worker, gateway = _samples(watched.metrics["worker-1"]), _samples(watched.metrics["gateway-1"])
    # Counted where it is stored: by the gateway where that leases the run to a worker as it accepts the message.
    assert worker["agent_runs_started_total"] + gateway["agent_runs_started_total"] == 1
    assert worker["agent_runs_ended_total{status=completed}"] == 1
    assert worker["agent_tool_calls_total{outcome=success,tool=shell_exec}"] == 1
    assert worker["agent_model_calls_total{model=gpt-5.5,outcome=stop,provider=openai}"] >= 1
    assert worker["agent_run_wake_seconds_count"] == 1
    assert worker["agent_runs_waiting"] == 0
    assert gateway["agent_runs_queued_total"] == 1
    assert gateway["agent_http_requests_total{method=POST,route=/api/sessions/{session_id}/messages,status=202}"] == 1
    assert gateway["process_resident_memory_bytes"] > 0
    manager = _samples(watched.metrics["manager-1"])
    assert manager["sandbox_creates_total{outcome=new}"] == 1
    assert manager["sandbox_starts_total{outcome=ready,runtime=process}"] == 1
    for phase in ("admitted", "started", "ready", "total"):
        assert manager[f"sandbox_create_phase_seconds_count{{phase={phase},runtime=process}}"] == 1
    assert manager["sandbox_records{runtime=process,status=ready}"] == 1


async def test_a_sandboxs_metrics_stand_behind_its_endpoint(watched: Watched) -> None:
    assert watched.open_metrics == 401
    sandbox = _samples(watched.metrics["sandbox"])
    assert sandbox["tool_api_calls_total{outcome=success,tool=shell_exec}"] == 1
    assert sandbox["tool_api_shells"] == 1


async def test_no_label_is_an_id(watched: Watched) -> None:
    ids = (watched.session_id, watched.run_id, REQUEST_ID)
    assert [name for name, text in watched.metrics.items() if any(one in text for one in ids)] == []


def _samples(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found
