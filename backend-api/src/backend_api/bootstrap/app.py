"""The application with its lifetime: what `wire` builds lives as long as the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI

from backend_api.interfaces.app import build_app
from backend_api.interfaces.http.use_cases import UseCases, WebOptions

Wire = Callable[[], AbstractAsyncContextManager[UseCases]]


def create_app(wire: Wire, options: WebOptions) -> FastAPI:
    """The gateway; tests pass another `wire`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with wire() as use_cases:
            app.state.use_cases = use_cases
            yield

    return build_app(options, lifespan)
