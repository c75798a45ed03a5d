"""Every route of the gateway against everybody who may not call it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
import websockets
from jose import jwt
from websockets.typing import Subprotocol

from backend_api.agent.model import ModelInfo
from backend_api.computers.domain import FileLink
from backend_api.computers.file_links import JwtFileLinks
from backend_api.identity.http.caller import CurrentCaller
from backend_api.kit.http.ports import WebOptions
from backend_api.kit.redis.tickets import RedisTickets
from backend_api.main.app import describe_app
from backend_api.main.worker_app import build_worker_app
from backend_api.settings.mongo.user_settings import MongoSettingsStore
from backend_api.terminal.application import ConnectTerminal
from support.forged_tokens import forged
from support.gateway import MODEL, PLAIN, SECRET, Gateway, run_gateway
from support.of_modules import ALL
from support.route_rules import GATEWAY, WORKER, Kind, Rule, path_of, routes_behind, routes_of, without_rule
from support.servers import Server, emptied_database_name
from support.user_settings import settings_parts

__all__ = ["emptied_database_name"]

ASKS_FOR_TOKEN = (Kind.USER, Kind.OWNER)
RULES = GATEWAY | {name: rule for module in ALL for name, rule in module.routes.items()}
CHECK = get_args(CurrentCaller)[1].dependency
OWN_CHECK = "POST /api/auth/logout"
"""A page's cookie says who leaves also when the access token is over."""
WITH_EVERY_CASE = (
    OWN_CHECK,
    "GET /api/auth/me",
    "GET /api/sessions/{session_id}/events",
    "PATCH /api/sessions/{session_id}",
    "POST /api/sessions/{session_id}/files",
)
ON_EVERY_ROUTE = ("no header", "logged out")
BESIDE_THEM = ("tampered signature", "deactivated")
OWNER_SOCKETS = [
    name.partition(" ")[2] for name, rule in RULES.items() if rule.kind is Kind.OWNER and name.startswith("WS ")
]
TICKET_SOCKETS = [name.partition(" ")[2] for name, rule in RULES.items() if rule.kind is Kind.TICKET]


@dataclass(slots=True)
class House:
    """A gateway with two users, the first of whom owns things."""

    gateway: Gateway
    anna: dict[str, str] = field(default_factory=dict[str, str])
    bert: dict[str, str] = field(default_factory=dict[str, str])

    async def things(self, headers: dict[str, str], path: str = "") -> dict[str, str]:
        """Values for the parameters of paths: fresh things of this user. For one path, only those in it are made beside
        a session with a message."""
        session_id = await self.gateway.session(headers)
        said = await self.gateway.client.post(
            f"/api/sessions/{session_id}/messages", json={"text": "hello"}, headers=headers
        )
        made: dict[str, str] = {}
        for name, make in self._makers(session_id, headers).items():
            if not path or f"{{{name}}}" in path:
                made |= await make()
        return {
            "session_id": session_id,
            **made,
            "job_id": said.json()["run_id"],
            "run_id": said.json()["run_id"],
            "message_id": said.json()["message_id"],
            "seq": "1",
            "snapshot_id": "none",
            "background_id": "none",
            "port_id": "none",
            "resource_id": "none",
            "task_id": "none",
            "queued_id": "none",
            "category": "appearance",
            "key": "theme",
            "name": "none",
            "server": "none",
            "path": "none.md",
            "question_id": "none",
            "approval_id": "none",
            "plan_id": "none",
            "record_id": "none",
            "source": "openalex",
            "project_id": "none",
            "section_id": "none",
            "suggestion_id": "none",
            "revision_id": "none",
        }

    def _makers(self, session_id: str, headers: dict[str, str]) -> dict[str, Callable[[], Awaitable[dict[str, str]]]]:
        """What makes the thing behind each of these parameters."""
        client = self.gateway.client

        async def made(kind: str, **body: Any) -> str:
            # A user may have but so many.
            listed = (await client.get(f"/api/{kind}", headers=headers)).json()
            for former in listed if isinstance(listed, list) else listed["items"]:
                await client.delete(f"/api/{kind}/{former['id']}", headers=headers)
            return str((await client.post(f"/api/{kind}", json=body, headers=headers)).json()["id"])

        async def schedule() -> dict[str, str]:
            return {"schedule_id": await made("schedules", text="hello", cron="0 9 * * *", timezone="UTC")}

        async def target() -> dict[str, str]:
            return {"target_id": await made("targets", name="Build", host="127.0.0.1", port=9, username="anna")}

        async def share() -> dict[str, str]:
            shares = f"/api/sessions/{session_id}/shares"
            return {"share_id": (await client.post(shares, json={"mode": "snapshot"}, headers=headers)).json()["id"]}

        async def folder() -> dict[str, str]:
            folder_id = await made("folders", name="Work")
            files = {"files": ("a.txt", b"a")}
            kept = await client.post(f"/api/folders/{folder_id}/files", files=files, headers=headers)
            return {"folder_id": folder_id, "file_id": kept.json()["items"][0]["id"]}

        return {"schedule_id": schedule, "target_id": target, "share_id": share, "folder_id": folder}

    async def ask(self, name: str, things: dict[str, str], headers: dict[str, str], **changed: Any) -> httpx.Response:
        """Call a route as its row says; of an endless answer the head is enough."""
        rule = RULES[name]
        request = httpx_request(rule) | changed
        method, url = name.partition(" ")[0], path_of(name, things)
        async with self.gateway.client.stream(method, url, headers=headers, **request) as answer:
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                await answer.aread()
        return answer


