"""End one log-in, or all of a user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.application.identity.issue_grant import digest_of
from backend_api.domain.identity.entity import UserId
from backend_api.domain.identity.ports import LogInSignals, RefreshTokens, Users


@dataclass(frozen=True, slots=True)
class LogOut:
    """Refresh and access tokens of the log-in hold no longer, and what is open under it ends."""

    users: Users
    refresh_tokens: RefreshTokens
    refresh_lifetime: timedelta
    signals: LogInSignals

    async def __call__(self, user_id: UserId, family: str, refresh_token: str | None) -> None:
        families = {family} if family else set[str]()
        if refresh_token is not None:
            grant = await self.refresh_tokens.family_of(digest_of(refresh_token))
            if grant is not None and grant.user_id == user_id:
                families.add(grant.family)
        until = datetime.now(UTC) + self.refresh_lifetime
        for ended in families:
            await self.refresh_tokens.revoke(user_id, ended)
            await self.users.revoke_tokens(user_id, ended, until)
        await self.signals.tell(user_id)

    async def everywhere(self, user_id: UserId) -> None:
        """Every log-in of the user."""
        await self.refresh_tokens.revoke(user_id, None)
        await self.users.revoke_tokens(user_id, None, datetime.now(UTC))
        await self.signals.tell(user_id)
