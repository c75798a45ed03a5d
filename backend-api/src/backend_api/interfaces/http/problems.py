"""Every error as problem details: one table from the domain's families to status."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from backend_api.domain.agent.model import ModelError
from backend_api.domain.errors import (
    ConflictError,
    DomainError,
    ForbiddenError,
    InvalidError,
    LimitError,
    NotFoundError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
)
from backend_api.interfaces.http.request_id import current_request_id
from contracts.errors import PROBLEM_MEDIA_TYPE, FieldError, Problem
from contracts.problem_responses import document_problems

logger = logging.getLogger(__name__)

STATUS: dict[type[DomainError], HTTPStatus] = {
    NotFoundError: HTTPStatus.NOT_FOUND,
    ConflictError: HTTPStatus.CONFLICT,
    InvalidError: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    ForbiddenError: HTTPStatus.FORBIDDEN,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    LimitError: HTTPStatus.TOO_MANY_REQUESTS,
    UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
    ModelError: HTTPStatus.BAD_GATEWAY,
}

_CODES = {
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "unsupported_media_type",
}


def status_of(error: type[DomainError]) -> HTTPStatus | None:
    """Status of the closest family; None for a class outside every family."""
    return next((STATUS[cls] for cls in error.__mro__ if cls in STATUS), None)


def problem(
    status: int, code: str, detail: str, *, retryable: bool = False, errors: Sequence[FieldError] | None = None
) -> Response:
    """A problem as an answer."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        retryable=retryable,
        request_id=current_request_id(),
        errors=list(errors) if errors is not None else None,
    )
    return Response(body.model_dump_json(exclude_none=True), status_code=status, media_type=PROBLEM_MEDIA_TYPE)


def domain_problem(error: DomainError) -> Response:
    """A domain error as an answer."""
    status = status_of(type(error)) or HTTPStatus.INTERNAL_SERVER_ERROR
    errors = [FieldError(field=error.field, message=error.detail)] if isinstance(error, InvalidError) else None
    response = problem(status, error.code, error.detail, retryable=error.retryable, errors=errors)
    if isinstance(error, LimitError):
        response.headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, UnauthenticatedError):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _validation_problem(error: RequestValidationError) -> Response:
    found = cast("Sequence[dict[str, Any]]", error.errors())
    errors = [
        FieldError(field=".".join(str(part) for part in entry["loc"]), message=str(entry["msg"])) for entry in found
    ]
    named = ", ".join(dict.fromkeys(entry.field for entry in errors))
    return problem(422, "invalid", f"Not valid: {named}.", errors=errors)


def install(app: FastAPI) -> None:
    """Answer every error of the application in this form, and say so in its OpenAPI document."""
    document_problems(app)

    async def on_domain(_: Request, error: Exception) -> Response:
        return domain_problem(cast("DomainError", error))

    async def on_invalid(_: Request, error: Exception) -> Response:
        return _validation_problem(cast("RequestValidationError", error))

    async def on_http(_: Request, error: Exception) -> Response:
        refused = cast("HTTPException", error)
        code = _CODES.get(refused.status_code, "error")
        response = problem(refused.status_code, code, str(refused.detail))
        response.headers.update(refused.headers or {})
        return response

    app.add_exception_handler(DomainError, on_domain)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
