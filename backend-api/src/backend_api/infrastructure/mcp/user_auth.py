"""What a connection says of its user: the token that was given where the user signed in."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx2

from backend_api.application.runs.masking import Mask
from backend_api.domain.errors import UnavailableError
from backend_api.domain.mcp.sign_in import AccessTokens
from backend_api.infrastructure.mcp.guarded_transport import Refusals


class UserAuth(httpx2.Auth):
    """Each request has the token that holds, and is sent once more with another one where it was refused. No token is
    read in anything that comes from the server."""

    def __init__(self, tokens: AccessTokens, mask: Mask, refusals: Refusals) -> None:
        self._tokens = tokens
        self._mask = mask
        self._refusals = refusals

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Raises `httpx2.ConnectError` where what is kept can't be read."""
        try:
            token = await self._tokens.current()
            self._give(request, token)
            response = yield request
            if response.status_code != 401:
                if token is None and response.is_success:
                    await self._tokens.accepted()
                return
            asks = self._refusals.asks_to_sign_in
            fresh = await self._tokens.after_refusal(token, asks_to_sign_in=asks)
        except UnavailableError as error:
            self._refusals.refuse(error.detail, "other")
            raise httpx2.ConnectError("no token", request=request) from error
        if fresh is None:
            self._refusals.needs_sign_in = asks or token is not None
            return
        self._give(request, fresh)
        self._refusals.status = None
        response = yield request
        self._refusals.needs_sign_in = response.status_code == 401

    def _give(self, request: httpx2.Request, token: str | None) -> None:
        if token is not None:
            self._mask.add(token)
            request.headers["Authorization"] = f"Bearer {token}"
