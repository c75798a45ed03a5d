"""Signing in where the MCP server or its authorization server means harm: nothing is sent anywhere it should not be,
and each says why it can't be signed in at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from backend_api.domain.mcp.entity import McpServer, McpTarget
from backend_api.domain.mcp.sign_in import (
    AuthorizationRequest,
    McpSignInError,
    PendingSignIn,
    RenewalFailedError,
    RenewalRefusedError,
    binding_of,
)
from backend_api.infrastructure.fetch.guarded_client import guarded_transport
from backend_api.infrastructure.fetch.rules import FetchRules, allowed_hosts
from backend_api.infrastructure.mcp.network import Network, Networks
from backend_api.infrastructure.mcp.oauth import authorizer as authorizing
from backend_api.infrastructure.mcp.oauth.authorizer import OAuthAuthorizer
from support.backend_stores import ANNA
from support.mcp_servers import Hostile, hostile_server
from support.oauth_servers import METADATA, RESOURCE, OAuthServers, oauth_servers

REDIRECT = "http://127.0.0.1:9/api/mcp/oauth/callback"
Says = Callable[[OAuthServers, Hostile], dict[str, Callable[[], Response]]]


@pytest.fixture
async def servers() -> AsyncGenerator[OAuthServers]:
    async with oauth_servers() as running:
        yield running


@pytest.fixture
async def authorizer(servers: OAuthServers) -> AsyncGenerator[OAuthAuthorizer]:
    rules = FetchRules(allowed_hosts(servers.hosts))
    async with guarded_transport(rules) as transport, asyncio.timeout(30):
        network = Network(transport=transport, rules=rules)
        yield OAuthAuthorizer(Networks(shared=network, own=network))


def target(url: str) -> McpTarget:
    return McpTarget(server=McpServer(name="wiki", transport="http", url=url, source="user"))


def pending(servers: OAuthServers, asked: AuthorizationRequest) -> PendingSignIn:
    return PendingSignIn(
        user_id=ANNA,
        name="wiki",
        source="user",
        binding=binding_of(target(servers.url)),
        redirect_uri=REDIRECT,
        browser="",
        verifier=asked.verifier,
        client=asked.client,
    )


def resource(servers: OAuthServers, **instead: Any) -> Callable[[], Response]:
    return lambda: JSONResponse({"resource": servers.url, "authorization_servers": [servers.issuer], **instead})


def metadata(**instead: Any) -> Says:
    return lambda servers, _: {METADATA: servers.metadata(**instead)}


def endless() -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b'"' + b"x" * 100_000
            await asyncio.sleep(0)

    return StreamingResponse(pieces(), media_type="application/json")


HARM: dict[str, tuple[Says, str]] = {
    "javascript": (metadata(authorization_endpoint="javascript:alert(1)"), "does not say where"),
    "file": (metadata(authorization_endpoint="file:///etc/passwd"), "does not say where"),
    "page without https": (metadata(authorization_endpoint="http://x.example.org/a"), "no address with https"),
    "tokens without https": (metadata(token_endpoint="http://x.example.org/token"), "no address with https"),
    "tokens to a private address": (metadata(token_endpoint="https://10.0.0.1/token"), "not a public address"),
    "registration at a private name": (metadata(registration_endpoint="https://x.internal/"), "no public name"),
    "a password in an address": (metadata(token_endpoint="https://u:p@x.example.org/t"), "user name or password"),
    "another issuer": (metadata(issuer="https://evil.example.org"), "says of itself that it is another"),
    "no PKCE": (metadata(code_challenge_methods_supported=None), "PKCE"),
    "plain PKCE": (metadata(code_challenge_methods_supported=["plain"]), "PKCE"),
    "no registration": (metadata(registration_endpoint=None), "registers no clients"),
    "endless metadata": (lambda servers, _: {METADATA: endless}, "more than 4 MB"),
    "large metadata": (metadata(scopes_supported=["x" * 300_000]), "more than 256 KB"),
    "nested": (lambda servers, _: {METADATA: lambda: Response(b"[" * 90_000)}, "does not say where"),
    "no JSON": (lambda servers, _: {METADATA: lambda: Response(b"<html>")}, "does not say where"),
    "another resource": (
        lambda servers, _: {RESOURCE: resource(servers, resource="https://bank.example.org")},
        "about another server",
    ),
    "a private authorization server": (
        lambda servers, hostile: {
            RESOURCE: resource(servers, authorization_servers=[f"http://127.0.0.1:{hostile.port}"])
        },
        "fetched from|not a public address",
    ),
    "metadata at a private address": (
        lambda servers, hostile: {METADATA: lambda: RedirectResponse(f"http://127.0.0.1:{hostile.port}/x")},
        "does not say where",
    ),
    "a challenge to a private address": (
        lambda servers, hostile: {
            "/mcp": lambda: Response(
                status_code=401,
                headers={"WWW-Authenticate": f'Bearer resource_metadata="http://127.0.0.1:{hostile.port}/"'},
            )
        },
        "fetched from|not a public address",
    ),
    "a registration that is none": (
        lambda servers, _: {"/register": lambda: JSONResponse({"client_id": 7}, status_code=201)},
        "registered no client",
    ),
    "a client that can't be used": (
        lambda servers, _: {
            "/register": lambda: JSONResponse(
                {"client_id": "x", "token_endpoint_auth_method": "private_key_jwt"}, status_code=201
            )
        },
        "registered no client",
    ),
    "a client with a line in its name": (
        lambda servers, _: {"/register": lambda: JSONResponse({"client_id": "a\r\nb"}, status_code=201)},
        "registered no client",
    ),
    "a redirected registration": (
        lambda servers, hostile: {"/register": lambda: RedirectResponse(f"http://127.0.0.1:{hostile.port}/r", 307)},
        "registered no client",
    ),
    "a server that is ill": (
        lambda servers, _: {METADATA: lambda: Response(status_code=503)},
        "answers with the status 503",
    ),
}


@pytest.mark.parametrize("harm", HARM)
async def test_nothing_is_begun_where_harm_is_meant(
    servers: OAuthServers, authorizer: OAuthAuthorizer, harm: str
) -> None:
    says, reason = HARM[harm]
    async with hostile_server() as hostile:
        servers.says |= says(servers, hostile)
        since = time.perf_counter()
        with pytest.raises(McpSignInError, match=reason):
            await authorizer.begin(target(servers.url), ANNA, REDIRECT)
        assert time.perf_counter() - since < 10
        assert hostile.asked == []


async def test_what_never_answers_is_given_up(
    servers: OAuthServers, authorizer: OAuthAuthorizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    monkeypatch.setattr(authorizing, "BEGIN_S", 1.0)
    servers.says[METADATA] = lambda: StreamingResponse(nothing())
    with pytest.raises(McpSignInError, match="within 1 seconds"):
        await authorizer.begin(target(servers.url), ANNA, REDIRECT)


async def test_an_address_without_https_that_nobody_allows_is_asked_nothing() -> None:
    rules = FetchRules()
    async with guarded_transport(rules) as transport:
        network = Network(transport=transport, rules=rules)
        authorizer = OAuthAuthorizer(Networks(shared=network, own=network))
        for url in ("http://wiki.example.org/mcp", "https://127.0.0.1/mcp", "https://[::1]/mcp"):
            with pytest.raises(McpSignInError, match=r"https|public"):
                await authorizer.begin(target(url), ANNA, REDIRECT)


async def test_the_address_a_browser_is_sent_to_keeps_its_query_and_none_of_it_says_who_asks(
    servers: OAuthServers, authorizer: OAuthAuthorizer
) -> None:
    page = f"{servers.issuer}/authorize?tenant=a%20b&state=theirs&redirect_uri=https://evil.example.org#part"
    servers.says[METADATA] = servers.metadata(authorization_endpoint=page)
    asked = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    query = parse_qs(urlsplit(asked.url).query)
    assert (query["tenant"], query["state"], query["redirect_uri"]) == (["a b"], [asked.state], [REDIRECT])
    assert urlsplit(asked.url).fragment == ""


NO_TOKENS: dict[str, Callable[[], Response]] = {
    "a token with a line": lambda: JSONResponse({"access_token": "a\r\nX: y", "token_type": "Bearer"}),
    "a long token": lambda: JSONResponse({"access_token": "a" * 20_000, "token_type": "Bearer"}),
    "an empty token": lambda: JSONResponse({"access_token": "", "token_type": "Bearer"}),
    "another kind": lambda: JSONResponse({"access_token": "abc", "token_type": "mac"}),
    "no JSON": lambda: Response("access_token=abc"),
    "an error": lambda: JSONResponse({"error": "<b>", "error_description": "secret-word"}, status_code=400),
    "away": lambda: RedirectResponse("http://127.0.0.1:1/", 307),
    "endless": endless,
}


@pytest.mark.parametrize("harm", NO_TOKENS)
async def test_what_is_no_token_is_not_taken_for_one(
    servers: OAuthServers, authorizer: OAuthAuthorizer, harm: str
) -> None:
    asked = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    code = parse_qs(urlsplit(await servers.consent(asked.url)).query)["code"][0]
    granted = await authorizer.redeem(pending(servers, asked), code)
    servers.says["/token"] = NO_TOKENS[harm]
    with pytest.raises(McpSignInError) as told:
        await authorizer.redeem(pending(servers, asked), "code")
    assert "secret-word" not in str(told.value)
    with pytest.raises((RenewalFailedError, RenewalRefusedError)):
        await authorizer.renew("user", ANNA, granted)


@pytest.mark.parametrize("lives", [-5, 0, 10**15])
async def test_how_long_a_token_lives_is_taken_as_far_as_it_can_be(
    servers: OAuthServers, authorizer: OAuthAuthorizer, lives: int
) -> None:
    asked = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    said = {"access_token": "abc", "token_type": "bearer", "expires_in": lives}
    servers.says["/token"] = lambda: JSONResponse(said)
    grant = await authorizer.redeem(pending(servers, asked), "code")
    assert grant.expires_at is not None
    assert grant.refresh_token == ""


async def test_a_code_is_of_no_use_without_what_only_we_know(
    servers: OAuthServers, authorizer: OAuthAuthorizer
) -> None:
    asked = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    other = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    code = parse_qs(urlsplit(await servers.consent(asked.url)).query)["code"][0]
    with pytest.raises(McpSignInError, match="gave no token"):
        await authorizer.redeem(pending(servers, other), code)


async def test_a_client_that_is_registered_at_one_authorization_server_is_told_to_no_other(
    servers: OAuthServers, authorizer: OAuthAuthorizer
) -> None:
    elsewhere = replace(
        target(servers.url).server, client_id="us", client_secret="s3cret", issuer="https://x.example.org"
    )
    here = replace(elsewhere, issuer=servers.issuer)
    with pytest.raises(McpSignInError, match=r"another authorization server than https://x\.example\.org"):
        await authorizer.begin(McpTarget(server=elsewhere), ANNA, REDIRECT)
    asked = await authorizer.begin(McpTarget(server=here), ANNA, REDIRECT)

    assert (asked.client.client_id, asked.client.client_secret) == ("us", "s3cret")
    assert len({binding_of(McpTarget(server=one)) for one in (here, elsewhere, replace(here, issuer=""))}) == 3
