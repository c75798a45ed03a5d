"""A request id on every answer and log line, and one log line a request."""

from __future__ import annotations

import logging
import re
import secrets
import time
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import REQUEST_ID_HEADER

_SANE = re.compile(r"^[A-Za-z0-9._-]{8,64}$")
_log = logging.getLogger("sandbox_manager.access")

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class RequestIdMiddleware:
    """Takes the caller's id when it is sane, else makes one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        current = given if _SANE.match(given) else secrets.token_hex(8)
        status = 500

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = current
            await send(message)

        token = request_id.set(current)
        scope.setdefault("state", {})["request_id"] = current
        began = time.perf_counter()
        try:
            await self._app(scope, receive, send_named)
        finally:
            took = round((time.perf_counter() - began) * 1000, 1)
            level = logging.DEBUG if scope["path"] in ("/healthz", "/readyz") else logging.INFO
            fields = {"method": scope["method"], "path": scope["path"], "status": status, "duration_ms": took}
            _log.log(level, "request", extra=fields)
            request_id.reset(token)
