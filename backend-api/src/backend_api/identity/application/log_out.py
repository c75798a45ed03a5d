"""End one log-in, or all of a user's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend_api.identity.application.issue_grant import digest_of
from backend_api.identity.ports import RefreshTokens, Users
from backend_api.kit.ids import UserId
from backend_api.kit.notifier import Notifier, Topic


@dataclass(frozen=True, slots=True)
class LogOut:
    """Refresh and access tokens of the log-in become invalid, and its open connections end.

    `remembered_for` is how long the last tokens of a log-in may be valid.
    """

    users: Users
    refresh_tokens: RefreshTokens
    remembered_for: timedelta
    notifier: Notifier

    async def __call__(self, user_id: UserId, family: str, refresh_tokens: Collection[str]) -> None:
        """End this log-in, and the log-ins of those of the tokens that are this user's."""
        families = {family} if family else set[str]()
        for refresh_token in refresh_tokens:
            grant = await self.refresh_tokens.find(digest_of(refresh_token))
            if grant is not None and grant.user_id == user_id:
                families.add(grant.family)
        for ended in families:
            await self.end(user_id, ended)

    async def by_token(self, refresh_token: str) -> None:
        """End the log-in of a refresh token, if there is one."""
        grant = await self.refresh_tokens.find(digest_of(refresh_token))
        if grant is not None:
            await self.end(grant.user_id, grant.family)

    async def end(self, user_id: UserId, family: str) -> None:
        """End one log-in. A refresh at the same time may still return tokens, but they are not valid."""
        await self.users.revoke_tokens(user_id, family, datetime.now(UTC) + self.remembered_for)
        await self.refresh_tokens.revoke(user_id, family)
        await self.notifier.notify(Topic.LOG_IN_ENDED, user_id)

    async def everywhere(self, user_id: UserId) -> None:
        """End every log-in of the user, also one that a refresh or log-in is just about to issue."""
        account = await self.users.get(user_id)
        if account is None:
            return
        # Tokens first: one without a generation takes that of the account as read before its use.
        await self.refresh_tokens.revoke_all(user_id, account.token_version)
        await self.users.revoke_tokens(user_id, None, datetime.now(UTC))
        await self.notifier.notify(Topic.LOG_IN_ENDED, user_id)
