"""Readiness in bounded time, and metrics for whoever stands inside the deployment."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest

from backend_api.kit.http import health
from backend_api.kit.http.ports import WebOptions
from backend_api.main.app import describe_app
from backend_api.main.worker_app import build_worker_app


async def fine() -> None:
    return


async def broken() -> None:
    raise ConnectionError("mongodb://user:secret@host")


async def test_each_dependency_is_named_with_state_and_latency() -> None:
    answer = await health.readiness({"mongodb": fine}, {"redis": broken})
    body = json.loads(bytes(answer.body))
    assert answer.status_code == 200
    assert body["dependencies"] == {"mongodb": "ok", "redis": "down"}
    assert set(body["latency_ms"]) == {"mongodb", "redis"}
    assert body["required"] == ["mongodb"]


async def test_why_a_dependency_is_down_stays_inside(caplog: pytest.LogCaptureFixture) -> None:
    answer = await health.readiness({"mongodb": broken}, {})
    assert answer.status_code == 503
    assert b"secret" not in bytes(answer.body)
    assert "secret" not in caplog.text


async def test_one_that_hangs_and_lets_nobody_cancel_it_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PROBE_S", 0.05)
    released = asyncio.Event()

    async def stubborn() -> None:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    began = time.monotonic()
    answer = await health.readiness({"mongodb": stubborn}, {"redis": stubborn})
    assert time.monotonic() - began < 5
    assert json.loads(bytes(answer.body))["dependencies"] == {"mongodb": "down", "redis": "down"}
    released.set()
    await asyncio.sleep(0)


def gateway(token: str = "", peer: str = "127.0.0.1") -> httpx.AsyncClient:
    async def counted() -> bytes:
        return b"agent_runs_waiting 0.0\n"

    app = describe_app(WebOptions(metrics_token=token))
    app.state.ports = {"metrics": counted}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(peer, 4000)), base_url="http://127.0.0.1")


async def test_metrics_are_open_to_the_machine_itself() -> None:
    async with gateway() as http:
        answer = await http.get("/metrics")
    assert (answer.status_code, answer.text) == (200, "agent_runs_waiting 0.0\n")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")


async def test_metrics_are_told_to_nobody_elsewhere_without_a_token() -> None:
    async with gateway(peer="192.0.2.7") as http:
        answer = await http.get("/metrics")
    assert answer.status_code == 401
    assert "METRICS_TOKEN" in answer.json()["detail"]


async def test_metrics_are_told_to_no_page_that_has_its_name_point_here() -> None:
    app = build_worker_app({}, {})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://evil.example") as http:
        assert (await http.get("/metrics")).status_code == 401
        for name in ("localhost:8010", "127.0.0.1", "[::1]:8010"):
            assert (await http.get("/metrics", headers={"Host": name})).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded"])
async def test_metrics_are_nothing_for_who_comes_through_a_proxy(header: str) -> None:
    async with gateway() as http:
        assert (await http.get("/metrics", headers={header: "203.0.113.7"})).status_code == 404


async def test_metrics_ask_for_their_token_where_there_is_one() -> None:
    async with gateway("monitoring-token") as http:
        refused = [
            await http.get("/metrics", headers=headers)
            for headers in ({}, {"Authorization": "Bearer other"}, {"Authorization": "monitoring-token"})
        ]
        good = {"Authorization": "Bearer monitoring-token", "X-Forwarded-For": "203.0.113.7"}
        assert [answer.status_code for answer in refused] == [401, 401, 401]
        assert (await http.get("/metrics", headers=good)).status_code == 200
