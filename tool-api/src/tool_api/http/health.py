"""The one open route."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from contracts.tools import ServiceState, ToolApiHealth
from tool_api import __version__
from tool_api.http.services import Services, services_of

router = APIRouter()
_DESKTOP_SERVICES: tuple[str, ...] = ("xvnc", "window_manager", "browser")
_NOT_READY = frozenset({ServiceState.STARTING, ServiceState.FAILED})


@router.get("/healthz")
async def health(services: Annotated[Services, Depends(services_of)]) -> ToolApiHealth:
    desktop = services.desktop
    states: dict[str, ServiceState] = (
        desktop.states() if desktop is not None else dict.fromkeys(_DESKTOP_SERVICES, ServiceState.OFF)
    )
    return ToolApiHealth(
        ready=_NOT_READY.isdisjoint(states.values()),
        has_desktop=desktop is not None and desktop.has_desktop,
        services=states,
        version=__version__,
    )
