"""Routes of those who watch over the sandbox: health, which is open, metrics for Prometheus, and keep-alives."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from contracts.sandboxes import KeptAlive
from contracts.tools import ServiceState, ToolApiHealth
from tool_api import __version__
from tool_api.access import token_of
from tool_api.http.authorization import BearerToken, grant_of
from tool_api.http.services import Services, services_of
from tool_api.measures import REGISTRY

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


async def _any_grant(request: Request) -> None:
    grant_of(request)


@router.get("/metrics", response_class=Response, dependencies=[Depends(_any_grant)])
async def metrics() -> Response:
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_PLAIN_0_0_4)


@router.post("/keep-alive")
async def keep_alive(
    request: Request, services: Annotated[Services, Depends(services_of)], _: BearerToken = None
) -> KeptAlive:
    """Keep the sandbox alive; managers' own tokens only."""
    return services.keep_alive.answer_token(token_of(request.headers.get("authorization")))
