"""Addresses and cookies of opened ports as signed tokens."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from backend_api.identity.domain.entity import AccessClaims
from backend_api.kit.ids import UserId
from backend_api.kit.signed_tokens import TokenSigner
from backend_api.previews.domain.entity import PortId, PreviewGrant
from backend_api.previews.domain.errors import PreviewTokenError

PREVIEW_AUDIENCE = "backend-api/previews"


class JwtPreviewTokens:
    """`PreviewTokens`: one kind of token for addresses, another one for cookies, neither of which is accepted as the
    other."""

    def __init__(self, secret: str, *, algorithm: str, clock: Callable[[], float] = time.time) -> None:
        self._addresses = TokenSigner(secret, algorithm, PREVIEW_AUDIENCE, "preview-address", clock)
        self._cookies = TokenSigner(secret, algorithm, PREVIEW_AUDIENCE, "preview-cookie", clock)

    def sign_address(self, grant: PreviewGrant, *, expires_s: int) -> str:
        """A token for the query of an address."""
        return self._addresses.sign(_preview_claims(grant), expires_s)

    def read_address(self, token: str) -> PreviewGrant:
        """The grant of an address token."""
        return _preview_grant(self._addresses.read(token))

    def sign_cookie(self, grant: PreviewGrant, *, expires_s: int) -> str:
        """A token for the cookie of the port's host."""
        return self._cookies.sign(_preview_claims(grant), expires_s)

    def read_cookie(self, token: str) -> PreviewGrant:
        """The grant of a cookie token."""
        return _preview_grant(self._cookies.read(token))


def _preview_claims(grant: PreviewGrant) -> dict[str, Any]:
    claims = grant.claims
    payload = {"sub": claims.user_id, "fam": claims.family, "ver": claims.token_version, "port": grant.port_id}
    return payload | ({"local": 1} if claims.expires_at is None else {})


def _preview_grant(claims: dict[str, Any] | None) -> PreviewGrant:
    if claims is None:
        raise PreviewTokenError("The address is invalid or has expired. Open the port from the conversation again.")
    try:
        user = AccessClaims(
            user_id=UserId(str(claims["sub"])),
            family=str(claims["fam"]),
            token_version=int(claims["ver"]),
            # The local user has no log-in that could end.
            expires_at=None if claims.get("local") == 1 else float(claims["exp"]),
        )
        return PreviewGrant(port_id=PortId(str(claims["port"])), claims=user)
    except (KeyError, ValueError, TypeError) as error:
        raise PreviewTokenError("The address is invalid. Open the port from the conversation again.") from error
