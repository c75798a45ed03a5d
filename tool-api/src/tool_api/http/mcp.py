"""The route of MCP clients: streamable HTTP, behind the token that every other route requires."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.types import Receive, Scope, Send

from tool_api.access import Grant
from tool_api.http.authorization import BearerToken, grant_of
from tool_api.http.services import Services, services_of

router = APIRouter()


async def _require_grant(request: Request, _: BearerToken = None) -> Grant:
    return grant_of(request)


class _McpAnswer(Response):
    """A response that the protocol's own package writes."""

    def __init__(self, services: Services, grant: Grant) -> None:
        super().__init__()
        self._services = services
        self._grant = grant

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._services.mcp.answer(self._grant, scope, receive, send)


# Without GET, on which a server speaks unasked: this one never does, and a stream that stays open would count as use
# of the sandbox for ever. What they take and answer is the protocol's to say.
@router.post("/mcp", response_class=Response, include_in_schema=False)
async def speak_mcp(
    grant: Annotated[Grant, Depends(_require_grant)], services: Annotated[Services, Depends(services_of)]
) -> Response:
    return _McpAnswer(services, grant)


@router.delete("/mcp", response_class=Response, include_in_schema=False)
async def end_mcp_session(
    grant: Annotated[Grant, Depends(_require_grant)], services: Annotated[Services, Depends(services_of)]
) -> Response:
    return _McpAnswer(services, grant)
