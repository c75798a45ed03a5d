"""The ports of accounts."""

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
        """The account by id; for the log-ins `families` its `revoked_families` is complete."""
        ...

    async def has_any(self) -> bool: ...

    async def revoke_tokens(self, user_id: UserId, family: str | None, until: datetime) -> None:
        """Revoke the access tokens of one log-in (remembered `until` the last has expired); of all for None."""
        ...

    async def change_password(
        self, user_id: UserId, *, old_hash: str, new_hash: str, token_version: int
    ) -> Account | None:
        """Set a new password and the next generation of tokens in one step, and return the account after it. None if
        the account has another password or generation by now, or is closed."""
        ...


class AccountLookup(Protocol):
    """The current state of many accounts at once."""

    async def find_accounts(self, families: Mapping[UserId, Collection[str]]) -> dict[UserId, Account]:
        """The existing accounts, each with the state of some of its log-ins. Raises `UnavailableError`."""
        ...


class RefreshTokens(Protocol):
    """Refresh tokens, stored as digests. A family is one log-in with all tokens that replaced its first one."""

    async def add(self, digest: str, grant: RefreshGrant, expires_at: datetime) -> None:
        """Store a token; an existing one is not changed."""
        ...

    async def use(self, digest: str, *, again_s: int = 0) -> RefreshGrant:
        """Use a token up, once. With `again_s` it may be used again for that time, if the first use had it too, and is
        then returned as used. Raises `TokenReusedError` for one used before, after revoking its family, and
        `TokenInvalidError` for an unknown, expired or revoked one."""
        ...

    async def find(self, digest: str) -> RefreshGrant | None:
        """The grant of the token, whether it is still valid or not."""
        ...

    async def revoke(self, user_id: UserId, family: str) -> None: ...

    async def revoke_all(self, user_id: UserId, through_version: int) -> None:
        """Revoke the user's tokens up to this generation, and those without one."""
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
        """The longest life of a token, in seconds."""
        ...

    def sign(self, claims: AccessClaims, *, at_most_s: int | None = None) -> tuple[str, int]:
        """The token and its lifetime in seconds."""
        ...

    def following(self, refresh_token: str) -> str:
        """The refresh token that replaces this one: always the same, and nobody else can compute it."""
        ...

    def read(self, token: str) -> AccessClaims:
        """The claims of a valid token. Raises `TokenInvalidError`."""
        ...


class RateLimiter(Protocol):
    """Counts events within a window of time."""

    async def hit(self, key: str, *, limit: int, window_s: int) -> None:
        """Count once. Raises `LimitError` with the time to come back; a limit of 0 is no limit."""
        ...

    async def count(self, key: str, *, window_s: int) -> int:
        """Count once, and return the count in this window."""
        ...

    async def forget(self, key: str) -> None:
        """Reset the count."""
        ...
