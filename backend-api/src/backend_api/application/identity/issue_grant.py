"""Give a user the two tokens of a log-in."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.domain.identity.entity import AccessClaims, Account, Grant, RefreshGrant
from backend_api.domain.identity.ports import AccessTokens, RefreshTokens


def digest_of(refresh_token: str) -> str:
    """What is kept of a refresh token."""
    return hashlib.sha256(refresh_token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class IssueGrant:
    """An access token, and a refresh token of the family. Both are of the generation that `account` was read with, so
    that whoever ends all log-ins after that reading ends these, too."""

    refresh_tokens: RefreshTokens
    access_tokens: AccessTokens
    refresh_lifetime: timedelta

    async def __call__(self, account: Account, family: str | None = None) -> Grant:
        family = family or secrets.token_hex(16)
        refresh_token = secrets.token_urlsafe(48)
        user = account.user
        expires_at = datetime.now(UTC) + self.refresh_lifetime
        stored = RefreshGrant(user_id=user.id, family=family, token_version=account.token_version)
        await self.refresh_tokens.add(digest_of(refresh_token), stored, expires_at)
        claims = AccessClaims(user_id=user.id, family=family, token_version=account.token_version)
        access_token, expires_in = self.access_tokens.sign(claims)
        return Grant(access_token=access_token, refresh_token=refresh_token, expires_in=expires_in, user=user)
