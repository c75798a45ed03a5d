"""Each request gets an id: the caller's when it is sane, else a new one; it stands on the answer and each log line."""

from __future__ import annotations

import logging
import re
import secrets
import time
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import REQUEST_ID_HEADER

_SANE = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_log = logging.getLogger(__name__)

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class RequestIdMiddleware:
    """Plain ASGI, as a wrapping middleware would hide the client's disconnect from the calls."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        current = given if _SANE.fullmatch(given) else secrets.token_hex(12)
        token = request_id.set(current)
        started = time.monotonic()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = current
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            _log.info(
                "request answered",
                extra={
                    "method": scope.get("method", "WEBSOCKET"),
                    "path": scope["path"],
                    "status": status,
                    "duration_ms": round((time.monotonic() - started) * 1000, 1),
                },
            )
            request_id.reset(token)
