"""Faults of a tool's arguments as results for the model; faults of the machine stay exceptions."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TypeVar

from contracts.tools import ToolResult
from tool_api.errors import ENVIRONMENT_FAULTS, DiskFullError, PathForbiddenError
from tool_api.tools.tool import Arguments, CallContext, failed

ControllerT = TypeVar("ControllerT")
ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
Handler = Callable[[ControllerT, CallContext, ArgumentsT], Awaitable[ToolResult]]


def explain_faults(
    handler: Handler[ControllerT, ArgumentsT],
    *,
    refused: type[Exception] = DiskFullError,
    about: Callable[[Arguments], str],
) -> Handler[ControllerT, ArgumentsT]:
    """Of forbidden paths, a full disk, what is `refused`, and what the system says, `about` which it was."""

    @functools.wraps(handler)
    async def explained(self: ControllerT, call: CallContext, arguments: ArgumentsT) -> ToolResult:
        try:
            return await handler(self, call, arguments)
        except (DiskFullError, PathForbiddenError) as error:
            return failed(error.detail)
        except refused as error:
            return failed(str(error))
        except OSError as error:
            if error.errno in ENVIRONMENT_FAULTS:
                raise
            return failed(f"{error.strerror or error}: {about(arguments)}")

    return explained
