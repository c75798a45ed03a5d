"""Every route of the sandbox manager against everybody without its service token."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from sandbox_manager.bootstrap.app import create_app
from sandbox_manager.interfaces.http.service_token import require_service_token
from sandbox_manager.interfaces.http.use_cases import UseCases
from support.listening_manager import listening_manager
from support.route_rules import MANAGER, Kind, routes_behind, routes_of, without_rule
from support.servers import Server
from support.tls import NO_TLS

SERVICE_TOKEN = "k7" * 20
ASKS = [name for name, rule in MANAGER.items() if rule.kind is Kind.SERVICE]

WITH_EVERY_CASE = ("GET /sandboxes", "POST /sandboxes", "DELETE /workspaces/{session_id}", "GET /sandboxes/events")


@asynccontextmanager
async def _nothing() -> AsyncGenerator[UseCases]:
    raise AssertionError("never started")
    yield


def test_every_route_has_a_rule_and_every_rule_a_route() -> None:
    app = create_app(_nothing)
    assert without_rule(app, MANAGER) == set(), "say in tests/support/route_rules.py who may call these"
    assert set(MANAGER) - set(routes_of(app)) == set()


def test_one_check_of_the_token_stands_before_every_route_that_asks_for_it() -> None:
    """So that a few routes show for all which tokens it refuses."""
    assert set(ASKS) == routes_behind(create_app(_nothing), require_service_token)


@pytest.fixture
async def client(
    mongo_server: Server, mongo_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[httpx.AsyncClient]:
    """A manager on a real database with sandboxes in memory; without a token."""
    monkeypatch.setenv("MONGO_URI", mongo_server.uri)
    monkeypatch.setenv("SANDBOX_MANAGER_TOKEN", SERVICE_TOKEN)

    async with (
        listening_manager(mongo_server.uri, mongo_database_name) as url,
        httpx.AsyncClient(base_url=url, timeout=30, verify=NO_TLS) as made,
    ):
        yield made


async def ask(
    client: httpx.AsyncClient, name: str, things: dict[str, str], authorization: str | None
) -> httpx.Response:
    method, _, path = name.partition(" ")
    headers = {} if authorization is None else {"Authorization": authorization}
    request: dict[str, Any] = {"json": MANAGER[name].json, "params": dict(MANAGER[name].params)}
    async with client.stream(method, path.format_map(things), headers=headers, **request) as answer:
        if answer.headers.get("content-type", "").partition(";")[0] != "text/event-stream":  # which goes on and on
            await answer.aread()
    return answer


async def _sandbox(client: httpx.AsyncClient) -> tuple[dict[str, str], str]:
    """Things that paths may name, and an endpoint token of the sandbox."""
    headers = {"Authorization": f"Bearer {SERVICE_TOKEN}"}
    made = (await client.post("/sandboxes", json={"session_id": "s1", "user_id": "u1"}, headers=headers)).json()
    await client.get(f"/sandboxes/{made['id']}", params={"wait_ms": 10_000}, headers=headers)
    tokens = await client.post(f"/sandboxes/{made['id']}/tokens", json={"scopes": ["exec"]}, headers=headers)
    return {"sandbox_id": made["id"], "session_id": "s1", "snapshot_id": "none", "user_id": "u1"}, tokens.json()[
        "token"
    ]


async def test_only_the_service_token_opens_a_route(client: httpx.AsyncClient) -> None:
    things, endpoint_token = await _sandbox(client)
    cases = {
        "none": None,
        "empty": "",
        "no bearer": "Bearer",
        "garbage": "Bearer garbage",
        "another scheme": f"Basic {SERVICE_TOKEN}",
        "no scheme": SERVICE_TOKEN,
        "a beginning": f"Bearer {SERVICE_TOKEN[:-1]}",
        "too much": f"Bearer {SERVICE_TOKEN}x",
        "two": f"Bearer {SERVICE_TOKEN} {SERVICE_TOKEN}",
        "in capitals": f"Bearer {SERVICE_TOKEN.upper()}",
        "the sandbox's own endpoint token": f"Bearer {endpoint_token}",
    }
    wrong: list[tuple[str, str, int]] = []
    for route in ASKS:
        for case in cases if route in WITH_EVERY_CASE else ("none", "a beginning"):
            answer = await ask(client, route, things, cases[case])
            is_problem = answer.headers["content-type"] == "application/problem+json"
            if (answer.status_code, answer.headers.get("www-authenticate"), is_problem) != (401, "Bearer", True):
                wrong.append((route, case, answer.status_code))
    assert wrong == []
    headers = {"Authorization": f"Bearer {SERVICE_TOKEN}"}
    assert (await client.get(f"/sandboxes/{things['sandbox_id']}", headers=headers)).json()["status"] == "ready"


async def test_the_service_token_opens_every_route(client: httpx.AsyncClient) -> None:
    things, _ = await _sandbox(client)
    wrong: list[tuple[str, int, str]] = []
    for route in sorted(ASKS, key=lambda name: name.startswith("DELETE")):
        answer = await ask(client, route, things, f"Bearer {SERVICE_TOKEN}")
        if answer.status_code in (401, 403, 405, 422) or answer.status_code >= 500:
            wrong.append((route, answer.status_code, answer.text[:200]))
    for route in set(MANAGER) - set(ASKS):
        answer = await ask(client, route, things, None)
        if answer.status_code != 200:
            wrong.append((route, answer.status_code, answer.text[:200]))
    assert wrong == []
