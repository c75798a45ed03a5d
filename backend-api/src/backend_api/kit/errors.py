"""Errors of the domain: the families every service shares, and the one error every store may raise.

Concrete errors are defined with their entity and know nothing of HTTP.
"""

from __future__ import annotations

from service_kit.failures import (
    ConflictError,
    DomainError,
    ForbiddenError,
    GoneError,
    InvalidError,
    LimitError,
    NotFoundError,
    PreconditionError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UpstreamError,
)

__all__ = [
    "ConflictError",
    "DomainError",
    "ForbiddenError",
    "GoneError",
    "InvalidError",
    "LimitError",
    "NotFoundError",
    "PreconditionError",
    "SlowReaderError",
    "StoreUnavailableError",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
    "UpstreamError",
]


class StoreUnavailableError(UnavailableError):
    """The database does not answer. Data may or may not have been stored, so no caller may rely on either."""

    code = "store_unavailable"


class SlowReaderError(UnavailableError):
    """A reader of a live stream did not keep up; it resumes from its last number."""

    code = "slow_reader"
