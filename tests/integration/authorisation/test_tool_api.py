"""Every route of a sandbox's endpoint, a real process, against tokens that are not for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from jose import jwt
from websockets.asyncio.client import unix_connect
from websockets.exceptions import ConnectionClosed

from support.endpoint import ALL_SCOPES, KeyPair, RunningEndpoint, running_endpoint
from support.forged_tokens import forged
from support.route_rules import TOOL_API, Kind, Rule, routes_of, scope_of, without_rule
from tool_api.bootstrap.settings import Settings
from tool_api.bootstrap.wiring import open_services
from tool_api.http.app import create_app

ASKS = [name for name, rule in TOOL_API.items() if rule.kind is Kind.ENDPOINT and not name.startswith("WS ")]
SOCKETS = [name for name in TOOL_API if name.startswith("WS ")]
THINGS = {"name": "shell_exec", "call_id": "x"}
REFUSED_SOCKET = 4401


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningEndpoint]:
    with running_endpoint(tmp_path_factory.mktemp("endpoint")) as running:
        yield running


@pytest.fixture(scope="module")
def client(endpoint: RunningEndpoint) -> Generator[httpx.Client]:
    with httpx.Client(transport=endpoint.transport(), base_url="http://endpoint", trust_env=False) as asking:
        yield asking


def request_of(rule: Rule) -> dict[str, Any]:
    files = {"files": dict(rule.files)} if rule.files else {}
    return {"json": rule.json, "params": dict(rule.params)} | files


def ask(client: httpx.Client, name: str, authorization: str | None, things: dict[str, str] = THINGS) -> httpx.Response:
    method, _, path = name.partition(" ")
    headers = {} if authorization is None else {"Authorization": authorization}
    return client.request(method, path.format_map(things), headers=headers, **request_of(TOOL_API[name]))


def bearers(keys: KeyPair) -> dict[str, str]:
    """Tokens that must open nothing."""

    def sign(claims: dict[str, Any]) -> str:
        return jwt.encode(claims, keys.private_pem, algorithm="ES256")

    confused = jwt.encode(jwt.get_unverified_claims(keys.token()), "-", algorithm="HS256").split(".")
    return forged(keys.token(), sign, raised={"scopes": ALL_SCOPES, "gen": 1}) | {
        "of another key": KeyPair().token(),
        "of another sandbox": keys.token(sub="sandbox-2"),
        "of an older generation": keys.token(gen=0),
        "of a newer generation": keys.token(gen=2),
        "without a generation": keys.token(gen=None),
        "with a generation that only equals ours": keys.token(gen=True),
        "with a generation of another type": keys.token(gen="1"),
        "without scopes": keys.token(scopes=None),
        "with scopes as text": keys.token(scopes=" ".join(ALL_SCOPES)),
        "of the gateway": keys.token(aud="backend-api"),
        "a signature by a secret": ".".join([*confused[:2], "AAAA"]),
    }


async def test_every_route_has_a_rule_and_every_rule_a_route(
    endpoint: RunningEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "SANDBOX_ID": "s",
        "SANDBOX_GENERATION": "1",
        "SANDBOX_PUBLIC_KEY": endpoint.keys.setting,
        "SANDBOX_DESKTOP": "false",
        "WORKSPACE": str(endpoint.workspace),
    }.items():
        monkeypatch.setenv(name, value)
    async with open_services(Settings()) as services:  # pyright: ignore[reportCallIssue]
        app = create_app(services)
        unknown = [tool for tool in services.tools if scope_of(tool) is None]
    assert without_rule(app, TOOL_API) == set(), "say in tests/support/route_rules.py who may call these"
    assert set(TOOL_API) - set(routes_of(app)) == set()
    assert unknown == [], "say in tests/support/route_rules.py which scope these tools ask for"


def test_a_token_that_is_not_for_here_opens_no_route(endpoint: RunningEndpoint, client: httpx.Client) -> None:
    token = endpoint.keys.token()
    cases: dict[str, str | None] = {name: f"Bearer {bearer}" for name, bearer in bearers(endpoint.keys).items()}
    cases |= {"none": None, "no bearer": "Bearer", "another scheme": f"Basic {token}", "no scheme": token}
    wrong: list[tuple[str, str, int]] = []
    for route in ASKS:
        for case, authorization in cases.items():
            answer = ask(client, route, authorization)
            is_problem = answer.headers["content-type"] == "application/problem+json"
            if (answer.status_code, answer.headers.get("www-authenticate"), is_problem) != (401, "Bearer", True):
                wrong.append((route, case, answer.status_code))
    assert wrong == []
    assert list(endpoint.workspace.iterdir()) == []


def test_a_route_opens_to_its_scope_alone(endpoint: RunningEndpoint, client: httpx.Client) -> None:
    wrong: list[tuple[str, str, int]] = []
    for route in ASKS:
        for scope in [*ALL_SCOPES, "keep"]:
            answer = ask(client, route, f"Bearer {endpoint.keys.token(scopes=[scope])}")
            rule = TOOL_API[route]
            may = scope in rule.scopes and (route != "POST /tools/{name}" or scope == "exec")
            is_right = answer.status_code not in (401, 403) if may else answer.status_code == rule.refused_with
            if not is_right or answer.status_code >= 500:
                wrong.append((route, scope, answer.status_code))
    assert wrong == []
    (endpoint.workspace / "a.txt").unlink()
    (endpoint.workspace / "made").rmdir()


def test_a_tool_opens_to_its_scope_alone(endpoint: RunningEndpoint, client: httpx.Client) -> None:
    with endpoint.client() as own_client:
        tools = [str(tool["name"]) for tool in own_client.get("/tools").json()]
    wrong: list[tuple[str, str, int]] = []
    for tool in tools:
        own = scope_of(tool)
        for scope in ["", *ALL_SCOPES]:
            if scope != own:
                bearer = f"Bearer {endpoint.keys.token(scopes=[scope])}"
                answer = ask(client, "POST /tools/{name}", bearer, THINGS | {"name": tool})
                if answer.status_code != 403:
                    wrong.append((tool, scope, answer.status_code))
    assert wrong == []


async def _socket_end(endpoint: RunningEndpoint, path: str, authorization: str | None) -> int:
    headers = {} if authorization is None else {"Authorization": authorization}
    async with (
        asyncio.timeout(10),
        unix_connect(str(endpoint.socket), f"ws://endpoint{path}", additional_headers=headers) as socket,
    ):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
        return socket.close_code or 0


@pytest.mark.parametrize("name", SOCKETS)
async def test_a_socket_opens_to_its_scopes_alone(endpoint: RunningEndpoint, name: str) -> None:
    path, scopes = name.partition(" ")[2], TOOL_API[name].scopes
    cases: dict[str, str | None] = {case: f"Bearer {bearer}" for case, bearer in bearers(endpoint.keys).items()}
    cases |= {"none": None, "in the query": None}
    cases |= {
        f"for {scope}": f"Bearer {endpoint.keys.token(scopes=[scope])}" for scope in ALL_SCOPES if scope not in scopes
    }
    for case, authorization in cases.items():
        query = f"?token={endpoint.keys.token()}" if case == "in the query" else ""
        assert await _socket_end(endpoint, path + query, authorization) == REFUSED_SOCKET, case
    for scope in scopes:
        assert await _socket_end(endpoint, path, f"Bearer {endpoint.keys.token(scopes=[scope])}") != REFUSED_SOCKET, (
            scope
        )


def test_health_tells_a_stranger_nothing_of_the_workspace(endpoint: RunningEndpoint, client: httpx.Client) -> None:
    answer = ask(client, "GET /healthz", None)
    assert answer.status_code == 200
    assert str(endpoint.workspace) not in json.dumps(answer.json())
