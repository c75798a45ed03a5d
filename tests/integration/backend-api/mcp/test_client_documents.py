"""Clients whose id is the address of a document of ours, at authorization servers that read such."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl

from backend_api.domain.identity.entity import UserId
from backend_api.domain.mcp.entity import McpServer, McpTarget
from backend_api.domain.mcp.sign_in import PendingSignIn, binding_of
from backend_api.infrastructure.fetch.guarded_client import guarded_transport
from backend_api.infrastructure.fetch.rules import FetchRules, allowed_hosts
from backend_api.infrastructure.mcp.network import Network, Networks
from backend_api.infrastructure.mcp.oauth.authorizer import OAuthAuthorizer
from support.oauth_servers import METADATA, SCOPE, OAuthServers, oauth_servers

ANNA = UserId("anna")
REDIRECT = "https://chat.example.org/api/mcp/oauth/callback"
DOCUMENT = "https://chat.example.org/api/mcp/oauth/client.json"


@dataclass(slots=True)
class WithOurs(httpx.AsyncBaseTransport):
    """A network in which this server has an address with https."""

    inner: httpx.AsyncBaseTransport
    document: httpx.Response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.document if str(request.url) == DOCUMENT else await self.inner.handle_async_request(request)


async def begun_client(
    servers: OAuthServers, document: httpx.Response, url: str = DOCUMENT, **server: str
) -> tuple[str, bool]:
    """The id of the client that a sign-in was begun with, and whether one was given for it."""
    rules = FetchRules(allowed_hosts(servers.hosts))
    async with guarded_transport(rules) as transport:
        network = Network(transport=WithOurs(transport, document), rules=rules)
        authorizer = OAuthAuthorizer(Networks(shared=network, own=network))
        target = McpTarget(server=McpServer(name="wiki", transport="http", url=servers.url, source="user", **server))
        asked = await authorizer.begin(target, ANNA, REDIRECT, client_document=url)
        back = parse_qs(urlsplit(await servers.consent(asked.url)).query)
        pending = PendingSignIn(
            user_id=ANNA,
            name="wiki",
            source="user",
            binding=binding_of(target),
            redirect_uri=REDIRECT,
            browser="",
            verifier=asked.verifier,
            client=asked.client,
        )
        grant = await authorizer.redeem(pending, back["code"][0])
    return parse_qs(urlsplit(asked.url).query)["client_id"][0], bool(grant.access_token)


def ours(client_id: str = DOCUMENT, status: int = 200) -> httpx.Response:
    return httpx.Response(status, json={"client_id": client_id})


async def test_the_address_of_our_document_is_our_id_where_such_are_read_and_nobody_is_registered() -> None:
    async with oauth_servers() as servers:
        servers.says[METADATA] = servers.metadata(client_id_metadata_document_supported=True)
        servers.provider.clients[DOCUMENT] = OAuthClientInformationFull(
            client_id=DOCUMENT, redirect_uris=[AnyUrl(REDIRECT)], token_endpoint_auth_method="none", scope=SCOPE
        )
        assert await begun_client(servers, ours()) == (DOCUMENT, True)
        assert "/register" not in servers.asked
        servers.add_client("by-hand", "s3cret-by-hand", REDIRECT)
        by_hand = {"client_id": "by-hand", "client_secret": "s3cret-by-hand"}
        assert await begun_client(servers, ours(), **by_hand) == ("by-hand", True)


@pytest.mark.parametrize(
    ("is_supported", "document", "url"),
    [
        (False, ours(), DOCUMENT),
        (True, ours(status=502), DOCUMENT),
        (True, ours("https://other.example.org/client.json"), DOCUMENT),
        (True, httpx.Response(200, text="<html>"), DOCUMENT),
        (True, ours(), ""),
    ],
    ids=["not supported", "not reached", "another's", "no document", "no address"],
)
async def test_where_it_can_not_be_used_a_client_is_registered(
    is_supported: bool, document: httpx.Response, url: str
) -> None:
    async with oauth_servers() as servers:
        servers.says[METADATA] = servers.metadata(client_id_metadata_document_supported=is_supported)
        client_id, is_given = await begun_client(servers, document, url)
        assert (client_id in servers.provider.clients, client_id != DOCUMENT, is_given) == (True, True, True)
        assert "/register" in servers.asked
