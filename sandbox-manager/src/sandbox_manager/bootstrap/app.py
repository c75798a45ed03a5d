"""The web application."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator

from fastapi import FastAPI

from sandbox_manager.interfaces.http import events, health, sandboxes, stats, workspaces
from sandbox_manager.interfaces.http.problems import install_problems
from sandbox_manager.interfaces.http.request_id import RequestIdMiddleware
from sandbox_manager.interfaces.http.use_cases import Wiring

MAX_BODY_BYTES = 64 * 1024


def create_app(wiring: Wiring) -> FastAPI:
    """An app over what `wiring` yields while it runs."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with wiring() as use_cases:
            app.state.use_cases = use_cases
            yield

    app = FastAPI(title="Sandbox manager", version="1", lifespan=lifespan, max_body_size=MAX_BODY_BYTES)
    app.add_middleware(RequestIdMiddleware)
    install_problems(app)
    app.include_router(health.router)
    for router in (events.router, stats.router, sandboxes.router, workspaces.router):
        app.include_router(router)
    return app
