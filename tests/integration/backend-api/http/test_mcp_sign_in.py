"""Signing in at MCP servers over HTTP: begun by the page, ended by the browser that comes back, and out again."""

from __future__ import annotations

import http.cookies
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from redis.asyncio import Redis
from starlette.responses import Response

from backend_api.kit.http.ports import WebOptions
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.sign_in import digest_of
from support.gateway import Gateway, run_gateway
from support.oauth_servers import METADATA, MORE, OAuthServers, oauth_servers
from support.servers import Server

SHARED = "shared"


@pytest.fixture
async def servers() -> AsyncGenerator[OAuthServers]:
    async with oauth_servers() as running:
        yield running


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, servers: OAuthServers
) -> AsyncGenerator[Gateway]:
    shared = McpTarget(server=McpServer(name=SHARED, transport="http", url=servers.url))
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, shared_mcp=[shared], mcp_hosts=servers.hosts
    ) as running:
        yield running


@dataclass(slots=True)
class Browser:
    """The page of one person, with its cookies."""

    gateway: Gateway
    http: httpx.AsyncClient
    servers: OAuthServers

    async def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await self.http.request(method, f"/api/mcp{path}", **more)

    async def add(self, name: str = "wiki", **body: Any) -> httpx.Response:
        return await self.call("PUT", f"/{name}", json={"url": self.servers.url, **body})

    async def tried(self, name: str = "wiki") -> dict[str, Any]:
        return (await self.call("POST", f"/{name}/test")).json()

    async def listed(self) -> dict[str, dict[str, Any]]:
        return {one["name"]: one for one in (await self.call("GET", "")).json()}

    async def begin(self, name: str = "wiki") -> str:
        answer = await self.call("POST", f"/{name}/sign-in")
        assert answer.status_code == 200, answer.text
        return answer.json()["url"]

    async def back(self, url: str) -> httpx.Response:
        """Where the authorization server sends the browser."""
        return await self.http.get(url, headers={"Authorization": "", "Sec-Fetch-Site": "cross-site"})

    async def sign_in(self, name: str = "wiki") -> httpx.Response:
        return await self.back(await self.servers.consent(await self.begin(name)))


async def browser(gateway: Gateway, servers: OAuthServers, name: str) -> Browser:
    headers = await gateway.user(name)
    headers |= {"Sec-Fetch-Site": "same-origin", "Origin": gateway.url}
    return Browser(gateway, httpx.AsyncClient(base_url=gateway.url, headers=headers, timeout=20), servers)


@pytest.fixture
async def anna(gateway: Gateway, servers: OAuthServers) -> AsyncGenerator[Browser]:
    person = await browser(gateway, servers, "anna")
    async with person.http:
        yield person


@pytest.mark.parametrize("name", ["wiki", pytest.param(SHARED, marks=pytest.mark.thorough)])
async def test_one_that_asks_for_it_is_signed_in_at_and_out_of_each_user_by_itself(
    gateway: Gateway, servers: OAuthServers, anna: Browser, name: str
) -> None:
    if name != SHARED:
        await anna.add(name)
    tried = await anna.tried(name)
    assert (tried["status"], tried["code"], tried["signed_in"]) == ("failed", "mcp_needs_sign_in", False)
    assert (await anna.listed())[name]["code"] == "mcp_needs_sign_in"
    shown = await anna.sign_in(name)
    assert (shown.status_code, "You are signed in" in shown.text, name in shown.text) == (200, True, True)
    listed = (await anna.listed())[name]
    assert (listed["status"], listed["code"], listed["signed_in"]) == ("unknown", None, True)
    tried = await anna.tried(name)
    assert (tried["status"], tried["signed_in"]) == ("ready", True), tried
    assert f"mcp__{name}__add" in tried["tools"]
    bert = await browser(gateway, servers, "bert")
    async with bert.http:
        if name == SHARED:
            assert (await bert.tried(name))["code"] == "mcp_needs_sign_in"
        else:
            assert (await bert.call("POST", f"/{name}/sign-in")).status_code == 404
            assert (await bert.call("DELETE", f"/{name}/sign-in")).status_code == 404
    everything = str([document async for document in gateway.database["mcp_sign_ins"].find()])
    assert servers.tokens
    for token in servers.tokens:
        assert token not in everything + shown.text + str(tried) + str(await anna.listed())
    assert (await anna.call("DELETE", f"/{name}/sign-in")).status_code == 204
    listed = (await anna.listed())[name]
    assert (listed["signed_in"], listed["code"]) == (False, "mcp_needs_sign_in")
    [left] = [document async for document in gateway.database["mcp_sign_ins"].find({"sealed": {"$ne": None}})] or [None]
    assert left is None
    assert (await anna.tried(name))["code"] == "mcp_needs_sign_in"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["wiki", pytest.param(SHARED, marks=pytest.mark.thorough)])
