"""The steps of signing in. This module imports the protocol's package, so it is loaded when somebody first signs in."""

from __future__ import annotations

import secrets
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mcp.client.auth import PKCEParameters

from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.domain.sign_in import AuthorizationRequest, OAuthClient, with_scopes
from backend_api.mcp.oauth.bounded_http import BoundedHttp, bounded_http
from backend_api.mcp.oauth.clients import client_for
from backend_api.mcp.oauth.discovery import Discovered, discovered
from backend_api.mcp.oauth.tokens import redeem, renew, revoke

__all__ = ["begin", "bounded_http", "redeem", "renew", "revoke"]


async def begin(
    http: BoundedHttp, server: McpServer, redirect_uri: str, scopes: str, client_document: str
) -> AuthorizationRequest:
    """Begins a sign-in. `scopes` are requested besides those the server names. Raises `McpSignInError`."""
    found = await discovered(http, server)
    if scopes:
        found = replace(found, scope=with_scopes(found.scope or "", scopes))
    client = await client_for(http, server, found, redirect_uri, client_document)
    state, proof = secrets.token_urlsafe(32), PKCEParameters.generate()
    return AuthorizationRequest(
        url=_authorization_url(found, client, redirect_uri, state, proof.code_challenge),
        state=state,
        verifier=proof.code_verifier,
        client=client,
        tells_issuer=bool(found.metadata.authorization_response_iss_parameter_supported),
    )


def _authorization_url(found: Discovered, client: OAuthClient, redirect_uri: str, state: str, challenge: str) -> str:
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "resource": client.resource,
    }
    if found.scope:
        asked["scope"] = found.scope
        if "offline_access" in found.scope.split():
            # A refresh token is only issued after a new consent (OpenID Connect, 11).
            asked["prompt"] = "consent"
    parts = urlsplit(str(found.metadata.authorization_endpoint))
    kept = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name not in asked]
    return urlunsplit(parts._replace(query=urlencode([*kept, *asked.items()]), fragment=""))
