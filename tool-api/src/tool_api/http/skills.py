"""The route by which the gateway puts skills beside the workspace."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request

from contracts.sandboxes import Scope
from contracts.tools import SkillPlaced
from tool_api.http.authorization import require
from tool_api.http.services import Services, services_of
from tool_api.skills.folders import put_skill

router = APIRouter(prefix="/skills", dependencies=[Depends(require(Scope.FILES))], responses={403: {}, 409: {}})

PresentServices = Annotated[Services, Depends(services_of)]


@router.put(
    "/{name}",
    responses={400: {}, 413: {}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def put(name: Annotated[str, Path(max_length=64)], request: Request, services: PresentServices) -> SkillPlaced:
    """Put a skill's files, as zip, in the place of those it had."""
    path = await asyncio.to_thread(put_skill, services.skills, name, await request.body())
    return SkillPlaced(path=path)
