"""The tool API as an ASGI application over services that are running already."""

from __future__ import annotations

from fastapi import FastAPI

from service_kit.problems import install_problems
from service_kit.requests import NO_TELEMETRY, Answered, RequestMiddleware, RequestRules
from tool_api import __version__, measures
from tool_api.http.activity import ActivityMiddleware
from tool_api.http.body_limit import BodyLimitMiddleware
from tool_api.http.calls import router as calls_router
from tool_api.http.files import router as files_router
from tool_api.http.mcp import router as mcp_router
from tool_api.http.mcp_programs import mcp_programs_router
from tool_api.http.monitoring import router as monitoring_router
from tool_api.http.ports import ports_router
from tool_api.http.services import Services
from tool_api.http.skills import router as skills_router
from tool_api.http.terminals import terminals_router
from tool_api.http.vnc import screen_of, vnc_router


def create_app(services: Services) -> FastAPI:
    """The application with all its routes."""
    app = FastAPI(
        title="Tool API",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry=NO_TELEMETRY,
    )
    app.state.services = services
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(ActivityMiddleware, activity=services.keep_alive.activity)
    app.add_middleware(RequestMiddleware, rules=RequestRules(service="tool-api", count=_count))
    install_problems(app)
    desktop = services.desktop
    vnc = vnc_router(lambda _: services.access, lambda _: screen_of(desktop), services.control, services.fitting)
    for router in (monitoring_router, calls_router, mcp_router, files_router, skills_router):
        app.include_router(router)
    app.include_router(vnc)
    app.include_router(ports_router(services.access, services.tunnels))
    app.include_router(terminals_router(services.access, services.terminals, is_allowed=not services.allowed_commands))
    app.include_router(
        mcp_programs_router(
            services.access, services.workspace.root, services.shells.environment, services.allowed_commands
        )
    )
    return app


def _count(answered: Answered) -> None:
    measures.HTTP_REQUESTS.labels(answered.routed_method, answered.route, str(answered.status)).inc()
