"""The families of errors that the services raise and answer alike.

DomainError
├── NotFoundError          what was asked for does not exist, or belongs to someone else
├── GoneError              it was there, for a time that is over
├── ConflictError          the present state does not allow it
│   └── PreconditionError  it is not as whoever changes it read it
├── InvalidError           the input is wrong; says which field
├── UnauthenticatedError   who are you
├── ForbiddenError         not allowed, whoever you are
├── TooLargeError          over a documented size
├── LimitError             too many or too fast; says when to come back
├── UpstreamError          a part we depend on answered, and failed
└── UnavailableError       a part we depend on does not answer; may be retried

A service's own errors stand beside what they speak of, below a family, and know nothing of HTTP: with a family and a
code an error has its status, headers and place in the OpenAPI document (`problems.py`). This imports the standard
library alone, so that a domain may build on it.
"""

from __future__ import annotations

from typing import ClassVar


def as_sentence(text: str) -> str:
    """With a full stop where it has no end; frameworks name a status without one."""
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


class DomainError(Exception):
    """Base of all. `code` is stable and part of the wire contract; `detail` tells a person what to do."""

    code: ClassVar[str] = "error"
    retryable: bool = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class NotFoundError(DomainError):
    """What was asked for does not exist, or belongs to someone else."""

    code = "not_found"


class GoneError(DomainError):
    """What was asked for was there for a time that is over."""

    code = "gone"


class ConflictError(DomainError):
    """The present state does not allow it."""

    code = "conflict"


class PreconditionError(ConflictError):
    """It is not as whoever wants to change it says that they read it."""

    code = "precondition"


class InvalidError(DomainError):
    """The input is wrong. `field` is the dotted path of the field, and `fault` a stable code of what is wrong
    with it, where it has one."""

    code = "invalid"

    def __init__(self, detail: str, *, field: str, fault: str | None = None) -> None:
        super().__init__(detail)
        self.field = field
        self.fault = fault


class UnauthenticatedError(DomainError):
    """No token, or one that does not hold."""

    code = "unauthenticated"


class ForbiddenError(DomainError):
    """Not allowed, whoever you are."""

    code = "forbidden"


class TooLargeError(DomainError):
    """Over a documented size; `limit_bytes` says which, where whoever refuses it knows."""

    code = "too_large"

    def __init__(self, detail: str, *, limit_bytes: int | None = None) -> None:
        super().__init__(detail)
        self.limit_bytes = limit_bytes


class LimitError(DomainError):
    """Too many or too fast. `retry_after_s` says when to come back."""

    code = "limit"
    retryable = True

    def __init__(self, detail: str, *, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class UpstreamError(DomainError):
    """A part we depend on answered, and failed."""

    code = "upstream"


class UnavailableError(DomainError):
    """A part we depend on does not answer."""

    code = "unavailable"
    retryable = True
