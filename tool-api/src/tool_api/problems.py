"""Every error as problem details (RFC 9457): one table from family to status, one renderer."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from contracts.errors import PROBLEM_MEDIA_TYPE, FieldError, Problem
from contracts.observation.context import current_work
from contracts.problem_responses import document_problems
from tool_api import errors

_log = logging.getLogger(__name__)

STATUS_OF_FAMILY: dict[type[errors.ToolApiError], HTTPStatus] = {
    errors.UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    errors.ForbiddenError: HTTPStatus.FORBIDDEN,
    errors.NotFoundError: HTTPStatus.NOT_FOUND,
    errors.ConflictError: HTTPStatus.CONFLICT,
    errors.InvalidError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
}
_CODE_OF_STATUS = {404: "not_found", 405: "method_not_allowed", 400: "bad_request", 413: "too_large", 422: "invalid"}


def problem(
    status: int,
    detail: str,
    code: str,
    *,
    fields: list[FieldError] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """A problem detail as a response."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        code=code,
        retryable=status >= HTTPStatus.INTERNAL_SERVER_ERROR,
        request_id=current_work().request_id,
        errors=fields,
    )
    return Response(body.model_dump_json(exclude_none=True), status, headers, PROBLEM_MEDIA_TYPE)


def status_of(error: errors.ToolApiError) -> HTTPStatus:
    """The status of an error's family."""
    return next(STATUS_OF_FAMILY[family] for family in type(error).__mro__ if family in STATUS_OF_FAMILY)


async def _tool_api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.ToolApiError)
    status = status_of(error)
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return problem(status, error.detail, error.code, headers=headers)


async def _validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    fields = [FieldError(field=".".join(map(str, fault["loc"])), message=fault["msg"]) for fault in error.errors()]
    return problem(422, "The request has invalid fields.", "invalid", fields=fields)


async def _http_exception(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODE_OF_STATUS.get(error.status_code, "http_error")
    headers = dict(error.headers) if error.headers else None
    return problem(error.status_code, str(error.detail), code, headers=headers)


async def unexpected_error(_: Request, error: Exception) -> Response:
    """The outermost handler: logged with its traceback, told without details."""
    _log.error("unexpected error", exc_info=error)
    return problem(500, "The tool API failed; the failure is in its log.", "internal")


def install_problems(app: FastAPI) -> None:
    """Render every error of the app as a problem, and say so in its OpenAPI document."""
    document_problems(app)
    app.add_exception_handler(errors.ToolApiError, _tool_api_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(Exception, unexpected_error)
