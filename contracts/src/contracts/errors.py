"""Problem details (RFC 9457) as every service of the suite answers them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FieldError(BaseModel):
    """One invalid field of a request; `field` is a dotted path such as `body.title`. `code` says the same as
    `message`, for whoever has words of their own for it; most have none."""

    model_config = ConfigDict(frozen=True)

    field: str
    message: str
    code: str | None = None


class Problem(BaseModel):
    """`application/problem+json`: what went wrong, in a stable `code`, and what to do, in `detail`."""

    model_config = ConfigDict(frozen=True)

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    retryable: bool = False
    request_id: str | None = None
    errors: list[FieldError] | None = None
    limit_bytes: int | None = None
    """What something too large may have at most, where that is known."""


PROBLEM_MEDIA_TYPE = "application/problem+json"
REQUEST_ID_HEADER = "X-Request-ID"