def httpx_request(rule: Rule) -> dict[str, Any]:
    files = {"files": dict(rule.files)} if rule.files else {}
    return {"json": rule.json, "params": dict(rule.params)} | files


@pytest.fixture
async def house(mongo_server: Server, redis_server: Server, mongo_database_name: str) -> AsyncGenerator[House]:
    options = WebOptions(run_wait_s=0.1)
    of_openai = ModelInfo(id="of-openai", label="Of OpenAI", provider="openai")
    own = settings_parts(MongoSettingsStore(), MODEL, PLAIN, of_openai)
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, options=options, own=own, preview_domain="localhost"
    ) as gateway:
        yield House(gateway, await gateway.user("anna"), await gateway.user("bert"))


def named(*kinds: Kind) -> list[str]:
    """Calls whose rule is of a kind; sockets apart."""
    return [name for name, rule in RULES.items() if rule.kind in kinds and not name.startswith("WS ")]


def code_of(answer: httpx.Response) -> str | None:
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    return str(answer.json()["code"]) if is_problem else None


def sign(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, SECRET, algorithm="HS256")


def test_every_route_has_a_rule_and_every_rule_a_route(tmp_path: Path) -> None:
    app = describe_app(WebOptions(frontend=tmp_path))
    assert without_rule(app, RULES) == set(), "say in tests/support/route_rules.py who may call these"
    assert set(RULES) - set(routes_of(app)) == set()
    of_sessions = {name for name in RULES if "/sessions/{session_id}" in name}
    assert {name for name in of_sessions if RULES[name].kind not in (Kind.OWNER, Kind.TICKET)} == set()
    worker = build_worker_app({}, {})
    assert without_rule(worker, WORKER) == set()
    assert set(WORKER) - set(routes_of(worker)) == set()


def test_a_route_without_a_rule_is_found() -> None:
    app = describe_app(WebOptions())
    known = without_rule(app, RULES)
    app.get("/api/secrets")(lambda: "all")
    app.websocket("/api/feed")(lambda: None)
    assert without_rule(app, RULES) - known == {"GET /api/secrets", "WS /api/feed"}


