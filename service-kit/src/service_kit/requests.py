"""The outermost layer of the services behind the gateway: whom a request is for, its id on the answer and on one log
line, how it is counted, and the answer to what nobody foresaw."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import REQUEST_ID_HEADER
from contracts.observation.context import told_work, working_for
from contracts.observation.spans import SILENT, SPANS, TRACEPARENT, Span, following
from service_kit.problems import problem

ARRIVED = "contracts.arrived"
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
_UNMATCHED = "unmatched"
_METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "WS"})


@dataclass(frozen=True, slots=True)
class Answered:
    """A request that has ended. `route` is the path's template; without one, or where no such method exists, the method
    is `any`, so that labels stay few."""

    method: str
    route: str
    status: int
    seconds: float


class RequestMiddleware:
    """Plain ASGI, as a wrapping middleware would hide the client's disconnect from the calls.

    `scope[ARRIVED]` is when the request came, in seconds of the monotonic clock. With `span` a request that belongs to
    a trace gets a span of this name.
    """

    def __init__(
        self, app: ASGIApp, *, count: Callable[[Answered], None], service: str, span: str | None = None
    ) -> None:
        self._app = app
        self._count = count
        self._service = service
        self._span = span
        self._log = logging.getLogger(f"{service.replace('-', '_')}.access")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        told = told_work(headers)
        request_id = told.request_id or secrets.token_hex(12)
        with (
            working_for(request_id=request_id, session_id=told.session_id, run_id=told.run_id),
            following(headers.get(TRACEPARENT)) as is_traced,
            self._traced(is_traced=is_traced) as span,
        ):
            await self._answer(scope, receive, send, request_id, span)

    def _traced(self, *, is_traced: bool) -> AbstractContextManager[Span]:
        return SPANS.span(self._span, kind="server") if self._span and is_traced else nullcontext(SILENT)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request_id: str, span: Span) -> None:
        began = scope[ARRIVED] = time.monotonic()
        status = 0

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_named)
        except Exception:
            self._log.exception("unexpected error")
            if status or scope["type"] != "http":
                raise
            detail = f"Something went wrong in the {self._service}; its log says more under this request id."
            await problem(500, "internal", detail)(scope, receive, send_named)
        finally:
            self._tell(scope, span, status, time.monotonic() - began)

    def _tell(self, scope: Scope, span: Span, status: int, seconds: float) -> None:
        method = scope.get("method", "WS")
        level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
        fields = {"method": method, "path": scope["path"], "status": status}
        self._log.log(level, "request", extra=fields | {"duration_ms": round(seconds * 1000, 1)})
        route = str(getattr(scope.get("route"), "path", _UNMATCHED))
        is_known = route != _UNMATCHED and method in _METHODS
        answered = Answered(method if is_known else "any", route, status, seconds)
        self._count(answered)
        span.note("http.request.method", answered.method)
        span.note("http.route", route)
        span.note("http.response.status_code", status)
