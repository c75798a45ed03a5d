"""Finds the authorization server of an MCP server by their metadata (RFC 9728, RFC 8414)."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    issuers_match,
)
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.domain.sign_in import MAX_SCOPE_CHARACTERS, McpNoSignInError, McpSignInError
from backend_api.mcp.oauth.bounded_http import BoundedHttp

GRANT_TYPES = ["authorization_code", "refresh_token"]
NOWHERE = (
    "It does not say where users sign in. If it accepts a token or key, set one in its headers, such as Authorization."
)
OTHER_RESOURCE = "Its sign-in metadata is about another server."
OTHER_ISSUER = "The authorization server's metadata names a different issuer."
NO_PKCE = "Its authorization server does not say that it supports PKCE with S256, without which codes can be stolen."


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """The metadata, with each address checked. `resource` names the server there, `scope` is the scope to request;
    `revocation_endpoint` is empty if there is no usable one."""

    metadata: OAuthMetadata
    resource: str
    scope: str | None
    revocation_endpoint: str = ""


async def discovered(http: BoundedHttp, server: McpServer) -> Discovered:
    """Discovers the metadata of a server. Raises `McpSignInError`."""
    http.checked(server.url)
    challenge = await http.head_of(_probe(server))
    asks = challenge.status_code in (401, 403)
    resource = await _resource(http, server, extract_resource_metadata_from_www_auth(challenge) if asks else None)
    metadata = await _metadata(http, server, resource)
    _check(http, metadata)
    named = resource_url_from_server_url(server.url)
    scope = get_client_metadata_scopes(
        extract_scope_from_www_auth(challenge) if asks else None, resource, metadata, GRANT_TYPES
    )
    return Discovered(
        metadata=metadata,
        resource=str(resource.resource) if resource is not None else named,
        scope=scope if scope and len(scope) <= MAX_SCOPE_CHARACTERS and scope.isascii() else None,
        revocation_endpoint=_revocation_endpoint(http, metadata),
    )


def _probe(server: McpServer) -> httpx2.Request:
    """The request that a connection to the server would begin with."""
    headers = {**server.headers, "Accept": "application/json, text/event-stream"}
    if server.transport == "sse":
        return httpx2.Request("GET", server.url, headers=headers)
    opening = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "deskmate", "version": "1"},
        },
    }
    return httpx2.Request("POST", server.url, headers=headers, json=opening)


async def _resource(http: BoundedHttp, server: McpServer, named: str | None) -> ProtectedResourceMetadata | None:
    for url in build_protected_resource_metadata_discovery_urls(named, server.url):
        response = await http.send(create_oauth_metadata_request(url))
        found = await handle_protected_resource_response(response)
        if found is not None:
            asked = resource_url_from_server_url(server.url)
            if not check_resource_allowed(requested_resource=asked, configured_resource=str(found.resource)):
                raise McpSignInError(OTHER_RESOURCE)
            return found
        if response.status_code >= 500 or response.status_code == 429:
            raise McpSignInError(f"{response.request.url.host} responds with status {response.status_code}.")
    return None


async def _metadata(http: BoundedHttp, server: McpServer, resource: ProtectedResourceMetadata | None) -> OAuthMetadata:
    parts = urlsplit(server.url)
    issuer = str(resource.authorization_servers[0]) if resource is not None else None
    if issuer is not None:
        http.checked(issuer)
    expected = issuer or f"{parts.scheme}://{parts.netloc}"
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, server.url):
        response = await http.send(create_oauth_metadata_request(url))
        goes_on, found = await handle_auth_metadata_response(response)
        if found is not None:
            if not issuers_match(str(found.issuer), expected):
                raise McpSignInError(OTHER_ISSUER)
            return found
        if not goes_on:
            raise McpSignInError(f"{response.request.url.host} responds with status {response.status_code}.")
    raise McpNoSignInError(NOWHERE)


def _revocation_endpoint(http: BoundedHttp, metadata: OAuthMetadata) -> str:
    """The revocation endpoint; an unusable one does not prevent signing in."""
    try:
        return http.checked(str(metadata.revocation_endpoint)) if metadata.revocation_endpoint is not None else ""
    except McpSignInError:
        return ""


def _check(http: BoundedHttp, metadata: OAuthMetadata) -> None:
    for url in (metadata.authorization_endpoint, metadata.token_endpoint, metadata.registration_endpoint):
        if url is not None:
            http.checked(str(url))
    if "S256" not in (metadata.code_challenge_methods_supported or ()):
        raise McpSignInError(NO_PKCE)