async def test_one_that_asks_for_more_scopes_is_signed_in_at_again_with_them(
    servers: OAuthServers, anna: Browser, name: str
) -> None:
    if name != SHARED:
        await anna.add(name)
    assert (await anna.sign_in(name)).status_code == 200
    assert (await anna.tried(name))["status"] == "ready"
    servers.wants(MORE)
    tried = await anna.tried(name)
    assert (tried["code"], tried["signed_in"]) == ("mcp_needs_scope", True)
    assert (await anna.listed())[name]["code"] == "mcp_needs_scope"
    del servers.says["/mcp"]
    assert (await anna.sign_in(name)).status_code == 200
    assert [given.scopes for given in servers.provider.given] == [["notes"], ["notes", MORE]]
    listed = (await anna.listed())[name]
    assert (listed["code"], listed["signed_in"]) == (None, True)
    # What is asked for again though it was given is no reason to sign in for a third time.
    servers.wants(MORE)
    assert (await anna.tried(name))["code"] == "mcp_scope_refused"
    del servers.says["/mcp"]
    await anna.call("DELETE", f"/{name}/sign-in")
    assert parse_qs(urlsplit(await anna.begin(name)).query)["scope"] == ["notes"]


@pytest.mark.parametrize(
    "answer", [200, pytest.param(400, marks=pytest.mark.thorough), pytest.param(503, marks=pytest.mark.thorough), None]
)
async def test_who_signs_out_gives_back_what_was_given_and_it_is_kept_in_no_case(
    gateway: Gateway, servers: OAuthServers, anna: Browser, answer: int | None
) -> None:
    if answer is None:
        servers.says[METADATA] = servers.metadata(revocation_endpoint=None)
    elif answer != 200:
        servers.says["/revoke"] = lambda: Response(status_code=answer)
    await anna.add()
    assert (await anna.sign_in()).status_code == 200
    assert (await anna.tried())["status"] == "ready"
    [given] = servers.provider.given
    [access], refresh = given.access, given.refresh
    assert (await anna.call("DELETE", "/wiki/sign-in")).status_code == 204
    assert await gateway.database["mcp_sign_ins"].count_documents({"sealed": {"$ne": None}}) == 0
    assert (await anna.tried())["code"] == "mcp_needs_sign_in"
    assert servers.revoked == ([("refresh_token", refresh), ("access_token", access)] if answer == 200 else [])
    assert servers.asked.count("/revoke") == {200: 2, None: 0}.get(answer, 1)
    assert (await anna.call("DELETE", "/wiki/sign-in")).status_code == 204
    assert servers.asked.count("/revoke") == {200: 2, None: 0}.get(answer, 1)


@pytest.mark.thorough
async def test_what_this_server_is_as_a_client_is_read_where_it_has_a_public_address_with_https(
    gateway: Gateway, mongo_server: Server, redis_server: Server, mongo_database_name: str
) -> None:
    async with httpx.AsyncClient(timeout=20) as anybody:
        answer = await anybody.get(f"{gateway.url}/api/mcp/oauth/client.json")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        options = WebOptions(public_url="https://chat.example.org")
        async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, options=options) as public:
            answer = await anybody.get(f"{public.url}/api/mcp/oauth/client.json")
    assert answer.status_code == 200
    assert "max-age" in answer.headers["cache-control"]
    told = answer.json()
    assert told["client_id"] == "https://chat.example.org/api/mcp/oauth/client.json"
    assert told["redirect_uris"] == ["https://chat.example.org/api/mcp/oauth/callback"]
    assert (told["token_endpoint_auth_method"], told["response_types"]) == ("none", ["code"])


