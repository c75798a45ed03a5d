"""What an MCP server and its authorization server answer while a user signs in, said by respx."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from respx import MockRouter

from backend_api.kit.ids import UserId
from backend_api.kit.untrusted.guarded_client import guarded_transport
from backend_api.kit.untrusted.rules import FetchRules
from backend_api.mcp.client.network import Network, Networks
from backend_api.mcp.domain.entity import McpServer, McpTarget
from backend_api.mcp.domain.sign_in import AuthorizationRequest, PendingSignIn, binding_of
from backend_api.mcp.oauth.authorizer import OAuthAuthorizer

ANNA = UserId("anna")
REDIRECT = "https://chat.example.org/api/mcp/oauth/callback"
SERVER = "https://wiki.example.org/mcp"
ISSUER = "https://login.example.org"
TOKEN: dict[str, Any] = {"access_token": "access-1", "token_type": "Bearer", "refresh_token": "refresh-1"}


def target(**server: Any) -> McpTarget:
    return McpTarget(server=McpServer(name="wiki", transport="http", url=SERVER, source="user", **server))


def resource(**instead: Any) -> dict[str, Any]:
    """What the MCP server says of itself (RFC 9728)."""
    return {"resource": SERVER, "authorization_servers": [ISSUER], "scopes_supported": ["notes"], **instead}


def metadata(**instead: Any) -> dict[str, Any]:
    """What the authorization server says of itself (RFC 8414)."""
    said = {
        "issuer": ISSUER,
        "authorization_endpoint": f"{ISSUER}/authorize",
        "token_endpoint": f"{ISSUER}/token",
        "registration_endpoint": f"{ISSUER}/register",
        "response_types_supported": ["code"],
        "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        **instead,
    }
    return {name: value for name, value in said.items() if value is not None}


def answer_sign_in(router: MockRouter) -> MockRouter:
    """Routes named `server`, `resource`, `metadata`, `register` and `token`. Whatever else is asked for at these two
    is not there; asking anybody else fails the test."""
    router.post(SERVER, name="server").respond(401, headers={"WWW-Authenticate": "Bearer"})
    well_known = f"{SERVER.removesuffix('/mcp')}/.well-known/oauth-protected-resource/mcp"
    router.get(well_known, name="resource").respond(json=resource())
    router.get(f"{ISSUER}/.well-known/oauth-authorization-server", name="metadata").respond(json=metadata())
    registered = {"client_id": "registered", "client_secret": "s3cret", "redirect_uris": [REDIRECT]}
    router.post(f"{ISSUER}/register", name="register").respond(201, json=registered)
    router.post(f"{ISSUER}/token", name="token").respond(json=TOKEN)
    router.get(host__in=("wiki.example.org", "login.example.org"), name="others").respond(404)
    return router


@asynccontextmanager
async def public_authorizer() -> AsyncGenerator[OAuthAuthorizer]:
    """One that asks public addresses alone."""
    rules = FetchRules()
    async with guarded_transport(rules) as transport:
        network = Network(transport=transport, rules=rules)
        yield OAuthAuthorizer(Networks(shared=network, own=network))


def pending(asked: AuthorizationRequest) -> PendingSignIn:
    """What is kept of a sign-in that was begun."""
    return PendingSignIn(
        user_id=ANNA,
        name="wiki",
        source="user",
        binding=binding_of(target()),
        redirect_uri=REDIRECT,
        browser="",
        verifier=asked.verifier,
        client=asked.client,
    )
