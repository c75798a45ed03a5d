"""POST /keep-alive: a manager is there."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from contracts.sandboxes import KeptAlive
from tool_api.access import token_of
from tool_api.http.authorization import BearerToken
from tool_api.http.services import Services, services_of

router = APIRouter()


@router.post("/keep-alive")
async def keep_alive(
    request: Request, services: Annotated[Services, Depends(services_of)], _: BearerToken = None
) -> KeptAlive:
    """Keep the sandbox alive; managers' own tokens only."""
    return services.keep_alive.answer_token(token_of(request.headers.get("authorization")))
