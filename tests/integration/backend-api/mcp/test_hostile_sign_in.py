"""Signing in over real sockets, where answers have no end or never come, or a code is somebody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.responses import Response, StreamingResponse

from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import FetchRules, allowed_hosts
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.sign_in import (
    AuthorizationRequest,
    McpSignInError,
    PendingSignIn,
    RenewalFailedError,
    RenewalRefusedError,
    binding_of,
)
from backend_api.mcp.oauth import authorizer as authorizing
from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from support.backend_stores import ANNA
from support.oauth_servers import METADATA, OAuthServers, oauth_servers

REDIRECT = "http://127.0.0.1:9/api/mcp/oauth/callback"


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


def endless() -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b'"' + b"x" * 100_000
            await asyncio.sleep(0)

    return StreamingResponse(pieces(), media_type="application/json")


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


async def test_metadata_and_tokens_without_end_are_left_early(
    servers: OAuthServers, authorizer: OAuthAuthorizer
) -> None:
    asked = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    code = parse_qs(urlsplit(await servers.consent(asked.url)).query)["code"][0]
    granted = await authorizer.redeem(pending(servers, asked), code)
    servers.says |= {METADATA: endless, "/token": endless}
    with pytest.raises(McpSignInError, match="more than 4 MB"):
        await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    with pytest.raises(McpSignInError):
        await authorizer.redeem(pending(servers, asked), "code")
    with pytest.raises((RenewalFailedError, RenewalRefusedError)):
        await authorizer.renew("user", ANNA, granted)


async def test_a_code_is_of_no_use_without_what_only_we_know(
    servers: OAuthServers, authorizer: OAuthAuthorizer
) -> None:
    asked = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    other = await authorizer.begin(target(servers.url), ANNA, REDIRECT)
    code = parse_qs(urlsplit(await servers.consent(asked.url)).query)["code"][0]
    with pytest.raises(McpSignInError, match="issued no"):
        await authorizer.redeem(pending(servers, other), code)
