"""Change the password of an account."""

from __future__ import annotations

from dataclasses import dataclass

from backend_api.identity.application.authenticate import NO_PASSWORD, Caller
from backend_api.identity.application.guesses import ChangeGuesses
from backend_api.identity.application.issue_grant import IssueGrant
from backend_api.identity.domain.entity import Grant
from backend_api.identity.domain.errors import NoPasswordError, PasswordChangedError, WrongPasswordError
from backend_api.identity.domain.rules import MAX_PASSWORD, check_password
from backend_api.identity.ports import PasswordHasher, RefreshTokens, Users
from backend_api.kit.errors import InvalidError
from backend_api.kit.notifier import Notifier, Topic


@dataclass(frozen=True, slots=True)
class ChangePassword:
    """Ends every log-in of the user, and begins a new one for the caller. Raises `NoPasswordError`, `InvalidError`
    (`WrongPasswordError` for the old one), `PasswordChangedError`, `LimitError`."""

    users: Users
    passwords: PasswordHasher
    refresh_tokens: RefreshTokens
    issue_grant: IssueGrant
    notifier: Notifier
    guesses: ChangeGuesses

    async def __call__(self, caller: Caller, old: str, new: str, *, for_page: bool = False) -> Grant:
        user, version = caller.user, caller.claims.token_version
        if user.password_hash == NO_PASSWORD:
            raise NoPasswordError("This account has no password: in local mode nobody logs in.")
        check_password(new, field="body.new_password")
        await self.guesses.admit(user.id, caller.family)
        is_right = await self.passwords.verify(user.password_hash, old[:MAX_PASSWORD])
        if not is_right or len(old) > MAX_PASSWORD:
            raise WrongPasswordError("The current password is wrong.", field="body.old_password")
        if new == old:
            raise InvalidError("The new password is the same as the current one.", field="body.new_password")
        await self.guesses.record_success(user.id)
        new_hash = await self.passwords.hash(new)
        # First the tokens, as when logging out everywhere. If the change fails after that, another one succeeded.
        await self.refresh_tokens.revoke_all(user.id, version)
        account = await self.users.change_password(
            user.id, old_hash=user.password_hash, new_hash=new_hash, token_version=version
        )
        if account is None:
            raise PasswordChangedError(
                "The password was changed elsewhere, or this login session has ended. Log in again."
            )
        grant = await self.issue_grant(account, for_page=for_page)
        await self.notifier.notify(Topic.LOG_IN_ENDED, user.id)
        return grant
