"""The web application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from fastapi import FastAPI

from sandbox_manager.application import measures
from sandbox_manager.domain.errors import ElsewhereError
from sandbox_manager.interfaces.http import choices, events, health, sandboxes, stats, workspaces
from sandbox_manager.interfaces.http.use_cases import Wiring
from service_kit.failures import DomainError
from service_kit.problems import install_problems
from service_kit.requests import NO_TELEMETRY, Answered, RequestMiddleware, RequestRules

MAX_BODY_BYTES = 64 * 1024


def create_app(wiring: Wiring) -> FastAPI:
    """An app over the use cases that `wiring` yields while it runs."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with wiring() as use_cases:
            app.state.use_cases = use_cases
            yield

    app = FastAPI(
        title="Sandbox manager",
        version="1",
        lifespan=lifespan,
        max_body_size=MAX_BODY_BYTES,
        # Nobody reads it in a browser, and the page would run scripts of another host.
        docs_url=None,
        redoc_url=None,
        telemetry=NO_TELEMETRY,
    )
    app.add_middleware(RequestMiddleware, rules=REQUESTS)
    install_problems(app, service_headers=service_headers)
    app.include_router(health.router)
    for router in (events.router, choices.router, stats.router, sandboxes.router, workspaces.router):
        app.include_router(router)
    return app


def _count(answered: Answered) -> None:
    method = answered.routed_method
    measures.HTTP_REQUESTS.labels(method, answered.route, str(answered.status)).inc()
    measures.HTTP_SECONDS.labels(method, answered.route).observe(answered.seconds)


REQUESTS = RequestRules(
    service="sandbox-manager", count=_count, span=lambda _, is_traced: "manager request" if is_traced else None
)


def service_headers(error: DomainError) -> dict[str, str]:
    """Headers of an error: a client that reached a manager of another engine should reach a different one next time."""
    return {"Connection": "close"} if isinstance(error, ElsewhereError) else {}
