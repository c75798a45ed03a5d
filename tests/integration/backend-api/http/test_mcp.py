"""MCP servers of users over HTTP: added, changed, tried and deleted, each user's alone, their values never told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from backend_api.agent.tool import Done, ToolCall
from backend_api.identity.application.limits import Limits
from backend_api.kit.ids import UserId
from backend_api.mcp.application.user_servers import ServersOfUsers
from backend_api.mcp.domain.entity import Listing, McpServer, McpTarget, McpTool, public_name
from backend_api.mcp.domain.user_servers import MAX_USER_SERVERS
from backend_api.mcp.ports import McpServerError, Place
from support.backend_stores import ANNA
from support.gateway import Gateway, run_gateway
from support.servers import Server

URL = "https://wiki.example.org/mcp"
SECRET = "t0ken-of-anna-4711"
WIKI = {"url": URL, "headers": {"Authorization": "Bearer ${TOKEN}"}, "env": {"TOKEN": SECRET}}


@dataclass(slots=True)
class Connections:
    """`McpConnector` that remembers what was connected to."""

    connected: list[McpTarget] = field(default_factory=list[McpTarget])
    places: list[Place] = field(default_factory=list[Place])
    fails: str | None = None
    closed: int = 0
    meanwhile: Callable[[], Awaitable[Any]] | None = None
    hangs: str | None = None
    """The server that never answers."""

    async def connect(self, target: McpTarget, place: Place) -> Connections:
        self.places.append(place)
        self.connected.append(target)
        if target.name == self.hangs:
            await asyncio.Event().wait()
        if self.meanwhile is not None:
            await self.meanwhile()
        if self.fails is not None:
            raise McpServerError(self.fails)
        return self

    @property
    def is_open(self) -> bool:
        return True

    @property
    def has_changed(self) -> bool:
        return False

    @property
    def is_doubtful(self) -> bool:
        return False

    async def listing(self) -> Listing:
        name = public_name(self.connected[-1].name, "get")
        tool = McpTool(name="get", public_name=name, description="Gets.", parameters={})
        return Listing(tools=[tool], left_out=["bad (its schema is invalid)"])

    async def call(self, name: str, call: ToolCall) -> Done:
        raise NotImplementedError

    async def close(self) -> None:
        self.closed += 1


SHARED = McpTarget(
    server=McpServer(name="shared", transport="http", url="http://10.0.0.7/k3y-in-it", headers={"A": "hidden-value"})
)


@pytest.fixture
async def connections() -> Connections:
    return Connections()


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, connections: Connections
) -> AsyncGenerator[Gateway]:
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, shared_mcp=[SHARED], mcp_connections=connections
    ) as running:
        yield running


async def put(gateway: Gateway, who: dict[str, str], name: str, **body: Any) -> Any:
    return await gateway.client.put(f"/api/mcp/{name}", json={**WIKI, **body}, headers=who)


async def listed(gateway: Gateway, headers: dict[str, str]) -> list[dict[str, Any]]:
    return (await gateway.client.get("/api/mcp", headers=headers)).json()


async def test_one_is_added_tried_changed_and_deleted_and_no_value_is_told_or_stored_as_it_is(
    gateway: Gateway, connections: Connections
) -> None:
    anna = await gateway.user("anna")
    answer = await put(gateway, anna, "wiki", tools=["get*"])
    assert answer.status_code == 200, answer.text
    wiki = answer.json()
    assert (wiki["url"], wiki["env"], wiki["headers"], wiki["status"]) == (URL, ["TOKEN"], ["Authorization"], "unknown")
    tried = await gateway.client.post("/api/mcp/wiki/test", headers=anna)
    assert (tried.json()["status"], tried.json()["tools"]) == ("ready", ["mcp__wiki__get"])
    assert "its schema is invalid" in tried.json()["error"]
    assert connections.connected[-1].filled.headers == {"Authorization": f"Bearer {SECRET}"}
    assert connections.closed == 1
    shared, own = await listed(gateway, anna)
    assert (shared["name"], shared["source"], shared["url"], shared["headers"]) == ("shared", "deployment", None, [])
    assert own == tried.json()
    everything = str([document async for document in gateway.database["mcp_servers"].find()])
    for said in (answer.text, tried.text, everything):
        assert SECRET not in said
        assert "hidden-value" not in said
    # A value that is left as it is stays; what was tried is another configuration's.
    kept = await put(gateway, anna, "wiki", env={"TOKEN": None}, enabled=False)
    assert (kept.json()["enabled"], kept.json()["status"]) == (False, "unknown")
    await gateway.client.post("/api/mcp/wiki/test", headers=anna)
    assert connections.connected[-1].values == {"TOKEN": SECRET}
    for status in (204, 404):
        gone = await gateway.client.delete("/api/mcp/wiki", headers=anna)
        assert gone.status_code == status
    assert gone.json()["code"] == "mcp_server_not_found"


async def test_a_saved_value_goes_to_no_other_server(gateway: Gateway, connections: Connections) -> None:
    anna = await gateway.user("anna")
    await put(gateway, anna, "wiki")
    for url in ("https://evil.example.org/mcp", "http://wiki.example.org/mcp", "https://wiki.example.org:8443/mcp"):
        answer = await put(gateway, anna, "wiki", url=url, env={"TOKEN": None})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), answer.text
        assert "again" in answer.text
    assert (await put(gateway, anna, "other", env={"TOKEN": None})).status_code == 422
    there, kept = "https://${HOST}/mcp", {"TOKEN": None}
    assert (
        await put(gateway, anna, "far", url=there, env={"HOST": "one.example.org", "TOKEN": "t"})
    ).status_code == 200
    moved = await put(gateway, anna, "far", url=there, env={"HOST": "evil.example.org", **kept})
    assert (moved.status_code, "again" in moved.text) == (422, True), moved.text
    assert (await put(gateway, anna, "far", url=there, env={"HOST": None, **kept})).status_code == 200
    assert connections.connected == []


async def test_those_of_another_user_are_never_seen_changed_or_tried(gateway: Gateway) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    await put(gateway, anna, "wiki")
    assert [one["name"] for one in await listed(gateway, bert)] == ["shared"]
    assert (await gateway.client.delete("/api/mcp/wiki", headers=bert)).status_code == 404
    assert (await gateway.client.post("/api/mcp/wiki/test", headers=bert)).status_code == 404
    await put(gateway, bert, "wiki", url="https://bert.example.org/mcp")
    assert (await listed(gateway, anna))[-1]["url"] == URL
    for method, path in (("GET", ""), ("PUT", "/wiki"), ("DELETE", "/wiki"), ("POST", "/wiki/test")):
        assert (await gateway.client.request(method, f"/api/mcp{path}")).status_code == 401


@pytest.mark.thorough
async def test_why_one_can_not_be_used_is_said(gateway: Gateway, connections: Connections) -> None:
    anna = await gateway.user("anna")
    await put(gateway, anna, "wiki")
    connections.fails = "It responds with status 503."
    tried = await gateway.client.post("/api/mcp/wiki/test", headers=anna)
    assert (tried.status_code, tried.json()["status"], tried.json()["error"]) == (200, "failed", connections.fails)
    assert (await gateway.client.post("/api/mcp/shared/test", headers=anna)).json()["status"] == "failed"


@pytest.mark.thorough
async def test_what_is_changed_or_deleted_while_it_is_tried_stays_so(
    gateway: Gateway, connections: Connections
) -> None:
    anna = await gateway.user("anna")
    await put(gateway, anna, "wiki")
    connections.meanwhile = lambda: put(gateway, anna, "wiki", url="https://new.example.org/mcp")
    tried = await gateway.client.post("/api/mcp/wiki/test", headers=anna)
    assert (tried.json()["url"], tried.json()["status"]) == ("https://new.example.org/mcp", "unknown")
    assert (await listed(gateway, anna))[-1] == tried.json()
    connections.meanwhile = lambda: gateway.client.delete("/api/mcp/wiki", headers=anna)
    tried = await gateway.client.post("/api/mcp/wiki/test", headers=anna)
    assert (tried.status_code, tried.json()["code"]) == (404, "mcp_server_not_found")
    assert [one["name"] for one in await listed(gateway, anna)] == ["shared"]


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("a__b", {}, "is not a valid server name"),
        pytest.param("wiki", {"url": ""}, "either a command or a url", marks=pytest.mark.thorough),
        ("wiki", {"headers": {"A": "${JWT_SECRET_KEY}"}}, "no variable JWT_SECRET_KEY"),
        pytest.param("wiki", {"headers": {"Host": "x"}}, "can't be set", marks=pytest.mark.thorough),
        pytest.param("wiki", {"headers": {"A": "b\r\nC: d"}}, "headers", marks=pytest.mark.thorough),
        pytest.param("wiki", {"env": {"A B": "c"}}, "env", marks=pytest.mark.thorough),
        ("wiki", {"command": "sh"}, "either a command or a url"),
        pytest.param("wiki", {"type": "stdio"}, "can't have args or the type stdio", marks=pytest.mark.thorough),
        pytest.param("wiki", {"cwd": "/"}, "body.cwd", marks=pytest.mark.thorough),
        pytest.param(
            "wiki",
            {"url": "", "command": "sh", "headers": {"A": "b"}},
            "can't have headers, oauth or a type",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "wiki",
            {"url": "", "command": "sh", "headers": {}, "args": ["${MISSING}"]},
            "no variable MISSING",
            marks=pytest.mark.thorough,
        ),
        ("shared", {}, "The server already provides"),
    ],
)
async def test_what_can_not_be_is_refused_with_the_reason(
    gateway: Gateway, name: str, body: dict[str, Any], said: str
) -> None:
    answer = await put(gateway, await gateway.user("anna"), name, **body)
    assert answer.status_code in (409, 422)
    assert said in answer.text


async def test_an_address_where_no_server_can_be_is_refused_at_its_field(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    for url, fault in {
        "file:///etc/passwd": "form",
        "https://wiki.example.org:99999/mcp": "port",
        "https://anna:hidden@wiki.example.org/mcp": "credentials",
        "https://${TOKEN}/m#cp": "fragment",
        "https:///mcp": "host",
    }.items():
        answer = await put(gateway, anna, "wiki", url=url)
        [error] = answer.json()["errors"]
        assert (answer.status_code, error["field"], error["code"]) == (422, "body.url", f"mcp_url_{fault}"), url
        assert error["message"].startswith("This address can't be used: ")
        assert "hidden" not in answer.text
    assert [one["name"] for one in await listed(gateway, anna)] == ["shared"]


async def test_there_are_never_more_than_there_may_be(gateway: Gateway) -> None:
    anna = await gateway.user("anna")
    for number in range(MAX_USER_SERVERS):
        assert (await put(gateway, anna, f"s{number}")).status_code == 200
    assert (await put(gateway, anna, "more")).json()["code"] == "too_many_mcp_servers"
    assert (await put(gateway, anna, "s0")).status_code == 200


async def test_runs_have_those_that_are_enabled_with_their_values(gateway: Gateway) -> None:
    servers: ServersOfUsers = gateway.ports.modules.ports["mcp_servers"]  # type: ignore[assignment]
    anna = await gateway.user("anna")
    await put(gateway, anna, "wiki")
    await put(gateway, anna, "off", enabled=False)
    me = (await gateway.client.get("/api/auth/me", headers=anna)).json()
    [target] = await servers.targets(UserId(me["id"]))
    assert target.filled.headers == {"Authorization": f"Bearer {SECRET}"}
    assert await servers.targets(ANNA) == []


async def test_a_program_is_kept_with_its_values_sealed_and_tried_in_no_conversation_but_one(
    gateway: Gateway, connections: Connections
) -> None:
    anna = await gateway.user("anna")
    program = {"url": "", "headers": {}, "command": "uvx", "args": ["notes", "--key=${TOKEN}"]}
    answer = await put(gateway, anna, "notes", **program)
    assert answer.status_code == 200, answer.text
    notes = answer.json()
    assert (notes["type"], notes["url"], notes["command"], notes["args"]) == ("stdio", None, "uvx", program["args"])
    assert (notes["env"], notes["status"]) == (["TOKEN"], "unknown")
    assert SECRET not in str([document async for document in gateway.database["mcp_servers"].find()])
    tried = await gateway.client.post("/api/mcp/notes/test", headers=anna)
    assert (tried.status_code, tried.json()["code"]) == (409, "mcp_program")
    foreign = await gateway.session(await gateway.user("bert"))
    tried = await gateway.client.post("/api/mcp/notes/test", params={"session_id": foreign}, headers=anna)
    assert (tried.status_code, tried.json()["code"]) == (404, "session_not_found")
    assert connections.connected == []
    session = await gateway.session(anna)
    tried = await gateway.client.post("/api/mcp/notes/test", params={"session_id": session}, headers=anna)
    assert (tried.json()["status"], tried.json()["tools"]) == ("ready", ["mcp__notes__get"])
    assert connections.places[-1].session_id == session
    kept = await put(gateway, anna, "notes", **program, env={"TOKEN": None}, enabled=False)
    assert (kept.status_code, kept.json().get("enabled")) == (200, False), kept.text
    # Values were given for this command alone.
    for other in ({"command": "sh"}, {"args": ["-c", "env"]}, {"url": URL, "command": "", "args": []}):
        moved = await put(gateway, anna, "notes", **{**program, **other}, env={"TOKEN": None})
        assert (moved.status_code, moved.json()["errors"][0]["field"]) == (422, "body.env"), other


async def tools(gateway: Gateway, who: dict[str, str], **query: str) -> dict[str, dict[str, Any]]:
    answer = await gateway.client.get("/api/tools", params=query, headers=who)
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()}


def of_servers(found: dict[str, dict[str, Any]]) -> dict[str, str | None]:
    """The server of each tool of one."""
    return {name: tool["server"] for name, tool in found.items() if tool["server"] is not None}


async def test_tools_of_servers_are_listed_with_their_server_and_those_of_others_are_not(
    gateway: Gateway, connections: Connections
) -> None:
    anna, bert = await gateway.user("anna"), await gateway.user("bert")
    await put(gateway, anna, "wiki")
    await put(gateway, anna, "off", enabled=False)
    found = await tools(gateway, anna)
    assert of_servers(found) == {"mcp__shared__get": "shared"} | {"mcp__wiki__get": "wiki"}
    wiki = found["mcp__wiki__get"]
    assert (wiki["description"], wiki["read_only"], wiki["error"]) == ("Gets.", False, None)
    assert (found["think"]["server"], found["think"]["error"]) == (None, None)
    assert of_servers(await tools(gateway, bert)) == {"mcp__shared__get": "shared"}
    assert connections.closed == 3
    assert len({place.user_id for place in connections.places}) == 2


@pytest.mark.thorough
async def test_a_session_whose_preset_leaves_them_out_lists_none_and_asks_no_server(
    gateway: Gateway, connections: Connections
) -> None:
    anna = await gateway.user("anna")
    ids: list[str] = []
    for preset in ("general", "chat"):
        made = await gateway.client.post("/api/sessions", json={"preset": preset}, headers=anna)
        assert made.status_code == 201, made.text
        ids.append(made.json()["id"])
    assert of_servers(await tools(gateway, anna, session_id=ids[0])) == {"mcp__shared__get": "shared"}
    connections.connected.clear()
    assert of_servers(await tools(gateway, anna, session_id=ids[1])) == {}
    assert connections.connected == []


@pytest.mark.thorough
async def test_a_server_that_can_not_be_asked_is_one_entry_that_says_why_and_holds_nobody_up(
    gateway: Gateway, connections: Connections
) -> None:
    anna = await gateway.user("anna")
    await put(gateway, anna, "wiki")
    await gateway.client.put("/api/mcp/box", json={"command": "uvx", "args": ["box"]}, headers=anna)
    connections.hangs = "shared"
    began = time.monotonic()
    found = await tools(gateway, anna)
    assert time.monotonic() - began < 8
    assert of_servers(found) == {"mcp__shared__*": "shared", "mcp__wiki__get": "wiki"} | {"mcp__box__*": "box"}
    assert "did not answer within 5 seconds" in found["mcp__shared__*"]["error"]
    assert found["mcp__shared__*"]["code"] == "mcp_timed_out"
    assert "computer of a conversation" in found["mcp__box__*"]["error"]
    connections.hangs, connections.fails = None, "It is away."
    assert (await tools(gateway, anna))["mcp__wiki__*"]["error"] == "It is away."
    assert "think" in found


async def test_servers_are_asked_no_more_often_than_a_limit_says(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, connections: Connections
) -> None:
    async with run_gateway(
        mongo_server.uri,
        mongo_database_name,
        redis_server.uri,
        shared_mcp=[SHARED],
        mcp_connections=connections,
        limits=Limits(key_tests_per_minute=2),
    ) as gateway:
        anna = await gateway.user("anna")
        for _ in range(2):
            assert "mcp__shared__get" in await tools(gateway, anna)
        found = await tools(gateway, anna)
    assert "too often" in found["mcp__shared__*"]["error"]
    assert found["mcp__shared__*"]["code"] == "mcp_asked_too_often"
    assert "think" in found
    assert len(connections.connected) == 2