async def headers_of_nobody(house: House, things: dict[str, str]) -> dict[str, dict[str, str]]:
    """Headers by name that say who calls in a way that does not hold."""
    gateway = house.gateway
    password = {"username": "anna", "password": "anna-password"}
    grant = (await gateway.client.post("/api/auth/login", json=password)).json()
    token = house.anna["Authorization"].removeprefix("Bearer ")
    file = FileLink(user_id=str(jwt.get_unverified_claims(token)["sub"]), session_id=things["session_id"], path="a.txt")
    ticket = await house.ask("POST /api/sessions/{session_id}/vnc/ticket", things, house.anna)
    claims = jwt.get_unverified_claims(token)
    ended = await gateway.user("carl")
    await gateway.client.post("/api/auth/logout", headers=ended)
    everywhere = await gateway.user("dora")
    await gateway.client.post("/api/auth/logout-all", headers=everywhere)
    inactive = await gateway.user("emil")
    changed = await gateway.database["users"].update_one({"username": "emil"}, {"$set": {"is_active": False}})
    assert changed.modified_count == 1
    bearers = forged(token, sign, raised={"sub": "local", "ver": 0}) | {
        "a refresh token": grant["refresh_token"],
        "a file link": JwtFileLinks(SECRET, algorithm="HS256").sign(file, expires_s=60),
        "a ticket": ticket.json()["ticket"],
        "a kind of its own": sign(claims | {"typ": "refresh"}),
        "without an identity": sign({key: value for key, value in claims.items() if key != "jti"}),
        "another algorithm": jwt.encode(claims, SECRET, algorithm="HS512"),
        "nobody's": sign(claims | {"sub": "nobody"}),
        "an operator as subject": sign(claims | {"sub": {"$ne": ""}}),
        "another version": sign(claims | {"ver": 99}),
        "a version that is no number": sign(claims | {"ver": "one"}),
    }
    headers = {name: {"Authorization": f"Bearer {bearer}"} for name, bearer in bearers.items()}
    headers |= {"logged out": ended, "logged out everywhere": everywhere, "deactivated": inactive, "no header": {}}
    headers |= {
        "no bearer": {"Authorization": "Bearer"},
        "another scheme": {"Authorization": f"Basic {token}"},
        "no scheme": {"Authorization": token},
    }
    return headers


def test_one_check_of_tokens_stands_before_every_route_that_asks_for_one() -> None:
    """So that a few routes show for all which tokens it refuses."""
    assert set(named(*ASKS_FOR_TOKEN)) - routes_behind(describe_app(WebOptions()), CHECK) == {OWN_CHECK}


@pytest.mark.parametrize(
    ("of_few", "of_all"),
    [(True, ON_EVERY_ROUTE), pytest.param(False, BESIDE_THEM, marks=pytest.mark.thorough)],
    ids=["every case", "more on every route"],
)
async def test_who_has_no_token_that_holds_is_nobody(house: House, *, of_few: bool, of_all: tuple[str, ...]) -> None:
    gateway, things = house.gateway, await house.things(house.anna)
    headers = await headers_of_nobody(house, things)
    assert set(headers) > set(of_all)
    wrong: list[tuple[str, str, int]] = []
    for route in named(*ASKS_FOR_TOKEN):
        for case in headers if of_few and route in WITH_EVERY_CASE else of_all:
            answer = await house.ask(route, things, headers[case])
            if answer.status_code != 401 or code_of(answer) is None or "www-authenticate" not in answer.headers:
                wrong.append((route, case, answer.status_code))
    assert wrong == []
    untouched = (await gateway.client.get(f"/api/sessions/{things['session_id']}", headers=house.anna)).json()
    assert (untouched["title"] != "mine now", gateway.sandboxes.living) == (True, {})


async def test_what_belongs_to_another_does_not_exist(house: House) -> None:
    things = await house.things(house.anna)
    missing = things | {name: "0" * 32 for name in things if name.endswith("_id") and name != "task_id"}
    wrong: list[tuple[str, int, str]] = []
    for route in named(Kind.OWNER):
        foreign, nowhere = [await house.ask(route, which, house.bert) for which in (things, missing)]
        expected = (404, RULES[route].hidden_as)
        if (foreign.status_code, code_of(foreign)) != expected or _told(foreign) != _told(nowhere):
            wrong.append((route, foreign.status_code, foreign.text[:200]))
    assert wrong == []
    session = f"/api/sessions/{things['session_id']}"
    untouched = (await house.gateway.client.get(session, headers=house.anna)).json()
    assert (untouched["title"] != "mine now", untouched["status"]) == (True, "queued")
    assert (house.gateway.sandboxes.living, house.gateway.workspace.files) == ({}, {})


async def test_lists_show_own_sessions_only(house: House) -> None:
    things = await house.things(house.anna)
    mine, theirs = [(await house.ask("GET /api/sessions", {}, who)).json() for who in (house.anna, house.bert)]
    assert [item["id"] for item in mine["items"]] == [things["session_id"]]
    assert theirs == {"items": [], "next_cursor": None}


def _told(answer: httpx.Response) -> dict[str, Any]:
    return {key: value for key, value in answer.json().items() if key != "request_id"}


