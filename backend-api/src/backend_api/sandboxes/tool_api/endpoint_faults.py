"""Errors between a gateway and an endpoint, mapped to the domain's errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from service_kit.bounded_http import NoConnectionError, NoFreeConnectionError, RefusedAnswerError, TransportError


@asynccontextmanager
async def endpoint_faults(endpoints: Endpoints, sandbox: Sandbox, *, refused: str, broken: str) -> AsyncGenerator[None]:
    """Raises `SandboxUnavailableError` if nothing can have happened inside, else `SandboxLostError` with the text for
    an answer that was refused or broke off. If the endpoint may have moved, the next call asks for its address
    again."""
    try:
        yield
    except NoFreeConnectionError as error:
        raise SandboxUnavailableError("The computer is busy with other calls. Try again in a moment.") from error
    except NoConnectionError as error:
        await endpoints.forget(sandbox)
        raise SandboxUnavailableError("The computer does not answer. Try again in a moment.") from error
    except RefusedAnswerError as error:
        raise SandboxLostError(refused) from error
    except TransportError as error:
        await endpoints.forget(sandbox)
        raise SandboxLostError(broken) from error
