"""Routes of the tools and their calls."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from contracts.sandboxes import Scope
from contracts.tools import ToolCall, ToolSpec
from tool_api.access import Grant
from tool_api.errors import NotFoundError
from tool_api.http.authorization import BearerToken, grant_of, require
from tool_api.http.call_stream import MEDIA_TYPE, CallStream
from tool_api.http.services import Services, services_of
from tool_api.tools.argument_faults import argument_faults

router = APIRouter()

_NO_SCOPE: dict[int | str, dict[str, Any]] = {403: {}}
_CALLED: dict[int | str, dict[str, Any]] = {
    200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}},
    409: {},
    411: {},
}

PresentServices = Annotated[Services, Depends(services_of)]


@router.get("/tools", dependencies=[Depends(require(Scope.EXEC))], responses=_NO_SCOPE)
async def list_tools(services: PresentServices) -> list[ToolSpec]:
    return [tool.spec() for tool in services.tools.values()]


async def _require_grant(request: Request, _: BearerToken = None) -> Grant:
    return grant_of(request)


@router.post("/tools/{name}", response_class=Response, responses=_CALLED | _NO_SCOPE)
async def call_tool(
    name: str, grant: Annotated[Grant, Depends(_require_grant)], body: ToolCall, services: PresentServices
) -> CallStream:
    tool = services.tools.get(name)
    if tool is None:
        raise NotFoundError(f"There is no tool {name}.")
    grant.demand(tool.scope)
    try:
        arguments = tool.arguments.model_validate(body.arguments)
    except ValidationError as error:
        named = [{**fault, "loc": ("body", "arguments", *fault["loc"])} for fault in argument_faults(error)]
        raise RequestValidationError(named) from error
    return CallStream(services.calls.start_call(body.call_id, tool, arguments))


@router.post(
    "/calls/{call_id}/cancel", status_code=204, dependencies=[Depends(require(Scope.EXEC))], responses=_NO_SCOPE
)
async def cancel_call(call_id: str, services: PresentServices) -> None:
    await services.calls.cancel(call_id)
