"""A door's problem details turned back into the domain's errors."""

from __future__ import annotations

from pydantic import TypeAdapter

from backend_api.domain.errors import ConflictError, DomainError, InvalidError
from backend_api.domain.sandbox.errors import (
    ComputerFullError,
    ComputerUnavailableError,
    FileMissingError,
    FolderTooLargeError,
    NoDesktopError,
    PathForbiddenError,
    UploadTooLargeError,
)
from contracts.bounded_json import MalformedJsonError, read_json
from contracts.errors import Problem

MAX_DETAIL_CHARACTERS = 2_000
_PROBLEM = TypeAdapter(Problem)

BY_CODE: dict[str, type[DomainError]] = {
    error.code: error
    for error in (
        ComputerFullError,
        FileMissingError,
        FolderTooLargeError,
        NoDesktopError,
        PathForbiddenError,
        UploadTooLargeError,
    )
}
BY_STATUS: dict[int, type[DomainError]] = {
    403: PathForbiddenError,
    404: FileMissingError,
    409: ConflictError,
    413: UploadTooLargeError,
}


def error_of(status: int, content: bytes) -> DomainError:
    """The error a failed answer stands for."""
    try:
        problem = read_json(_PROBLEM, content, most_values=1_000)
    except MalformedJsonError:
        detail = f"The computer answered {status}."
        return BY_STATUS.get(status, ComputerUnavailableError)(detail)
    detail = problem.detail[:MAX_DETAIL_CHARACTERS]
    if status == 422:
        first = problem.errors[0] if problem.errors else None
        told = first.message[:MAX_DETAIL_CHARACTERS] if first else detail
        return InvalidError(told, field=first.field[:200] if first else "path")
    error = BY_CODE.get(problem.code) or BY_STATUS.get(status, ComputerUnavailableError)
    return error(detail)
