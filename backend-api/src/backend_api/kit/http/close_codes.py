"""Close codes of sockets for the families of domain errors."""

from __future__ import annotations

from asyncio import Future

from backend_api.kit.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    InvalidError,
    LimitError,
    NotFoundError,
    SlowReaderError,
    UnauthenticatedError,
)

NOT_AUTHENTICATED = 4401
FORBIDDEN = 4403
NOT_FOUND = 4404
TOO_SLOW = 4408
CONTROL_LOST = 4409
TOO_MANY = 4429
TRY_AGAIN = 1013
RESTART = 1012
NOT_UNDERSTOOD = 1008

_CODES: dict[type[DomainError], int] = {
    UnauthenticatedError: NOT_AUTHENTICATED,
    ForbiddenError: FORBIDDEN,
    NotFoundError: NOT_FOUND,
    ConflictError: NOT_FOUND,
    LimitError: TOO_MANY,
    InvalidError: NOT_UNDERSTOOD,
    SlowReaderError: TOO_SLOW,
}


def end_code(ended: Future[UnauthenticatedError | None]) -> int:
    """The close code for the reason a socket had to end; without a reason this gateway ends."""
    reason = ended.result()
    return RESTART if reason is None else close_code(reason)


def close_code(error: DomainError) -> int:
    """The close code of the closest family; 1013 asks the client to try again."""
    return next((_CODES[cls] for cls in type(error).__mro__ if cls in _CODES), TRY_AGAIN)
