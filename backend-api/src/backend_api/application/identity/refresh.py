"""Trade a refresh token for new tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.application.identity.issue_grant import IssueGrant, digest_of
from backend_api.application.identity.limits import Limits
from backend_api.domain.identity.entity import Grant
from backend_api.domain.identity.errors import TokenInvalidError, TokenReusedError
from backend_api.domain.identity.ports import LogInSignals, RateLimiter, RefreshTokens, Users


@dataclass(frozen=True, slots=True)
class Refresh:
    """A token holds once; used again it ends its log-in everywhere. Raises `TokenInvalidError`, `LimitError`."""

    users: Users
    refresh_tokens: RefreshTokens
    issue_grant: IssueGrant
    refresh_lifetime: timedelta
    limiter: RateLimiter
    limits: Limits
    signals: LogInSignals

    async def __call__(self, refresh_token: str, *, address: str) -> Grant:
        await self.limiter.hit(f"refresh:{address}", limit=self.limits.refresh_per_minute, window_s=60)
        try:
            used = await self.refresh_tokens.use(digest_of(refresh_token))
        except TokenReusedError as error:
            until = datetime.now(UTC) + self.refresh_lifetime
            await self.users.revoke_tokens(error.grant.user_id, error.grant.family, until)
            await self.signals.tell(error.grant.user_id)
            raise
        account = await self.users.get(used.user_id)
        if account is None or not account.user.is_active or used.family in account.revoked_families:
            raise TokenInvalidError("This refresh token does not hold. Log in again.")
        return await self.issue_grant(account, used.family)
