"""Authorises a connection's requests with the token of the signed-in user."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx2
from mcp.client.auth.utils import extract_field_from_www_auth, extract_scope_from_www_auth

from backend_api.kit.errors import UnavailableError
from backend_api.kit.masking import Mask
from backend_api.mcp.client.guarded_transport import Refusals, ScopeRefusal
from backend_api.mcp.domain.sign_in import AccessTokens, scopes_of


class UserAuth(httpx2.Auth):
    """Adds the valid token to each request, and sends the request once more with a new token if it was refused. Tokens
    are masked in everything the server sends."""

    def __init__(self, tokens: AccessTokens, mask: Mask, refusals: Refusals) -> None:
        self._tokens = tokens
        self._mask = mask
        self._refusals = refusals

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Sends a request with the token. Raises `httpx2.ConnectError` if the stored token can't be read."""
        try:
            token = await self._tokens.current()
            self._authorize(request, token)
            response = yield request
            if response.status_code != 401:
                await self._look_for_scopes(token, response)
                if token is None and response.is_success:
                    await self._tokens.accepted()
                return
            asks = self._refusals.asks_to_sign_in
            fresh = await self._tokens.after_refusal(token, asks_to_sign_in=asks)
        except UnavailableError as error:
            self._refusals.refuse(error.detail, "other")
            raise httpx2.ConnectError("no token", request=request) from error
        if fresh is None:
            self._refusals.sign_in.needs_sign_in = asks or token is not None
            return
        self._authorize(request, fresh)
        self._refusals.status = None
        response = yield request
        self._refusals.sign_in.needs_sign_in = response.status_code == 401
        await self._look_for_scopes(fresh, response)

    async def _look_for_scopes(self, token: str | None, response: httpx2.Response) -> None:
        """Records whether a valid token lacks scopes (RFC 6750, 3.1). The request is not repeated, as only the user can
        grant more."""
        if token is None or response.status_code != 403:
            return
        if extract_field_from_www_auth(response, "error") != "insufficient_scope":
            return
        scopes = scopes_of(extract_scope_from_www_auth(response) or "")
        try:
            may_help = bool(scopes) and await self._tokens.lacks(scopes)
        except UnavailableError as error:
            self._refusals.refuse(error.detail, "other")
            raise httpx2.ConnectError("no scopes", request=response.request) from error
        self._refusals.sign_in.scope = ScopeRefusal(scopes, may_help)

    def _authorize(self, request: httpx2.Request, token: str | None) -> None:
        if token is not None:
            self._mask.add(token)
            request.headers["Authorization"] = f"Bearer {token}"
