"""What accounts need from the outside."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from backend_api.identity.domain.entity import AccessClaims, Account, RefreshGrant, User
from backend_api.kit.ids import UserId


class Users(Protocol):
    """Accounts. Names are compared without regard to case."""

    async def add(self, user: User) -> User:
        """Store a new account; exactly one of all is made admin, the first. Raises `UsernameTakenError`."""
        ...

    async def by_username(self, username: str) -> Account | None: ...

    async def get(self, user_id: UserId, families: Collection[str] = ()) -> Account | None:
        """By id; of the log-ins `families` it tells surely which ended."""
        ...

    async def has_any(self) -> bool: ...

    async def revoke_tokens(self, user_id: UserId, family: str | None, until: datetime) -> None:
        """Access tokens of one log-in hold no longer (remembered `until` the last has expired); of all for None."""
        ...

    async def change_password(
        self, user_id: UserId, *, old_hash: str, new_hash: str, token_version: int
    ) -> Account | None:
        """A new password and the next generation of tokens in one step; the account after it. None when the account has
        another password or generation by now, or is closed."""
        ...


class AccountLookup(Protocol):
    """How accounts stand now, many at once."""

    async def find_accounts(self, families: Mapping[UserId, Collection[str]]) -> dict[UserId, Account]:
        """The accounts there are, each asked about some of its log-ins. Raises `UnavailableError`."""
        ...


class RefreshTokens(Protocol):
    """Refresh tokens, kept as digests. A family is one log-in and what came of it by rotation."""

    async def add(self, digest: str, grant: RefreshGrant, expires_at: datetime) -> None:
        """One that is there stays as it is."""
        ...

    async def use(self, digest: str, *, again_s: int = 0) -> RefreshGrant:
        """Use a token up, once. For `again_s` after a use with as much it may be used so again, and is told as used.

        Raises `TokenReusedError` for one used before, after revoking its family, and `TokenInvalidError` for an
        unknown, expired or revoked one."""
        ...

    async def find(self, digest: str) -> RefreshGrant | None:
        """What it stands for, whether it still holds or not."""
        ...

    async def revoke(self, user_id: UserId, family: str) -> None: ...

    async def revoke_all(self, user_id: UserId, through_version: int) -> None:
        """Revoke the user's tokens up to this generation, and those that name none."""
        ...


class PasswordHasher(Protocol):
    """argon2id; off the event loop."""

    async def hash(self, password: str) -> str: ...

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether it is the password. None takes as long as a real hash and is never right."""
        ...


class AccessTokens(Protocol):
    """Signs and reads access tokens."""

    @property
    def lifetime_s(self) -> int:
        """How long they hold at most."""
        ...

    def sign(self, claims: AccessClaims, *, at_most_s: int | None = None) -> tuple[str, int]:
        """The token and its lifetime in seconds."""
        ...

    def following(self, refresh_token: str) -> str:
        """The refresh token that takes the place of this one: always the same, and known to nobody but us."""
        ...

    def read(self, token: str) -> AccessClaims:
        """Raises `TokenInvalidError`."""
        ...


class RateLimiter(Protocol):
    """Counts what somebody does in a window of time."""

    async def hit(self, key: str, *, limit: int, window_s: int) -> None:
        """Count once. Raises `LimitError` with the time to come back; a limit of 0 is no limit."""
        ...

    async def count(self, key: str, *, window_s: int) -> int:
        """Count once, and say how often it was in this window."""
        ...

    async def forget(self, key: str) -> None:
        """Begin anew."""
        ...
