"""Issue the two tokens of a log-in."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.identity.domain.entity import AccessClaims, Account, Grant, RefreshGrant
from backend_api.identity.ports import AccessTokens, RefreshTokens

PAGE_ACCESS_S = 30 * 60
"""The longest life of a page's access token; an open desktop reconnects as often."""


def digest_of(refresh_token: str) -> str:
    """The digest of a refresh token, which is stored in its place."""
    return hashlib.sha256(refresh_token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class IssueGrant:
    """Issues an access token, and a refresh token of the family. Both have the generation that `account` was read with,
    so that ending all log-ins after that reading ends these, too."""

    refresh_tokens: RefreshTokens
    access_tokens: AccessTokens
    refresh_lifetime: timedelta

    async def __call__(
        self,
        account: Account,
        family: str | None = None,
        *,
        refresh_token: str | None = None,
        for_page: bool = False,
    ) -> Grant:
        """Begin a new log-in without `family`. A page's tokens are short-lived, as it can refresh them at any time."""
        family = family or secrets.token_hex(16)
        refresh_token = refresh_token or secrets.token_urlsafe(48)
        user = account.user
        expires_at = datetime.now(UTC) + self.refresh_lifetime
        stored = RefreshGrant(user_id=user.id, family=family, token_version=account.token_version)
        await self.refresh_tokens.add(digest_of(refresh_token), stored, expires_at)
        claims = AccessClaims(user_id=user.id, family=family, token_version=account.token_version)
        access_token, expires_in = self.access_tokens.sign(claims, at_most_s=PAGE_ACCESS_S if for_page else None)
        return Grant(
            access_token=access_token,
            refresh_token=refresh_token,
            expires_in=expires_in,
            refresh_expires_in=int(self.refresh_lifetime.total_seconds()),
            user=user,
        )
