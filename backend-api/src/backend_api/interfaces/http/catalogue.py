"""What is on offer: tools, models, skills, presets."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter

from backend_api.interfaces.http.caller import CurrentCaller
from backend_api.interfaces.http.schemas import AnswerBody
from backend_api.interfaces.http.use_cases import Calls

router = APIRouter(prefix="/api", tags=["catalogue"])


class ModelBody(AnswerBody):
    id: str
    label: str
    provider: str
    is_demo: bool
    is_default: bool
    context_window: int
    notes: list[str]
    thinking: Literal["never", "optional", "always"]
    vision: bool


class ToolBody(AnswerBody):
    name: str
    description: str
    parameters: dict[str, Any]
    phrase: str
    read_only: bool
    dangerous: bool


@router.get("/tools")
async def tools(caller: CurrentCaller, calls: Calls) -> list[ToolBody]:
    """List the tools of the agent."""
    del caller
    return [ToolBody.model_validate(tool) for tool in calls.tools]


@router.get("/models")
async def models(caller: CurrentCaller, calls: Calls) -> list[ModelBody]:
    """List the models a session can use, the default first."""
    del caller
    return [ModelBody.model_validate(model) for model in calls.models]


@router.get("/skills")
async def skills(caller: CurrentCaller) -> list[dict[str, Any]]:
    """List the skills the agent can read."""
    del caller
    return []


@router.get("/presets")
async def presets(caller: CurrentCaller) -> list[dict[str, Any]]:
    """List the presets a session can start from."""
    del caller
    return []
