"""Who uses the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend_api.kit.ids import UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """An account. `username` is unique without regard to case; `password_hash` is argon2id in PHC form."""

    id: UserId
    username: str
    email: str | None
    password_hash: str
    is_admin: bool
    is_active: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user with what decides whether tokens still hold. `revoked_families` has, of the log-ins that were asked about,
    those that ended; of others it may know nothing."""

    user: User
    token_version: int = 0
    revoked_families: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessClaims:
    """What an access token says: whose it is, which log-in it belongs to, which generation of tokens, and until when
    it holds (Unix seconds). The local user has none: then `expires_at` is None."""

    user_id: UserId
    family: str
    token_version: int
    expires_at: float | None = None

    def holds(self, account: Account | None) -> bool:
        """Whether the account still stands behind it; the time is another question."""
        if account is None or not account.user.is_active:
            return False
        if self.expires_at is None:
            return True
        return self.token_version == account.token_version and self.family not in account.revoked_families


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshGrant:
    """What a refresh token stands for: this user, in this family, as long as the user's tokens are of this generation.
    Tokens stored before generations were kept with them have none: their `token_version` is None. `is_used` says
    whether the token had been used before."""

    user_id: UserId
    family: str
    token_version: int | None
    is_used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a client gets when it logs in; both tokens hold for so many seconds."""

    access_token: str
    refresh_token: str
    expires_in: int
    refresh_expires_in: int
    user: User
