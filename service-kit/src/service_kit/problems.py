"""Errors of every service as problem details (RFC 9457): one table from the families to status, one renderer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from contracts.errors import PROBLEM_MEDIA_TYPE, FieldError, Problem
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
    as_sentence,
)
from service_kit.observation.context import current_work
from service_kit.problem_responses import document_problems

STATUS: dict[type[DomainError], HTTPStatus] = {
    NotFoundError: HTTPStatus.NOT_FOUND,
    GoneError: HTTPStatus.GONE,
    ConflictError: HTTPStatus.CONFLICT,
    PreconditionError: HTTPStatus.PRECONDITION_FAILED,
    InvalidError: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    ForbiddenError: HTTPStatus.FORBIDDEN,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    LimitError: HTTPStatus.TOO_MANY_REQUESTS,
    UpstreamError: HTTPStatus.BAD_GATEWAY,
    UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
}
UNAVAILABLE_RETRY_S = 5

MOST_ERRORS = 20
MOST_TOLD = 3
"""Faults that the detail lists."""
MAX_ERROR_CHARACTERS = 300

_CODES = {
    HTTPStatus.UNAUTHORIZED: "unauthenticated",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "body_too_large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid",
}

Headers = Mapping[str, str]
ServiceHeaders = Callable[[DomainError], Headers]


def status_of(error: type[DomainError]) -> HTTPStatus | None:
    """Status of the closest family; None for a class outside every family."""
    return next((STATUS[cls] for cls in error.__mro__ if cls in STATUS), None)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    retryable: bool = False,
    errors: Sequence[FieldError] | None = None,
    limit_bytes: int | None = None,
    headers: Headers | None = None,
) -> Response:
    """A problem as an answer, under the id of the request being answered; `detail` ends as a sentence does."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=as_sentence(_readable(detail)),
        code=code,
        retryable=retryable,
        request_id=current_work().request_id,
        errors=list(errors) if errors is not None else None,
        limit_bytes=limit_bytes,
    )
    return Response(body.model_dump_json(exclude_none=True), status, headers, PROBLEM_MEDIA_TYPE)


def _readable(text: str) -> str:
    """The text with characters escaped that UTF-8 can't carry: a file's name may be any bytes."""
    return text.encode("utf-8", "backslashreplace").decode()


def domain_problem(error: DomainError) -> Response:
    """A domain error as an answer."""
    status = status_of(type(error)) or HTTPStatus.INTERNAL_SERVER_ERROR
    errors = None
    if isinstance(error, InvalidError):
        errors = [FieldError(field=error.field, message=error.detail, code=error.fault)]
    limit_bytes = error.limit_bytes if isinstance(error, TooLargeError) else None
    headers: dict[str, str] = {}
    if isinstance(error, LimitError):
        headers["Retry-After"] = str(error.retry_after_s)
    elif isinstance(error, UnavailableError):
        headers["Retry-After"] = str(UNAVAILABLE_RETRY_S)
    if isinstance(error, UnauthenticatedError):
        headers["WWW-Authenticate"] = "Bearer"
    return problem(
        status,
        error.code,
        error.detail,
        retryable=error.retryable,
        errors=errors,
        limit_bytes=limit_bytes,
        headers=headers,
    )


def _validation_problem(error: RequestValidationError) -> Response:
    """A problem with the first faults only: a body can have thousands, and names of any length."""
    found = cast("Sequence[dict[str, Any]]", error.errors())[:MOST_ERRORS]
    errors = [_field_error(entry) for entry in found]
    told = "; ".join(f"{entry.field}: {entry.message.rstrip('.')}" for entry in errors[:MOST_TOLD])
    more = len(error.errors()) - MOST_TOLD
    detail = f"Not valid: {told}{f'; and {more} more' if more > 0 else ''}."
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", detail, errors=errors)


def _field_error(entry: Mapping[str, Any]) -> FieldError:
    location, message = [*entry["loc"]], str(entry["msg"]).removeprefix("Value error, ")
    if entry["type"] == "json_invalid":
        # For invalid JSON, the location holds a position in place of the field.
        at = location.pop() if len(location) > 1 else 0
        why = cast("Mapping[str, Any]", entry.get("ctx") or {}).get("error", "it can't be read")
        message = f"it is not valid JSON: {why} at character {at}"
    return FieldError(field=".".join(map(str, location))[:MAX_ERROR_CHARACTERS], message=message[:MAX_ERROR_CHARACTERS])


def _http_problem(error: HTTPException) -> Response:
    status = HTTPStatus(error.status_code)
    code = _CODES.get(status, status.phrase.lower().replace(" ", "_"))
    is_invalid = status == HTTPStatus.UNPROCESSABLE_ENTITY
    errors = [FieldError(field="body", message=str(error.detail))] if is_invalid else ()
    return problem(status, code, str(error.detail), errors=errors, headers=error.headers)


def install_problems(app: FastAPI, *, service_headers: ServiceHeaders = lambda _: {}) -> None:
    """Answer every error of the application in this form, and say so in its OpenAPI document.

    `service_headers` gives further headers of a service's own errors. Unforeseen errors are answered by the outermost
    layer, which knows the request's id.
    """
    document_problems(app)

    async def on_domain(_: Request, error: Exception) -> Response:
        known = cast("DomainError", error)
        response = domain_problem(known)
        response.headers.update(service_headers(known))
        return response

    async def on_invalid(_: Request, error: Exception) -> Response:
        return _validation_problem(cast("RequestValidationError", error))

    async def on_http(_: Request, error: Exception) -> Response:
        return _http_problem(cast("HTTPException", error))

    app.add_exception_handler(DomainError, on_domain)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
