"""Create an account."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime

from backend_api.identity.application.issue_grant import IssueGrant
from backend_api.identity.application.limits import Limits
from backend_api.identity.domain.entity import Account, Grant, User
from backend_api.identity.domain.errors import RegistrationClosedError, UsernameTakenError
from backend_api.identity.domain.rules import check_email, check_password, check_username
from backend_api.identity.ports import PasswordHasher, RateLimiter, Users
from backend_api.kit.ids import UserId


@dataclass(frozen=True, slots=True)
class Register:
    """Raises `InvalidError`, `UsernameTakenError`, `LimitError`, `RegistrationClosedError`."""

    users: Users
    passwords: PasswordHasher
    issue_grant: IssueGrant
    limiter: RateLimiter
    limits: Limits
    is_open: bool

    async def __call__(
        self, username: str, password: str, email: str | None, *, address: str, for_page: bool = False
    ) -> Grant:
        if not self.is_open:
            raise RegistrationClosedError("Registration is closed on this server.")
        check_username(username)
        check_password(password)
        check_email(email)
        await self.limiter.hit(f"register:{address}", limit=self.limits.register_per_hour, window_s=3600)
        if await self.users.by_username(username) is not None:
            raise UsernameTakenError("This user name is taken.")
        user = User(
            id=UserId(uuid.uuid4().hex),
            username=username,
            email=email,
            password_hash=await self.passwords.hash(password),
            is_admin=False,
            is_active=True,
            created_at=datetime.now(UTC),
        )
        return await self.issue_grant(Account(user=await self.users.add(user)), for_page=for_page)