async def test_what_the_browser_is_sent_to_says_what_it_has_to(gateway: Gateway, anna: Browser) -> None:
    await anna.add()
    url = await anna.begin()
    asked = {name: value for name, [value] in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{anna.servers.issuer}/authorize?")
    assert asked["redirect_uri"] == f"{gateway.url}/api/mcp/oauth/callback"
    assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
    assert (asked["resource"], asked["scope"]) == (anna.servers.url, "notes")
    assert len(asked["state"]) >= 32
    [cookie] = anna.http.cookies.jar
    assert (cookie.path, cookie.has_nonstandard_attr("HttpOnly")) == ("/api/mcp/oauth/callback", True)


async def test_with_https_no_page_of_another_host_can_plant_the_cookie_of_a_sign_in(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, servers: OAuthServers
) -> None:
    public, options = "https://chat.example.org", WebOptions(public_url="https://chat.example.org")
    async with run_gateway(
        mongo_server.uri, mongo_database_name, redis_server.uri, mcp_hosts=servers.hosts, options=options
    ) as gateway:
        anna = await browser(gateway, servers, "anna")
        async with anna.http:
            anna.http.headers["Origin"] = public
            await anna.add()
            backs: list[tuple[str, http.cookies.Morsel[str]]] = []
            for _ in range(2):
                begun = await anna.call("POST", "/wiki/sign-in")
                [cookie] = http.cookies.SimpleCookie(begun.headers["set-cookie"]).values()
                back = await servers.consent(begun.json()["url"])
                assert back.startswith(f"{public}/api/mcp/oauth/callback?")
                backs.append((back.replace(public, gateway.url), cookie))
            [(first, planted), (second, own)] = backs
            anna.http.cookies.clear()
            plain = planted.key.removeprefix("__Host-")
            refused = await anna.http.get(first, headers={"Cookie": f"{plain}={planted.value}"})
            taken = await anna.http.get(second, headers={"Cookie": f"{own.key}={own.value}"})

    assert own.key.startswith("__Host-")
    assert (own["path"], own["domain"], own["secure"], own["httponly"]) == ("/", "", True, True)
    assert (refused.status_code, "another browser" in refused.text) == (400, True)
    assert taken.status_code == 200
    [gone] = http.cookies.SimpleCookie(taken.headers["set-cookie"]).values()
    # A browser takes none of this name that is not so, its end neither.
    assert (gone.key, gone["max-age"], gone["path"], gone["secure"]) == (own.key, "0", "/", True)


async def test_a_sign_in_ends_once_in_time_and_in_the_browser_that_began_it(
    gateway: Gateway, redis_server: Server, servers: OAuthServers, anna: Browser
) -> None:
    await anna.add()
    back = await servers.consent(await anna.begin())
    async with httpx.AsyncClient(timeout=20) as other:
        foreign = await other.get(back)
    assert (foreign.status_code, "another browser" in foreign.text) == (400, True)
    assert "has expired" in (await anna.back(back)).text
    back = await servers.consent(await anna.begin())
    assert (await anna.back(back)).status_code == 200
    assert (await anna.back(back)).status_code == 400
    back = await servers.consent(await anna.begin())
    key = f"mcp-sign-in:{digest_of(parse_qs(urlsplit(back).query)['state'][0])}"
    async with Redis.from_url(redis_server.uri) as redis:  # pyright: ignore[reportUnknownMemberType]
        assert 0 < await redis.ttl(key) <= 600
        await redis.delete(key)
    assert "has expired" in (await anna.back(back)).text
    for nothing in ("", "?state=", "?state=x&code=y", "?error=access_denied", f"?state={'x' * 9_000}"):
        answer = await anna.back(f"{gateway.url}/api/mcp/oauth/callback{nothing}")
        assert (answer.status_code, answer.headers["content-type"]) == (400, "text/html; charset=utf-8")


async def test_a_denial_and_another_issuer_are_told_and_nothing_is_kept(servers: OAuthServers, anna: Browser) -> None:
    await anna.add()
    servers.provider.denies = True
    assert "refused or cancelled there" in (await anna.sign_in()).text
    servers.provider.denies = False
    servers.provider.issuer_told = "https://evil.example.org"
    assert "different authorization server" in (await anna.sign_in()).text
    servers.says[METADATA] = servers.metadata(authorization_response_iss_parameter_supported=True)
    servers.provider.issuer_told = None
    assert "different authorization server" in (await anna.sign_in()).text
    assert servers.provider.given == []
    assert not (await anna.listed())["wiki"]["signed_in"]
    servers.provider.issuer_told = servers.issuer
    assert (await anna.sign_in()).status_code == 200


async def test_another_address_or_a_deletion_drops_what_was_given_and_gives_it_back(
    gateway: Gateway, servers: OAuthServers, anna: Browser
) -> None:
    await anna.add()
    assert (await anna.sign_in()).status_code == 200
    assert (await anna.add(enabled=False)).json()["signed_in"]
    moved = await anna.add(url=servers.url + "?other=1")
    assert not moved.json()["signed_in"]
    [given] = servers.provider.given
    assert ([kind for kind, _ in servers.revoked], given.access) == (["refresh_token", "access_token"], set())
    assert given.is_over
    assert await gateway.database["mcp_sign_ins"].count_documents({}) == 0
    assert not (await anna.add()).json()["signed_in"]
    assert (await anna.sign_in()).status_code == 200
    await anna.call("DELETE", "/wiki")
    assert await gateway.database["mcp_sign_ins"].count_documents({}) == 0
    assert len(servers.revoked) == 4
    await anna.add()
    back = await servers.consent(await anna.begin())
    await anna.call("DELETE", "/wiki")
    assert "changed or deleted" in (await anna.back(back)).text


@pytest.mark.thorough
async def test_what_comes_after_the_server_was_deleted_is_given_back(
    gateway: Gateway, servers: OAuthServers, anna: Browser
) -> None:
    await anna.add()
    back = await servers.consent(await anna.begin())
    servers.provider.before_token = lambda: anna.call("DELETE", "/wiki")
    assert "changed or deleted" in (await anna.back(back)).text
    [given] = servers.provider.given
    assert (given.access, given.is_over) == (set(), True)
    assert await gateway.database["mcp_sign_ins"].count_documents({}) == 0


@pytest.mark.thorough
async def test_a_client_that_was_registered_by_hand_is_used_and_its_secret_told_nowhere(
    gateway: Gateway, servers: OAuthServers, anna: Browser
) -> None:
    servers.says[METADATA] = servers.metadata(registration_endpoint=None)
    await anna.add()
    refused = await anna.call("POST", "/wiki/sign-in")
    assert (refused.status_code, refused.json()["code"]) == (409, "mcp_client_needed")
    assert f"{gateway.url}/api/mcp/oauth/callback" in refused.json()["detail"]
    servers.add_client("by-hand", "s3cret-by-hand-4711", f"{gateway.url}/api/mcp/oauth/callback")
    added = await anna.add(oauth={"client_id": "by-hand", "client_secret": "s3cret-by-hand-4711"})
    assert (added.json()["client_id"], added.json()["has_client_secret"]) == ("by-hand", True)
    assert (await anna.sign_in()).status_code == 200
    assert (await anna.tried())["status"] == "ready"
    kept = await anna.add(oauth={"client_id": "by-hand"})
    assert (kept.json()["has_client_secret"], kept.json()["signed_in"]) == (True, True)
    others: list[dict[str, Any]] = [
        {"url": "https://evil.example.org/mcp"},
        {"oauth": {"client_id": "other"}},
    ]
    for other in others:
        body: dict[str, Any] = {"oauth": {"client_id": "by-hand"}, **other}
        answer = await anna.add(**body)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.oauth")
    everything = str([document async for document in gateway.database["mcp_servers"].find()])
    assert "s3cret-by-hand-4711" not in everything + added.text + kept.text
    assert not (await anna.add()).json()["signed_in"]


async def test_only_the_servers_own_page_begins_a_sign_in(gateway: Gateway, anna: Browser) -> None:
    await anna.add()
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "", "Origin": "https://evil.example.org"}):
        answer = await anna.call("POST", "/wiki/sign-in", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "mcp_sign_in_elsewhere")
    answer = await anna.call("POST", "/wiki/sign-in", headers={"Origin": "http://other.example.org"})
    assert (answer.status_code, answer.json()["code"]) == (409, "mcp_sign_in_elsewhere")


