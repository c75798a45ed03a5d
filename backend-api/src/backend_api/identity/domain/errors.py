"""Errors of accounts."""

from __future__ import annotations

from backend_api.identity.domain.entity import RefreshGrant
from backend_api.kit.errors import ConflictError, ForbiddenError, InvalidError, LimitError, UnauthenticatedError


class UsernameTakenError(ConflictError):
    """The name is taken."""

    code = "username_taken"


class WrongCredentialsError(UnauthenticatedError):
    """Unknown user or wrong password; the error never says which."""

    code = "wrong_credentials"


class TokenInvalidError(UnauthenticatedError):
    """A token that is malformed, forged, expired, revoked, or of another kind."""

    code = "token_invalid"


class TokenReusedError(TokenInvalidError):
    """A refresh token was used a second time: its whole family is revoked. `grant` is that of the token."""

    code = "token_reused"

    def __init__(self, detail: str, *, grant: RefreshGrant) -> None:
        super().__init__(detail)
        self.grant = grant


class WrongPasswordError(InvalidError):
    """The password given as the present one is wrong."""

    code = "wrong_password"


class NoPasswordError(ForbiddenError):
    """This account has no password."""

    code = "no_password"


class PasswordChangedError(ConflictError):
    """Another request changed the password, or ended this log-in, at the same moment."""

    code = "password_changed"


class RegistrationClosedError(ForbiddenError):
    """Registration is closed on this server."""

    code = "registration_closed"


class TooManyAnswersError(LimitError):
    """This user has as many long answers under way at this gateway as allowed."""

    code = "too_many_answers"