@pytest.mark.timeout(300)
async def test_who_may_call_is_answered(house: House) -> None:
    wrong: list[tuple[str, int, str]] = []
    to_look_at = await house.things(house.anna)
    # What is looked at comes first, as fresh things take the place of those of before.
    for route in sorted(named(*ASKS_FOR_TOKEN), key=lambda name: not name.startswith("GET ")):
        ends_log_in = route.rpartition("/")[2] in ("logout", "logout-all", "password")
        headers = await house.gateway.user(route.rpartition("/")[2]) if ends_log_in else house.anna
        things = to_look_at if route.startswith("GET ") else await house.things(headers, route)
        answer = await house.ask(route, things, headers)
        is_hidden = answer.status_code == 404 and code_of(answer) == RULES[route].hidden_as
        if answer.status_code in (401, 403, 405, 422, 500) or is_hidden:
            wrong.append((route, answer.status_code, answer.text[:200]))
    for route in [name for name in named(Kind.OPEN) if "{" not in name]:
        answer = await house.ask(route, {}, {})
        is_log_in = RULES[route].json is not None
        if answer.status_code in (403, 405, 422) or (answer.status_code == 401 and not is_log_in):
            wrong.append((route, answer.status_code, answer.text[:200]))
    assert wrong == []


def shape_of(route: str) -> tuple[int, bool]:
    """What the router tells paths apart by."""
    return route.count("/"), route.endswith("}")


async def test_no_other_way_to_write_a_route_goes_round_its_rule(house: House) -> None:
    """Each way with one route of each shape; every path with another slash, and asked for its head."""
    things = await house.things(house.anna)
    routes = named(*ASKS_FOR_TOKEN)
    first_of = {shape_of(route): route for route in reversed(routes)}
    calls: set[tuple[str, str]] = set()
    for route in routes:
        method, path = route.partition(" ")[0], path_of(route, things)
        calls |= {("HEAD", path), (method, path + "/")}
        if route in first_of.values():
            ways = ["/" + path, path.replace("/api/", "/API/"), path + "%2f", path.replace("/api", "/api/.")]
            ways += [f"{path};x=1", path + "%00", path + "?token=x&access_token=x", f"/api/auth/..{path}", path + "%3f"]
            calls |= {(method, way) for way in ways}
            calls |= {
                (other, path) for other in ("OPTIONS", "GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND")
            }
    answers = {call: (await house.gateway.client.request(*call)).status_code for call in sorted(calls)}
    assert {call: status for call, status in answers.items() if status not in (401, 404, 405)} == {}


async def socket_end(url: str, **options: Any) -> int:
    """Close code, or the status of a refused handshake."""
    try:
        async with asyncio.timeout(10), websockets.connect(url, **options) as socket:
            with suppress(websockets.ConnectionClosed):
                while True:
                    await socket.recv()
            return socket.close_code or 0
    except websockets.InvalidStatus as error:
        return error.response.status_code


@pytest.mark.parametrize("path", OWNER_SOCKETS)
async def test_a_socket_opens_to_its_owner_alone(house: House, path: str) -> None:
    things = await house.things(house.anna)
    url = house.gateway.url.replace("http", "ws") + path.format_map(things)
    nobodies = await headers_of_nobody(house, things)
    asked = [name for name, header in nobodies.items() if header.get("Authorization", "").startswith("Bearer ")]
    ends = {name: await socket_end(url, additional_headers=nobodies[name]) for name in asked}
    assert ends == dict.fromkeys(asked, 4401)
    assert await socket_end(url, subprotocols=[Subprotocol("bearer.garbage")]) == 4401
    nowhere = url.replace(things["session_id"], "0" * 32)
    assert [await socket_end(to, additional_headers=house.bert) for to in (url, nowhere)] == [4404, 4404]
    async with websockets.connect(url, additional_headers=house.anna) as socket:
        assert await asyncio.wait_for(socket.recv(), 10)


async def new_ticket(house: House, path: str, things: dict[str, str], **body: str) -> str:
    url = f"{path}/ticket".format_map(things)
    answer = await house.gateway.client.post(url, json=body, headers=house.anna)
    assert answer.status_code == 201
    return str(answer.json()["ticket"])


