"""Requests to a token endpoint (RFC 6749, 7636, 8707)."""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from urllib.parse import quote

import httpx2
from mcp.shared.auth import OAuthToken
from pydantic import ValidationError

from backend_api.mcp.domain.sign_in import (
    Grant,
    McpSignInError,
    OAuthClient,
    PendingSignIn,
    RenewalFailedError,
    RenewalRefusedError,
)
from backend_api.mcp.oauth.bounded_http import BoundedHttp

MAX_TOKEN_CHARACTERS = 16_384
LONGEST = timedelta(days=3_650)
_TOKEN = re.compile(r"[\x21-\x7e]+")
_ERROR = re.compile(r"[a-z_]{1,50}")
NO_TOKEN = "The authorization server issued no usable token."
_LATER = (408, 429)


async def redeem(http: BoundedHttp, pending: PendingSignIn, code: str) -> Grant:
    """Exchanges a code for tokens. Raises `McpSignInError`."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": pending.redirect_uri,
        "code_verifier": pending.verifier,
    }
    response = await http.send(_request(pending.client, form))
    if response.status_code not in (200, 201):
        raise McpSignInError(f"The authorization server issued no token: {_error_of(response)}.")
    try:
        return _grant(pending.client, response.content)
    except ValueError as error:
        raise McpSignInError(NO_TOKEN) from error


async def renew(http: BoundedHttp, grant: Grant) -> Grant:
    """Renews the tokens of a grant. Raises `RenewalRefusedError`, `RenewalFailedError`."""
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
    try:
        response = await http.send(_request(grant.client, form))
    except McpSignInError as error:
        raise RenewalFailedError(error.detail) from error
    status = response.status_code
    if 400 <= status < 500 and status not in _LATER:
        raise RenewalRefusedError(_error_of(response))
    if status not in (200, 201):
        raise RenewalFailedError(f"The authorization server responds with status {status}.")
    try:
        return _grant(grant.client, response.content, former=grant)
    except ValueError as error:
        raise RenewalFailedError(NO_TOKEN) from error


async def revoke(http: BoundedHttp, grant: Grant) -> None:
    """Revokes both tokens: not every server revokes one with the other. Raises `McpSignInError`."""
    tokens = [("refresh_token", grant.refresh_token), ("access_token", grant.access_token)]
    for kind, token in tokens:
        if not token:
            continue
        form = {"token": token, "token_type_hint": kind}
        response = await http.send(_request(grant.client, form, grant.client.revocation_endpoint))
        if not response.is_success:
            raise McpSignInError(f"The authorization server did not revoke the {kind}: {_error_of(response)}.")


def _request(client: OAuthClient, form: dict[str, str], endpoint: str = "") -> httpx2.Request:
    """A request to `endpoint`, by default the token endpoint."""
    data = {**form, "client_id": client.client_id}
    if not endpoint:
        data["resource"] = client.resource
    headers = {"Accept": "application/json"}
    if client.auth == "client_secret_basic":
        named = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(named.encode()).decode()}"
    elif client.auth == "client_secret_post":
        data["client_secret"] = client.client_secret
    return httpx2.Request("POST", endpoint or client.token_endpoint, data=data, headers=headers)


def _grant(client: OAuthClient, content: bytes, former: Grant | None = None) -> Grant:
    """The grant in a response. Raises `ValueError`."""
    try:
        parsed = OAuthToken.model_validate_json(content)
    except ValidationError as error:
        raise ValueError("no response with a token") from error
    refresh_token = parsed.refresh_token or (former.refresh_token if former is not None else "")
    for token in (parsed.access_token, *([refresh_token] if refresh_token else [])):
        if len(token) > MAX_TOKEN_CHARACTERS or not _TOKEN.fullmatch(token):
            raise ValueError("a token that is too long or can't be sent in a header")
    expires_at = None
    if parsed.expires_in is not None:
        lives = timedelta(seconds=min(max(parsed.expires_in, 0), int(LONGEST.total_seconds())))
        expires_at = datetime.now(UTC) + lives
    return Grant(client=client, access_token=parsed.access_token, refresh_token=refresh_token, expires_at=expires_at)


def _error_of(response: httpx2.Response) -> str:
    """The error code, which is one of a few words; the rest of the response is not shown to anybody."""
    try:
        problem: Any = json.loads(response.content)
    except (ValueError, RecursionError):
        problem = None
    error = cast("dict[str, Any]", problem).get("error") if isinstance(problem, dict) else None
    return error if isinstance(error, str) and _ERROR.fullmatch(error) else f"status {response.status_code}"
