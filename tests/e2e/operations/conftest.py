"""One conversation over gateway, worker, manager and a sandbox, with everything that watches them looked at."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from support.api_client import ApiClient
from support.fleet import Fleet, Shape, run_fleet
from support.model_server import Answer, Call, ModelServer
from support.otlp import Collector, otlp_collector
from support.tls import NO_TLS

Line = dict[str, Any]
REQUEST_ID = "conversation-0001"
PROVIDER_KEY = "sk-canary-provider-key-51c0ffee"
PASSWORD = "canary-pass-phrase-8f1d"
WORDS = "canarywords of the user"
COMMAND = "echo canary$((40+2))output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen."""

    fleet: Fleet
    collector: Collector
    session_id: str
    run_id: str
    secrets: dict[str, str]
    logs: dict[str, list[Line]]
    """Of each member and of the sandbox, as far as it came with the conversation."""
    metrics: dict[str, str]
    open_metrics: int
    """Status of the endpoint's metrics without a token."""


def lines_of(path: Path) -> list[Line]:
    """Each line of a service is one JSON object; a sandbox also says there that it is ready."""
    lines = [line for line in path.read_text().splitlines() if line.strip()]
    return [json.loads(line) for line in lines if not line.startswith("tool-api: ready ")]


async def until(condition: Callable[[], bool], what: str, timeout_s: float = 30.0) -> None:
    """Wait for a condition, not for a time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout_s:g} s: {what}"
        await asyncio.sleep(0.05)


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    with otlp_collector() as collector:
        async with ModelServer() as model:
            settings = {
                "LLM_PROVIDER": "openai",
                "OPENAI_API_KEY": PROVIDER_KEY,
                "OPENAI_BASE_URL": model.openai_url,
                "SANDBOX_DESKTOP": "false",
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
                "OTEL_BSP_SCHEDULE_DELAY": "100",
            }
            async with run_fleet(folder, Shape(gateways=1, workers=1, managers=1), settings) as fleet:
                yield await _converse(fleet, model, collector)


async def _converse(fleet: Fleet, model: ModelServer, collector: Collector) -> Watched:
    call = Call(name="shell_exec", arguments=json.dumps({"command": COMMAND}))
    model.answer(Answer(texts=("I run it.",), calls=(call,)), Answer(texts=("It is done.",)))
    gateway, worker, manager = fleet["gateway-1"], fleet["worker-1"], fleet["manager-1"]
    async with httpx.AsyncClient(timeout=30, trust_env=False, verify=NO_TLS) as http:
        account = (
            await http.post(f"{gateway.url}/api/auth/register", json={"username": "canary", "password": PASSWORD})
        ).json()
        async with ApiClient(gateway.url, account["access_token"]) as user:
            session_id = await user.new_session()
            user.http.headers["X-Request-ID"] = REQUEST_ID
            accepted = await user.send(session_id, WORDS)
            del user.http.headers["X-Request-ID"]
            await user.until(session_id, "run.finished", after=accepted["seq"] - 1, timeout_s=90)
            # A first message also names the session, with a call of its own perhaps; what matters is that it ended.
            ticket = await user.json("POST", f"/sessions/{session_id}/vnc/ticket", json={"mode": "view"}, expect=201)
            service = {"Authorization": f"Bearer {manager.environ['SANDBOX_MANAGER_TOKEN']}"}
            sandbox = (await http.get(f"{manager.url}/sandboxes", headers=service)).json()["items"][0]
            endpoint = (
                await http.post(
                    f"{manager.url}/sandboxes/{sandbox['id']}/tokens", headers=service, json={"scopes": ["files"]}
                )
            ).json()
            closed, text = await _endpoint_metrics(endpoint)
            metrics = {
                member.name: (await http.get(f"{member.url}/metrics")).text for member in (gateway, worker, manager)
            }
            logs = list(fleet.sandboxes.rglob("sandbox.log"))
            sandbox_log = [line for log in logs for line in lines_of(log)]
        names = {"request", "run", "model call", "tool call", "endpoint call", "sandbox create", "tool-api tool"}
        await until(lambda: names <= {span.name for span in collector.spans}, f"spans {names}")
        await until(lambda: '"run left"' in worker.log.read_text(), "the run's last line")
    return Watched(
        fleet=fleet,
        collector=collector,
        session_id=session_id,
        run_id=accepted["run_id"],
        secrets={
            "provider key": PROVIDER_KEY,
            "password": PASSWORD,
            "signing key": gateway.environ["JWT_SECRET_KEY"],
            "service token": manager.environ["SANDBOX_MANAGER_TOKEN"],
            "access token": account["access_token"],
            "refresh token": account["refresh_token"],
            "ticket": ticket["ticket"],
            "endpoint token": endpoint["token"],
            "any token": "eyJ",
            "the user's words": "canarywords",
            "a tool's output": "canary42output",
        },
        logs={member.name: lines_of(member.log) for member in fleet.services} | {"sandbox": sandbox_log},
        metrics={**metrics, "sandbox": text},
        open_metrics=closed,
    )


async def _endpoint_metrics(endpoint: dict[str, str]) -> tuple[int, str]:
    transport = httpx.AsyncHTTPTransport(uds=endpoint["door"].removeprefix("unix:"))
    async with httpx.AsyncClient(transport=transport, base_url="http://endpoint") as http:
        closed = await http.get("/metrics")
        opened = await http.get("/metrics", headers={"Authorization": f"Bearer {endpoint['token']}"})
        return closed.status_code, opened.text
