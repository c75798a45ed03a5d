"""The families of errors that all services share.

DomainError
├── NotFoundError          the requested thing does not exist, or belongs to someone else
├── GoneError              the requested thing has expired
├── ConflictError          the present state does not allow it
│   └── PreconditionError  it has changed since the caller read it
├── InvalidError           the input is wrong; says which field
├── UnauthenticatedError   no valid token
├── ForbiddenError         not allowed, whoever the caller is
├── TooLargeError          over a documented size
├── LimitError             too many or too fast; says when to come back
├── UpstreamError          a part we depend on answered, and failed
└── UnavailableError       a part we depend on does not answer; may be retried

A service defines its own errors, each below a family, beside the code they concern; they know nothing of HTTP: with a
family and a code an error has its status, headers and place in the OpenAPI document (`problems.py`). This module
imports the standard library alone, so that a domain may build on it.
"""

from __future__ import annotations

from typing import ClassVar


def as_sentence(text: str) -> str:
    """The text with a full stop unless it has an end; frameworks name a status without one."""
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


class DomainError(Exception):
    """Base of all. `code` is stable and part of the wire contract; `detail` tells a person what to do."""

    code: ClassVar[str] = "error"
    retryable: bool = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class NotFoundError(DomainError):
    """The requested thing does not exist, or belongs to someone else."""

    code = "not_found"


class GoneError(DomainError):
    """The requested thing existed, but its time is over."""

    code = "gone"


class ConflictError(DomainError):
    """The present state does not allow it."""

    code = "conflict"


class PreconditionError(ConflictError):
    """The thing to change has changed since the caller read it."""

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
    """The token is missing or invalid."""

    code = "unauthenticated"


class ForbiddenError(DomainError):
    """The caller may not do this, whoever they are."""

    code = "forbidden"


class TooLargeError(DomainError):
    """The input exceeds a documented size: `limit_bytes`, if known."""

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
