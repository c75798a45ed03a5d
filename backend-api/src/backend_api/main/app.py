"""The application with its lifetime: the result of `wire` lives as long as the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI

from backend_api.kit.http.ports import WebOptions
from backend_api.main.modules import MODULES
from backend_api.main.routes import Lifespan, build_app
from backend_api.module import Module

Wire = Callable[[], AbstractAsyncContextManager[Mapping[str, object]]]


def create_app(wire: Wire, options: WebOptions, modules: Sequence[Module] = MODULES) -> FastAPI:
    """The gateway; tests pass another `wire`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with wire() as ports:
            app.state.ports = ports
            yield

    return _with_modules(options, modules, lifespan)


def describe_app(options: WebOptions, modules: Sequence[Module] = MODULES) -> FastAPI:
    """The gateway without anything behind it, to inspect its routes."""
    return _with_modules(options, modules, None)


def _with_modules(options: WebOptions, modules: Sequence[Module], lifespan: Lifespan | None) -> FastAPI:
    ordered = sorted(modules, key=lambda module: not module.is_busy)
    routers = [router for module in ordered for router in module.routes]
    used = {tag for router in routers for tag in router.tags}
    described = {name: text for one in modules for name, text in {one.name: one.description, **one.tags}.items()}
    tags = [{"name": name, "description": text} for name, text in described.items() if name in used]
    middleware = [one for module in modules for one in module.middleware]
    return build_app(options, lifespan, routers, tags, middleware)
