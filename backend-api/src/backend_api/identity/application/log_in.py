"""Log in with name and password."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.identity.application.guesses import LogInGuesses
from backend_api.identity.application.issue_grant import IssueGrant
from backend_api.identity.domain.entity import Grant
from backend_api.identity.domain.errors import WrongCredentialsError
from backend_api.identity.domain.rules import MAX_PASSWORD
from backend_api.identity.ports import PasswordHasher, Users


@dataclass(frozen=True, slots=True)
class LogIn:
    """Raises `WrongCredentialsError` with the same words and after the same time for every reason, and `LimitError`."""

    users: Users
    passwords: PasswordHasher
    issue_grant: IssueGrant
    guesses: LogInGuesses

    async def __call__(self, username: str, password: str, *, address: str, for_page: bool = False) -> Grant:
        name = username.casefold()[:64]
        await self.guesses.admit(name, address)
        account = await self.users.by_username(username[:64])
        password_hash = account.user.password_hash if account and len(password) <= MAX_PASSWORD else None
        is_right = await self.passwords.verify(password_hash, password[:MAX_PASSWORD])
        if account is None or not is_right or not account.user.is_active:
            raise WrongCredentialsError("User name or password is wrong.")
        await self.guesses.record_success(name, address)
        return await self.issue_grant(account, for_page=for_page)
