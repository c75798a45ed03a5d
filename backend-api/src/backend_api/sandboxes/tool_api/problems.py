"""An endpoint's problem details turned back into the domain's errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from backend_api.agent.tool import Done
from backend_api.agent.wrong_arguments import ArgumentFault, wrong_arguments
from backend_api.kit.errors import ConflictError, DomainError, InvalidError
from backend_api.sandboxes.domain.errors import (
    FileMissingError,
    FolderTooLargeError,
    NoDesktopError,
    PathForbiddenError,
    SandboxFullError,
    SandboxUnavailableError,
    UploadTooLargeError,
)
from contracts.errors import Problem
from service_kit.bounded_json import MalformedJsonError, read_json

MAX_DETAIL_CHARACTERS = 2_000
_PROBLEM = TypeAdapter(Problem)

BY_CODE: dict[str, type[DomainError]] = {
    error.code: error
    for error in (
        SandboxFullError,
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
REFUSED = frozenset({404, 413, 422})
"""Statuses of refusals that the model can act on; each comes before anything ran."""
TOO_LARGE = "Nothing was run: the arguments are larger than a call may be. Send them in several smaller calls."
_ARGUMENTS = "body.arguments"


def refusal(status: int, content: bytes, tool: str, arguments: Mapping[str, Any]) -> Done:
    """A refused call in the words that the model reads."""
    if status == 413:
        return Done(success=False, output=TOO_LARGE)
    problem = _problem(content)
    faults = [
        ArgumentFault(tuple(path.split(".")) if path else (), error.message)
        for error in (problem.errors if problem else None) or ()
        if (path := error.field.removeprefix(_ARGUMENTS).removeprefix(".")) != error.field
    ]
    if faults:
        return Done(success=False, output=wrong_arguments(tool, faults, arguments))
    said = f" {problem.detail[:MAX_DETAIL_CHARACTERS]}" if problem else ""
    return Done(success=False, output=f"Nothing was run: the computer refused this call of {tool}.{said}")


def error_of(status: int, content: bytes) -> DomainError:
    """The error a failed answer stands for."""
    problem = _problem(content)
    if problem is None:
        detail = f"The computer answered {status}."
        return BY_STATUS.get(status, SandboxUnavailableError)(detail)
    detail = problem.detail[:MAX_DETAIL_CHARACTERS]
    if status == 422:
        first = problem.errors[0] if problem.errors else None
        message = first.message[:MAX_DETAIL_CHARACTERS] if first else detail
        return InvalidError(message, field=first.field[:200] if first else "path")
    error = BY_CODE.get(problem.code) or BY_STATUS.get(status, SandboxUnavailableError)
    return error(detail)


def _problem(content: bytes) -> Problem | None:
    try:
        return read_json(_PROBLEM, content, most_values=1_000)
    except MalformedJsonError:
        return None
