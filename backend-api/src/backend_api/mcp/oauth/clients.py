"""Our client at an authorization server: configured by somebody, described by our metadata document, or registered just
now (RFC 7591)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import httpx2
from mcp.client.auth import OAuthRegistrationError
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import (
    create_client_registration_request,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.domain.sign_in import ClientAuth, McpClientNeededError, McpSignInError, OAuthClient
from backend_api.mcp.oauth.bounded_http import BoundedHttp
from backend_api.mcp.oauth.discovery import GRANT_TYPES, Discovered

CLIENT_NAME = "Deskmate"
MAX_CHARACTERS = 4_096
NEEDS_CLIENT = (
    "Its authorization server does not support dynamic client registration. Register a client there "
    "with the callback address {}, and enter its client id, and its secret if it has one, in its settings here."
)
OTHER_ISSUER = "It names a different authorization server than {}, where its client is registered."
NOT_REGISTERED = "Its authorization server did not register a usable client."


async def client_for(
    http: BoundedHttp, server: McpServer, found: Discovered, redirect_uri: str, client_document: str
) -> OAuthClient:
    """Gets a client at the authorization server. Raises `McpSignInError`."""
    metadata = found.metadata
    supported = metadata.token_endpoint_auth_methods_supported
    if server.issuer and not issuers_match(str(metadata.issuer), server.issuer):
        raise McpSignInError(OTHER_ISSUER.format(server.issuer))
    if server.client_id:
        auth = _auth_of(supported) if server.client_secret else "none"
        return _client(found, server.client_id, server.client_secret, auth)
    if metadata.client_id_metadata_document_supported and await _can_be_read(http, client_document):
        return _client(found, client_document, "", "none")
    if metadata.registration_endpoint is None:
        raise McpClientNeededError(NEEDS_CLIENT.format(redirect_uri))
    wanted = OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect_uri)],
        token_endpoint_auth_method=_registered_auth(supported),
        grant_types=[*GRANT_TYPES],
        response_types=["code"],
        client_name=CLIENT_NAME,
        application_type="web",
        scope=found.scope,
    )
    response = await http.send(create_client_registration_request(metadata, wanted, ""))
    try:
        registered = await handle_registration_response(response)
        check_registration_usable(registered)
    except OAuthRegistrationError as error:
        raise McpSignInError(NOT_REGISTERED) from error
    # Without a method, the protocol's default applies if there is a secret.
    method = registered.token_endpoint_auth_method or ("client_secret_basic" if registered.client_secret else "none")
    auth = cast("ClientAuth", method) if method in get_args(ClientAuth) else "none"
    return _client(found, registered.client_id, registered.client_secret or "", auth)


async def _can_be_read(http: BoundedHttp, client_document: str) -> bool:
    """Whether the document can be fetched at its public address: one that only this network knows is of no use."""
    if not client_document.startswith("https://"):
        return False
    try:
        response = await http.send(httpx2.Request("GET", client_document, headers={"Accept": "application/json"}))
        said: object = response.json() if response.status_code == 200 else None
    except (McpSignInError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and cast("dict[str, object]", said).get("client_id") == client_document


def _client(found: Discovered, client_id: str, secret: str, auth: ClientAuth) -> OAuthClient:
    if not all(len(text) <= MAX_CHARACTERS and text.isascii() and text.isprintable() for text in (client_id, secret)):
        raise McpSignInError(NOT_REGISTERED)
    return OAuthClient(
        issuer=str(found.metadata.issuer),
        token_endpoint=str(found.metadata.token_endpoint),
        resource=found.resource,
        client_id=client_id,
        client_secret=secret,
        auth=auth,
        revocation_endpoint=found.revocation_endpoint,
    )


def _auth_of(supported: Sequence[str] | None) -> ClientAuth:
    """The authentication method of a client with a secret."""
    is_post = supported is not None and "client_secret_basic" not in supported and "client_secret_post" in supported
    return "client_secret_post" if is_post else "client_secret_basic"


def _registered_auth(supported: Sequence[str] | None) -> ClientAuth | None:
    """The authentication method to register with: a secret if the server issues one, so that stolen tokens are of no
    use to others."""
    wanted: tuple[ClientAuth, ...] = ("client_secret_basic", "client_secret_post", "none")
    return next((one for one in wanted if one in (supported or ())), None)
