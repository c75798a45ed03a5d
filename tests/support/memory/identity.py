"""Accounts and refresh tokens in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from backend_api.identity.domain.entity import Account, RefreshGrant, User
from backend_api.identity.domain.errors import TokenInvalidError, TokenReusedError, UsernameTakenError
from backend_api.kit.ids import UserId
from support.memory.store import utc_now


class MemoryUsers:
    """`Users` and `AccountLookup`."""

    def __init__(self) -> None:
        self._accounts: dict[UserId, Account] = {}

    async def add(self, user: User) -> User:
        """The first is admin."""
        if await self.by_username(user.username) is not None:
            raise UsernameTakenError("This user name is taken.")
        user = replace(user, is_admin=user.is_admin or not self._accounts)
        self._accounts[user.id] = Account(user=user)
        return user

    async def by_username(self, username: str) -> Account | None:
        """Without regard to case."""
        wanted = username.casefold()
        return next((own for own in self._accounts.values() if own.user.username.casefold() == wanted), None)

    async def get(self, user_id: UserId, families: Collection[str] = ()) -> Account | None:
        """By id; it knows of all log-ins."""
        del families
        return self._accounts.get(user_id)

    async def find_accounts(self, families: Mapping[UserId, Collection[str]]) -> dict[UserId, Account]:
        """Those there are."""
        return {user_id: self._accounts[user_id] for user_id in families if user_id in self._accounts}

    async def has_any(self) -> bool:
        """Whether anybody registered."""
        return bool(self._accounts)

    async def revoke_tokens(self, user_id: UserId, family: str | None, until: datetime) -> None:
        """Remembered on the account."""
        del until
        account = self._accounts[user_id]
        if family is None:
            account = replace(account, token_version=account.token_version + 1)
        else:
            account = replace(account, revoked_families=account.revoked_families | {family})
        self._accounts[user_id] = account

    async def change_password(
        self, user_id: UserId, *, old_hash: str, new_hash: str, token_version: int
    ) -> Account | None:
        """In one step."""
        account = self._accounts.get(user_id)
        if account is None or (account.user.password_hash, account.token_version) != (old_hash, token_version):
            return None
        if not account.user.is_active:
            return None
        user = replace(account.user, password_hash=new_hash)
        self._accounts[user_id] = Account(user=user, token_version=token_version + 1)
        return self._accounts[user_id]


@dataclass(slots=True)
class _Token:
    grant: RefreshGrant
    expires_at: datetime
    again_until: datetime | None = None
    is_revoked: bool = False


class MemoryRefreshTokens:
    """`RefreshTokens`."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self._tokens: dict[str, _Token] = {}
        self._clock = clock

    async def add(self, digest: str, grant: RefreshGrant, expires_at: datetime) -> None:
        """Keep it."""
        self._tokens.setdefault(digest, _Token(grant, expires_at))

    async def use(self, digest: str, *, again_s: int = 0) -> RefreshGrant:
        """Once, or again for a while."""
        token, now = self._tokens.get(digest), self._clock()
        holds = token is not None and not token.is_revoked and token.expires_at > now
        if token is not None and token.grant.is_used:
            if again_s and holds and token.again_until is not None and token.again_until > now:
                return token.grant
            await self.revoke(token.grant.user_id, token.grant.family)
            raise TokenReusedError("This refresh token was used before. Log in again.", grant=token.grant)
        if token is None or not holds:
            raise TokenInvalidError("The refresh token is invalid or has expired. Log in again.")
        before = token.grant
        token.grant = replace(before, is_used=True)
        token.again_until = now + timedelta(seconds=again_s) if again_s else None
        return before

    async def find(self, digest: str) -> RefreshGrant | None:
        """Whose it is."""
        token = self._tokens.get(digest)
        return token.grant if token else None

    async def revoke(self, user_id: UserId, family: str) -> None:
        """Mark them."""
        for token in self._tokens.values():
            if token.grant.user_id == user_id and token.grant.family == family:
                token.is_revoked = True

    async def revoke_all(self, user_id: UserId, through_version: int) -> None:
        """Mark them."""
        for token in self._tokens.values():
            version = token.grant.token_version
            if token.grant.user_id == user_id and (version is None or version <= through_version):
                token.is_revoked = True
