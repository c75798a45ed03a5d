"""Identifies the user of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from backend_api.identity.domain.entity import AccessClaims, User
from backend_api.identity.domain.errors import TokenInvalidError, UsernameTakenError
from backend_api.identity.ports import AccessTokens, Users
from backend_api.kit.errors import UnauthenticatedError
from backend_api.kit.ids import UserId

LOCAL_USER_ID = UserId("local")
NO_PASSWORD = "!"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The user and the log-in of a call; the local user without a token has an empty family."""

    user: User
    claims: AccessClaims

    @property
    def family(self) -> str:
        """The log-in of the call."""
        return self.claims.family


@dataclass(frozen=True, slots=True)
class Authenticate:
    """Raises `UnauthenticatedError`. In local mode a call without a token is the local user."""

    users: Users
    access_tokens: AccessTokens
    is_local: bool
    _local: list[User] = field(default_factory=list[User])

    async def __call__(self, token: str | None) -> Caller:
        if token is None:
            if not self.is_local:
                raise UnauthenticatedError("Log in first.")
            user = await self._local_user()
            return Caller(user=user, claims=AccessClaims(user_id=user.id, family="", token_version=0))
        claims = self.access_tokens.read(token)
        account = await self.users.get(claims.user_id, (claims.family,))
        if account is None or not claims.holds(account):
            raise TokenInvalidError("The access token is invalid or has expired. Log in again.")
        return Caller(user=account.user, claims=claims)

    async def _local_user(self) -> User:
        """The local user never changes, so it is read once."""
        if not self._local:
            self._local.append(await self._stored_local_user())
        return self._local[0]

    async def _stored_local_user(self) -> User:
        account = await self.users.get(LOCAL_USER_ID)
        if account is not None:
            return account.user
        user = User(
            id=LOCAL_USER_ID,
            username="local",
            email=None,
            password_hash=NO_PASSWORD,
            is_admin=True,
            is_active=True,
            created_at=datetime.now(UTC),
        )
        try:
            return await self.users.add(user)
        except UsernameTakenError:
            account = await self.users.get(LOCAL_USER_ID)
            if account is None:
                raise
            return account.user
