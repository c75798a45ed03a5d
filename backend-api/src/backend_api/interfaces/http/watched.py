"""The outermost layer: whom a request is for, how often and how long, and its span."""

from __future__ import annotations

import re
import time
import uuid

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend_api.application import measures
from contracts.errors import REQUEST_ID_HEADER
from contracts.observation.context import working_for
from contracts.observation.spans import SPANS, TRACEPARENT, Span

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_SESSION = re.compile(r"/api/sessions/([A-Za-z0-9_-]{1,64})")
_METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
_UNMATCHED = "unmatched"


class Watched:
    """ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        found = _SESSION.match(scope["path"])
        with working_for(
            request_id=_request_id(headers.get(REQUEST_ID_HEADER)), session_id=found[1] if found else None
        ):
            if not scope["path"].startswith("/api/"):
                await self._count(scope, receive, send)
                return
            with SPANS.span("request", parent=SPANS.accept(headers.get(TRACEPARENT)), kind="server") as span:
                await self._count(scope, receive, send, span)

    async def _count(self, scope: Scope, receive: Receive, send: Send, span: Span | None = None) -> None:
        began = time.perf_counter()
        status = 500

        async def send_and_see(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        is_socket = scope["type"] == "websocket"
        try:
            await self._app(scope, receive, send if is_socket else send_and_see)
        finally:
            method = "WS" if is_socket else scope["method"] if scope["method"] in _METHODS else "other"
            route = str(getattr(scope.get("route"), "path", _UNMATCHED))
            measures.HTTP_REQUESTS.add(method, route, "101" if is_socket else str(status))
            measures.HTTP_SECONDS.observe(time.perf_counter() - began, method, route)
            if span is not None:
                span.note("http.request.method", method)
                span.note("http.route", route)
                span.note("http.response.status_code", status)


def _request_id(offered: str | None) -> str:
    return offered if offered is not None and _SANE.fullmatch(offered) else uuid.uuid4().hex
