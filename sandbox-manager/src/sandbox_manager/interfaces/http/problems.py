"""Errors as problem details."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from contracts.errors import PROBLEM_MEDIA_TYPE, FieldError, Problem
from contracts.problem_responses import document_problems
from sandbox_manager.domain.errors import (
    ConflictError,
    DomainError,
    ElsewhereError,
    InvalidError,
    LimitError,
    NotFoundError,
    StartFailedError,
    UnauthenticatedError,
    UnavailableError,
)

_log = logging.getLogger(__name__)

STATUS: dict[type[DomainError], int] = {
    NotFoundError: 404,
    ConflictError: 409,
    InvalidError: 422,
    UnauthenticatedError: 401,
    LimitError: 429,
    StartFailedError: 502,
    UnavailableError: 503,
}


def status_of(error: type[DomainError]) -> int:
    """Status of an error's family."""
    return next(STATUS[family] for family in error.__mro__ if family in STATUS)


def _answer(request: Request, problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    named = problem.model_copy(update={"request_id": getattr(request.state, "request_id", None)})
    return JSONResponse(
        named.model_dump(mode="json", exclude_none=True),
        status_code=problem.status,
        media_type=PROBLEM_MEDIA_TYPE,
        headers=headers,
    )


async def _domain(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, DomainError):
        raise TypeError("registered for domain errors only") from error
    status = status_of(type(error))
    headers: dict[str, str] = {}
    if isinstance(error, LimitError):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, UnavailableError):
        headers["Retry-After"] = "5"
    if isinstance(error, ElsewhereError):
        headers["Connection"] = "close"  # the next attempt is to come out at another manager
    if isinstance(error, UnauthenticatedError):
        headers["WWW-Authenticate"] = "Bearer"
    problem = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=error.detail,
        code=error.code,
        retryable=error.retryable,
        errors=[FieldError(field=error.field, message=error.detail)] if isinstance(error, InvalidError) else None,
    )
    return _answer(request, problem, headers)


async def _validation(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise TypeError("registered for validation errors only") from error
    fields = [
        FieldError(field=".".join(str(part) for part in one["loc"]), message=str(one["msg"])) for one in error.errors()
    ]
    names = ", ".join(dict.fromkeys(one.field for one in fields))
    problem = Problem(
        title="Unprocessable Entity", status=422, detail=f"Not valid: {names}.", code="invalid", errors=fields
    )
    return _answer(request, problem)


async def _http(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise TypeError("registered for HTTP errors only") from error
    phrase = HTTPStatus(error.status_code).phrase
    problem = Problem(
        title=phrase, status=error.status_code, detail=str(error.detail), code=phrase.lower().replace(" ", "_")
    )
    return _answer(request, problem, dict(error.headers) if error.headers else None)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    _log.error("unexpected error", exc_info=error)
    problem = Problem(
        title="Internal Server Error",
        status=500,
        detail="Something went wrong in the sandbox manager; its log says more under this request id.",
        code="internal",
    )
    return _answer(request, problem)


def install_problems(app: FastAPI) -> None:
    """Every error this app answers is a problem detail, and its OpenAPI document says so."""
    document_problems(app)
    app.add_exception_handler(DomainError, _domain)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)
