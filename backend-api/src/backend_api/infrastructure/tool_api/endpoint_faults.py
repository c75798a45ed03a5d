"""What goes wrong between a gateway and an endpoint, as the domain's errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx

from backend_api.domain.sandbox.entity import Computer
from backend_api.domain.sandbox.errors import ComputerLostError, ComputerUnavailableError
from backend_api.infrastructure.tool_api.endpoints import Endpoints
from service_kit.bounded_http import RefusedAnswerError


@asynccontextmanager
async def endpoint_faults(
    endpoints: Endpoints, computer: Computer, *, refused: str, broken: str
) -> AsyncGenerator[None]:
    """Raises `ComputerUnavailableError` where nothing can have happened inside, else `ComputerLostError` with the words
    for an answer that was refused or broke off. An endpoint that may have moved is asked for anew next time."""
    try:
        yield
    except httpx.PoolTimeout as error:
        raise ComputerUnavailableError("The computer is busy with other calls.") from error
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        await endpoints.forget(computer)
        raise ComputerUnavailableError("The computer does not answer.") from error
    except RefusedAnswerError as error:
        raise ComputerLostError(refused) from error
    except httpx.TransportError as error:
        await endpoints.forget(computer)
        raise ComputerLostError(broken) from error
