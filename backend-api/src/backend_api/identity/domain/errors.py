"""What can go wrong with accounts."""

from __future__ import annotations

from backend_api.identity.domain.entity import RefreshGrant
from backend_api.kit.errors import ConflictError, ForbiddenError, InvalidError, LimitError, UnauthenticatedError


class UsernameTakenError(ConflictError):
    """Somebody has this name already."""

    code = "username_taken"


class WrongCredentialsError(UnauthenticatedError):
    """Unknown user or wrong password; never says which."""

    code = "wrong_credentials"


class TokenInvalidError(UnauthenticatedError):
    """A token that is malformed, forged, expired, revoked, or of another kind."""

    code = "token_invalid"


class TokenReusedError(TokenInvalidError):
    """A refresh token came a second time: its whole family is revoked. `grant` says which."""

    code = "token_reused"

    def __init__(self, detail: str, *, grant: RefreshGrant) -> None:
        super().__init__(detail)
        self.grant = grant


class WrongPasswordError(InvalidError):
    """The present password was asked, and it is another."""

    code = "wrong_password"


class NoPasswordError(ForbiddenError):
    """This account has no password."""

    code = "no_password"


class PasswordChangedError(ConflictError):
    """Somebody else changed it, or ended this log-in, at the same moment."""

    code = "password_changed"


class RegistrationClosedError(ForbiddenError):
    """Registration is closed on this server."""

    code = "registration_closed"


class TooManyAnswersError(LimitError):
    """This user has as many long answers on their way as one may have at this gateway."""

    code = "too_many_answers"
