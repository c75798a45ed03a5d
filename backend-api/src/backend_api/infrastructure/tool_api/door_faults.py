"""What goes wrong between a gateway and a door, as the domain's errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx

from backend_api.domain.sandbox.entity import Computer
from backend_api.domain.sandbox.errors import ComputerLostError, ComputerUnavailableError
from backend_api.infrastructure.tool_api.doors import Doors
from service_kit.bounded_http import RefusedAnswerError


@asynccontextmanager
async def door_faults(doors: Doors, computer: Computer, *, refused: str, broken: str) -> AsyncGenerator[None]:
    """Raises `ComputerUnavailableError` where nothing can have happened inside, else `ComputerLostError` with the words
    for an answer that was refused or broke off. A door that may have moved is asked for anew next time."""
    try:
        yield
    except httpx.PoolTimeout as error:
        raise ComputerUnavailableError("The computer is busy with other calls.") from error
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        await doors.forget(computer)
        raise ComputerUnavailableError("The computer does not answer.") from error
    except RefusedAnswerError as error:
        raise ComputerLostError(refused) from error
    except httpx.TransportError as error:
        await doors.forget(computer)
        raise ComputerLostError(broken) from error
