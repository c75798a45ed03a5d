"""Users, their accounts and tokens."""

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
    """A user, with the data that decides whether tokens are valid. `revoked_families` holds those of the requested
    log-ins that ended; it may lack others."""

    user: User
    token_version: int = 0
    revoked_families: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessClaims:
    """The claims of an access token: its user, its log-in, its generation of tokens, and its expiry (Unix seconds). The
    local user has no token: then `expires_at` is None."""

    user_id: UserId
    family: str
    token_version: int
    expires_at: float | None = None

    def holds(self, account: Account | None) -> bool:
        """Whether the account still accepts these claims; expiry is checked elsewhere."""
        if account is None or not account.user.is_active:
            return False
        if self.expires_at is None:
            return True
        return self.token_version == account.token_version and self.family not in account.revoked_families


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshGrant:
    """The grant of a refresh token: this user, in this family, as long as the user's tokens have this generation.
    Tokens stored before generations were kept have none: their `token_version` is None. `is_used` is whether the token
    had been used before."""

    user_id: UserId
    family: str
    token_version: int | None
    is_used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The tokens a client gets when it logs in, with their lifetimes in seconds."""

    access_token: str
    refresh_token: str
    expires_in: int
    refresh_expires_in: int
    user: User
