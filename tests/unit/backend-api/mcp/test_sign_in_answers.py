"""Signing in where an MCP server or its authorization server says what would do harm: nothing is sent anywhere it
should not be, and each says why it can't be signed in at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from respx import MockRouter

from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.sign_in import McpSignInError, RenewalFailedError, RenewalRefusedError, binding_of
from backend_api.mcp.oauth.authorizer import OAuthAuthorizer
from support.sign_in_answers import ANNA, ISSUER, REDIRECT, TOKEN, metadata, pending, resource, target

INSIDE = "http://127.0.0.1:9"


def of_metadata(**instead: Any) -> tuple[str, dict[str, Any]]:
    return "metadata", {"json": metadata(**instead)}


def registered(**client: Any) -> tuple[str, dict[str, Any]]:
    return "register", {"status_code": 201, "json": client}


HARM: dict[str, tuple[tuple[str, dict[str, Any]], str]] = {
    "javascript": (of_metadata(authorization_endpoint="javascript:alert(1)"), "does not say where"),
    "file": (of_metadata(authorization_endpoint="file:///etc/passwd"), "does not say where"),
    "page without https": (of_metadata(authorization_endpoint="http://x.example.org/a"), "does not use https"),
    "tokens without https": (of_metadata(token_endpoint="http://x.example.org/token"), "does not use https"),
    "tokens to a private address": (of_metadata(token_endpoint="https://10.0.0.1/token"), "not a public address"),
    "registration at a private name": (
        of_metadata(registration_endpoint="https://x.internal/"),
        "not a public host name",
    ),
    "a password in an address": (of_metadata(token_endpoint="https://u:p@x.example.org/t"), "user name or password"),
    "another issuer": (of_metadata(issuer="https://evil.example.org"), "names a different issuer"),
    "no PKCE": (of_metadata(code_challenge_methods_supported=None), "PKCE"),
    "plain PKCE": (of_metadata(code_challenge_methods_supported=["plain"]), "PKCE"),
    "no registration": (of_metadata(registration_endpoint=None), "does not support dynamic client registration"),
    "large metadata": (of_metadata(scopes_supported=["x" * 300_000]), "more than 256 KB"),
    "nested": (("metadata", {"content": b"[" * 90_000}), "does not say where"),
    "no JSON": (("metadata", {"content": b"<html>"}), "does not say where"),
    "another resource": (("resource", {"json": resource(resource="https://bank.example.org")}), "about another server"),
    "a private authorization server": (
        ("resource", {"json": resource(authorization_servers=[INSIDE])}),
        "Port .* is not allowed|not a public address",
    ),
    "metadata at a private address": (
        ("metadata", {"status_code": 307, "headers": {"Location": f"{INSIDE}/x"}}),
        "does not say where",
    ),
    "a challenge to a private address": (
        ("server", {"status_code": 401, "headers": {"WWW-Authenticate": f'Bearer resource_metadata="{INSIDE}/"'}}),
        "Port .* is not allowed|not a public address",
    ),
    "a registration that is none": (registered(client_id=7), "did not register a usable client"),
    "a client that can't be used": (
        registered(client_id="x", token_endpoint_auth_method="private_key_jwt"),
        "did not register a usable client",
    ),
    "a client with a line in its name": (registered(client_id="a\r\nb"), "did not register a usable client"),
    "a redirected registration": (
        ("register", {"status_code": 307, "headers": {"Location": f"{INSIDE}/r"}}),
        "did not register a usable client",
    ),
    "a server that is ill": (("metadata", {"status_code": 503}), "responds with status 503"),
}


@pytest.mark.parametrize(("said", "reason"), HARM.values(), ids=HARM)
async def test_nothing_is_begun_where_harm_is_meant(
    peers: MockRouter, authorizer: OAuthAuthorizer, said: tuple[str, dict[str, Any]], reason: str
) -> None:
    name, answer = said
    peers[name].respond(**answer)
    with pytest.raises(McpSignInError, match=reason):
        await authorizer.begin(target(), ANNA, REDIRECT)
    assert peers[name].called


@pytest.mark.parametrize("url", ["http://wiki.example.org/mcp", "https://127.0.0.1/mcp", "https://[::1]/mcp"])
async def test_an_address_without_https_that_nobody_allows_is_asked_nothing(
    peers: MockRouter, authorizer: OAuthAuthorizer, url: str
) -> None:
    there = McpTarget(server=McpServer(name="wiki", transport="http", url=url, source="user"))
    with pytest.raises(McpSignInError, match=r"https|public"):
        await authorizer.begin(there, ANNA, REDIRECT)
    assert not peers.calls


async def test_the_address_a_browser_is_sent_to_keeps_its_query_and_none_of_it_says_who_asks(
    peers: MockRouter, authorizer: OAuthAuthorizer
) -> None:
    page = f"{ISSUER}/authorize?tenant=a%20b&state=theirs&redirect_uri=https://evil.example.org#part"
    peers["metadata"].respond(json=metadata(authorization_endpoint=page))
    asked = await authorizer.begin(target(), ANNA, REDIRECT)
    query = parse_qs(urlsplit(asked.url).query)
    assert (query["tenant"], query["state"], query["redirect_uri"]) == (["a b"], [asked.state], [REDIRECT])
    assert urlsplit(asked.url).fragment == ""


NO_TOKENS: dict[str, httpx.Response] = {
    "a token with a line": httpx.Response(200, json={**TOKEN, "access_token": "a\r\nX: y"}),
    "a long token": httpx.Response(200, json={**TOKEN, "access_token": "a" * 20_000}),
    "an empty token": httpx.Response(200, json={**TOKEN, "access_token": ""}),
    "another kind": httpx.Response(200, json={**TOKEN, "token_type": "mac"}),
    "no JSON": httpx.Response(200, text="access_token=abc"),
    "an error": httpx.Response(400, json={"error": "<b>", "error_description": "secret-word"}),
    "away": httpx.Response(307, headers={"Location": f"{INSIDE}/"}),
}


@pytest.mark.parametrize("answer", NO_TOKENS.values(), ids=NO_TOKENS)
async def test_what_is_no_token_is_not_taken_for_one(
    peers: MockRouter, authorizer: OAuthAuthorizer, answer: httpx.Response
) -> None:
    asked = await authorizer.begin(target(), ANNA, REDIRECT)
    granted = await authorizer.redeem(pending(asked), "code")
    peers["token"].mock(answer)
    with pytest.raises(McpSignInError) as told:
        await authorizer.redeem(pending(asked), "code")
    assert "secret-word" not in str(told.value)
    with pytest.raises((RenewalFailedError, RenewalRefusedError)):
        await authorizer.renew("user", ANNA, granted)


@pytest.mark.parametrize("lives", [-5, 0, 10**15])
async def test_how_long_a_token_lives_is_taken_as_far_as_it_can_be(
    peers: MockRouter, authorizer: OAuthAuthorizer, lives: int
) -> None:
    peers["token"].respond(json={"access_token": "abc", "token_type": "bearer", "expires_in": lives})
    grant = await authorizer.redeem(pending(await authorizer.begin(target(), ANNA, REDIRECT)), "code")
    assert grant.expires_at is not None
    assert grant.refresh_token == ""


async def test_a_client_that_is_registered_at_one_authorization_server_is_told_to_no_other(
    peers: MockRouter, authorizer: OAuthAuthorizer
) -> None:
    elsewhere = target(client_id="us", client_secret="s3cret", issuer="https://x.example.org").server
    here = replace(elsewhere, issuer=ISSUER)
    with pytest.raises(McpSignInError, match=r"different authorization server than https://x\.example\.org"):
        await authorizer.begin(McpTarget(server=elsewhere), ANNA, REDIRECT)
    asked = await authorizer.begin(McpTarget(server=here), ANNA, REDIRECT)

    assert (asked.client.client_id, asked.client.client_secret) == ("us", "s3cret")
    assert not peers["register"].called
    assert len({binding_of(McpTarget(server=one)) for one in (here, elsewhere, replace(here, issuer=""))}) == 3