async def test_where_nobody_signs_in_that_is_said(servers: OAuthServers, anna: Browser) -> None:
    await anna.add(headers={"Authorization": "Bearer own-token-of-anna"})
    tried = await anna.tried()
    assert (tried["code"], "Authorization" in tried["error"]) == ("mcp_refused", True)
    assert (await anna.call("POST", "/wiki/sign-in")).json()["code"] == "mcp_no_sign_in"
    await anna.call("PUT", "/notes", json={"command": "uvx", "args": ["notes"]})
    assert (await anna.call("POST", "/notes/sign-in")).json()["code"] == "mcp_no_sign_in"
    assert (await anna.call("POST", "/none/sign-in")).status_code == 404


async def test_the_page_that_ends_it_runs_nothing_of_others_and_is_in_the_browsers_language(
    gateway: Gateway, servers: OAuthServers, anna: Browser
) -> None:
    await anna.add()
    shown = await anna.sign_in()
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert (shown.headers["cache-control"], shown.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert "unsafe" not in policy
    url = f"{gateway.url}/api/mcp/oauth/callback?state=<script>alert(1)</script>&error=<b>x"
    chinese = await anna.http.get(url, headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert ('lang="zh"' in chinese.text, "未登录" in chinese.text, "alert" in chinese.text) == (True, True, False)
