"""Asks servers and their authorization servers to sign users in."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from backend_api.mcp.client.network import Networks
from backend_api.mcp.domain.entity import McpTarget, Source
from backend_api.mcp.domain.sign_in import (
    AuthorizationRequest,
    Grant,
    McpSignInError,
    PendingSignIn,
    RenewalFailedError,
)

if TYPE_CHECKING:
    from types import ModuleType

BEGIN_S = 20.0
ASK_S = 10.0
REVOKE_S = 5.0
"""Timeout, in seconds: a person who signs out waits for it."""
TOO_SLOW = "The authorization server did not answer within {:g} seconds."


class OAuthAuthorizer:
    """`Authorizer`."""

    def __init__(self, networks: Networks) -> None:
        self._networks = networks

    async def begin(
        self, target: McpTarget, user_id: str, redirect_uri: str, *, scopes: str = "", client_document: str = ""
    ) -> AuthorizationRequest:
        flow = await asyncio.to_thread(_load)
        try:
            async with (
                asyncio.timeout(BEGIN_S),
                flow.bounded_http(self._networks.of(target.server.source), user_id) as http,
            ):
                return await flow.begin(http, target.filled, redirect_uri, scopes, client_document)
        except TimeoutError as error:
            raise McpSignInError(TOO_SLOW.format(BEGIN_S)) from error

    async def redeem(self, pending: PendingSignIn, code: str) -> Grant:
        flow = await asyncio.to_thread(_load)
        try:
            async with (
                asyncio.timeout(ASK_S),
                flow.bounded_http(self._networks.of(pending.source), pending.user_id) as http,
            ):
                return await flow.redeem(http, pending, code)
        except TimeoutError as error:
            raise McpSignInError(TOO_SLOW.format(ASK_S)) from error

    async def renew(self, source: Source, user_id: str, grant: Grant) -> Grant:
        flow = await asyncio.to_thread(_load)
        try:
            async with asyncio.timeout(ASK_S), flow.bounded_http(self._networks.of(source), user_id) as http:
                return await flow.renew(http, grant)
        except TimeoutError as error:
            raise RenewalFailedError(TOO_SLOW.format(ASK_S)) from error

    async def revoke(self, source: Source, user_id: str, grant: Grant) -> None:
        if not grant.client.revocation_endpoint:
            return
        flow = await asyncio.to_thread(_load)
        try:
            async with asyncio.timeout(REVOKE_S), flow.bounded_http(self._networks.of(source), user_id) as http:
                await flow.revoke(http, grant)
        except TimeoutError as error:
            raise McpSignInError(TOO_SLOW.format(REVOKE_S)) from error


def _load() -> ModuleType:
    from backend_api.mcp.oauth import flow

    return flow
