"""A door's problem details turned back into the domain's errors."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

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
from contracts.errors import Problem

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


async def error_of(response: httpx.Response) -> DomainError:
    """The error a failed answer stands for."""
    await response.aread()
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        detail = f"The computer answered {response.status_code}."
        return BY_STATUS.get(response.status_code, ComputerUnavailableError)(detail)
    if response.status_code == 422:
        first = problem.errors[0] if problem.errors else None
        return InvalidError(first.message if first else problem.detail, field=first.field if first else "path")
    error = BY_CODE.get(problem.code) or BY_STATUS.get(response.status_code, ComputerUnavailableError)
    return error(problem.detail)
