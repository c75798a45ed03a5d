"""Problem details (RFC 9457), the error answers of every service of the suite."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FieldError(BaseModel):
    """One invalid field of a request; `field` is a dotted path such as `body.title`. `code` has the meaning of
    `message`, for clients that use their own words for it; most have none."""

    model_config = ConfigDict(frozen=True)

    field: str
    message: str
    code: str | None = None


class Problem(BaseModel):
    """`application/problem+json`: the error as a stable `code`, and the cause and what to do as `detail`."""

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
    """The limit that was exceeded, if it is known."""


PROBLEM_MEDIA_TYPE = "application/problem+json"
REQUEST_ID_HEADER = "X-Request-ID"
