"""All routes as one application, without their dependencies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware

from backend_api.conversations.http.event_schema import EVENT_SCHEMA_PATH
from backend_api.kit.http import health
from backend_api.kit.http.compressed_json import CompressedJson
from backend_api.kit.http.content_origin import ContentOrigin
from backend_api.kit.http.documentation import documentation_router
from backend_api.kit.http.edge import Edge
from backend_api.kit.http.head_requests import HeadRequests
from backend_api.kit.http.page import page_router
from backend_api.kit.http.ports import WebOptions
from backend_api.kit.http.request_rules import request_rules
from backend_api.module import Middleware
from service_kit.problems import install_problems
from service_kit.requests import NO_TELEMETRY, RequestMiddleware

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Any]]

_DESCRIPTION = f"""\
Accounts, sessions, runs and the event stream. Errors are problem details (RFC 9457). Each GET answers HEAD too, with
its head alone; a stream ends there.

The JSON Schema of the events is at [`{EVENT_SCHEMA_PATH}`]({EVENT_SCHEMA_PATH}), this document at
[`/openapi.json`](/openapi.json).

Sockets: `/api/sessions/{{session_id}}/ws?after=` carries the same events as the session's stream and takes frames of
`type` message, interrupt, cancel, approval, answer, options, ping; `/api/sessions/{{session_id}}/vnc?ticket=` is the
desktop, and `/api/sessions/{{session_id}}/terminal?ticket=` a terminal of the user's own. What a frame asks in vain is
answered by one of `type` error, and the socket stays open. A page of elsewhere is refused with 403. A socket is closed
with

| code | why | then |
|---|---|---|
| 1008 | `after` is no number of an event | don't come again so |
| 1009 | a frame of more than 4 MiB | resume |
| 1012 | this gateway ends | resume at once |
| 1013 | something is away for a moment | resume after a pause |
| 4401 | the token or ticket does not hold, or no longer | log in, or get a new ticket |
| 4403 | this is not allowed | don't come again so |
| 4404 | no such session, no desktop | it is gone |
| 4408 | too slow: what was sent was not taken | resume |
| 4409 | another client controls the computer | view it, or take control |
| 4429 | too many streams open | close one |
"""

_TAGS: list[dict[str, Any]] = [{"name": "health", "description": "Open inside the deployment."}]


def build_app(
    options: WebOptions,
    lifespan: Lifespan | None = None,
    routers: Sequence[APIRouter] = (),
    tags: Sequence[dict[str, Any]] = (),
    middleware: Sequence[Middleware] = (),
) -> FastAPI:
    """The application with the routes of modules, which `tags` describe, and their `middleware`; `app.state.ports` must
    be set before the first request."""
    app = FastAPI(
        title="Agent gateway",
        version="1",
        description=_DESCRIPTION,
        openapi_tags=[*tags, *_TAGS],
        lifespan=lifespan,
        redirect_slashes=False,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        telemetry=NO_TELEMETRY,
    )
    app.state.options = options
    install_problems(app)
    for router in (*routers, health.router):
        app.include_router(router)
    describe = app.openapi
    app.openapi = lambda: _with_sorted_paths(describe())
    app.include_router(documentation_router(app.title, "/openapi.json", app.openapi))
    if options.frontend is not None:
        app.include_router(page_router(options.frontend))
    app.add_middleware(CompressedJson)
    app.add_middleware(HeadRequests)
    if options.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.cors_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-Match", "Last-Event-ID", "X-Request-ID"],
            expose_headers=["X-Request-ID", "Retry-After", "Content-Disposition", "ETag"],
            max_age=600,
        )
    if options.user_content_origin:
        app.add_middleware(ContentOrigin, origin=options.user_content_origin)
    app.add_middleware(Edge, options=options)
    app.add_middleware(RequestMiddleware, rules=request_rules(follows_callers=options.follows_traces))
    for around in middleware:
        app.add_middleware(around, options=options)
    return app


def _with_sorted_paths(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "paths": dict(sorted(document.get("paths", {}).items()))}
