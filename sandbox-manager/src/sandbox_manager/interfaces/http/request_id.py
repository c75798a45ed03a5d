"""A request id on every answer and log line, with session and run of the caller; one log line a request."""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import REQUEST_ID_HEADER
from contracts.observation.context import told_work, working_for
from contracts.observation.spans import SPANS, TRACEPARENT, Span, following
from sandbox_manager.application import measures

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
_log = logging.getLogger("sandbox_manager.access")


class RequestIdMiddleware:
    """Takes the caller's id when it is sane, else makes one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        told = told_work(headers)
        current = told.request_id if told.request_id and _SANE.fullmatch(told.request_id) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = current
        with (
            working_for(request_id=current, session_id=told.session_id, run_id=told.run_id),
            following(headers.get(TRACEPARENT)) as is_traced,
        ):
            if not is_traced:
                await self._answer(scope, receive, send, current)
                return
            with SPANS.span("manager request", kind="server") as span:
                await self._answer(scope, receive, send, current, span)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, current: str, span: Span | None = None) -> None:
        status = 500

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = current
            await send(message)

        began = time.perf_counter()
        try:
            await self._app(scope, receive, send_named)
        finally:
            seconds = time.perf_counter() - began
            level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
            fields = {"method": scope["method"], "path": scope["path"], "status": status}
            _log.log(level, "request", extra=fields | {"duration_ms": round(seconds * 1000, 1)})
            route = str(getattr(scope.get("route"), "path", "unmatched"))
            method = "any" if route == "unmatched" else scope["method"]
            measures.HTTP_REQUESTS.add(method, route, str(status))
            measures.HTTP_SECONDS.observe(seconds, method, route)
            if span is not None:
                span.note("http.request.method", method)
                span.note("http.route", route)
                span.note("http.response.status_code", status)