@pytest.mark.parametrize("path", TICKET_SOCKETS)
async def test_a_ticket_opens_its_own_socket_once(house: House, path: str) -> None:
    things, others = await house.things(house.anna), await house.things(house.anna)
    berts = await house.things(house.bert)
    base = house.gateway.url.replace("http", "ws")
    token = house.anna["Authorization"].removeprefix("Bearer ")

    def url(ticket: str, which: dict[str, str] = things) -> str:
        return f"{base}{path.format_map(which)}?ticket={ticket}"

    used = await new_ticket(house, path, things)
    async with websockets.connect(url(used), subprotocols=[Subprotocol("binary")]) as socket:
        assert await asyncio.wait_for(socket.recv(), 10)
    expired = await new_ticket(house, path, things)
    connect = house.gateway.port("connect_terminal", ConnectTerminal)
    screens = house.gateway.port("tickets", RedisTickets)
    await (connect.tickets if path.endswith("/terminal") else screens).redeem(expired)
    cases: dict[str, Callable[[], str]] = {
        "none": lambda: f"{base}{path.format_map(things)}",
        "empty": lambda: url(""),
        "garbage": lambda: url("garbage"),
        "a pattern": lambda: url("*"),
        "endless": lambda: url("x" * 4000),
        "used": lambda: url(used),
        "run out": lambda: url(expired),
        "an access token": lambda: url(token),
        "a session's id": lambda: url(things["session_id"]),
    }
    for name, made in cases.items():
        assert await socket_end(made()) == 4401, name
    for which in (others, berts, things | {"session_id": "none"}):
        assert await socket_end(url(await new_ticket(house, path, things), which)) == 4401
    bearer = {"Authorization": f"Bearer {token}"}
    assert await socket_end(f"{base}{path.format_map(things)}", additional_headers=bearer) == 4401


async def test_a_ticket_dies_with_its_session_and_its_time(house: House) -> None:
    things = await house.things(house.anna)
    path = "/api/sessions/{session_id}/vnc"
    url = house.gateway.url.replace("http", "ws") + path.format_map(things)
    ticket = await new_ticket(house, path, things)
    await house.gateway.client.delete(f"/api/sessions/{things['session_id']}", headers=house.anna)
    assert await socket_end(f"{url}?ticket={ticket}") == 4404


async def test_a_ticket_to_watch_does_not_act(house: House) -> None:
    things = await house.things(house.anna)
    path = "/api/sessions/{session_id}/vnc"
    url = house.gateway.url.replace("http", "ws") + path.format_map(things)
    ticket = await new_ticket(house, path, things, mode="view")
    async with websockets.connect(f"{url}?ticket={ticket}") as socket:
        assert await asyncio.wait_for(socket.recv(), 10) == b"RFB 003.008\n"
        await socket.send(b"act")
        # The screen in memory sends back what it was allowed to take.
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.recv(), 0.3)
    assert (await house.ask("POST /api/sessions/{session_id}/vnc/ticket", things, house.anna)).status_code == 201
    strange = await house.ask(
        "POST /api/sessions/{session_id}/vnc/ticket", things, house.anna, json={"mode": "view control"}
    )
    assert strange.status_code == 422


async def test_a_link_opens_one_file_for_its_time(house: House) -> None:
    things, link_route = await house.things(house.anna), "POST /api/sessions/{session_id}/files/link"
    await house.ask("POST /api/sessions/{session_id}/files", things, house.anna)
    url = str((await house.ask(link_route, things, house.anna)).json()["url"])
    token = url.rpartition("/")[2]
    claims = jwt.get_unverified_claims(token)
    access = house.anna["Authorization"].removeprefix("Bearer ")
    berts = await house.things(house.bert)
    tokens = forged(token, sign, raised={"path": "secret.txt"}) | {
        "an access token": access,
        "an access token with a path": sign(jwt.get_unverified_claims(access) | {"path": "a.txt"}),
        "of another kind": sign(claims | {"typ": "access"}),
        "to a session of another": sign(claims | {"sid": berts["session_id"]}),
        "out of the workspace": sign(claims | {"path": "../../etc/passwd"}),
    }
    client = house.gateway.client
    wrong: list[tuple[str, int]] = []
    for name, forgery in tokens.items():
        answer = await client.get(f"/api/files/{forgery}")
        if answer.status_code not in (401, 403, 404) or code_of(answer) is None:
            wrong.append((name, answer.status_code))
    assert wrong == []
    assert (await client.get(url)).content == b"text"
    await client.delete(f"/api/sessions/{things['session_id']}", headers=house.anna)
    assert (await client.get(url)).status_code == 404
