"""Each request gets an id: the caller's when it is sane, else a new one; it stands on the answer and each log line,
beside the session and the run the caller works for."""

from __future__ import annotations

import logging
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import REQUEST_ID_HEADER
from contracts.observation.context import told_work, working_for
from contracts.observation.spans import TRACEPARENT, following
from tool_api import measures

ARRIVED = "tool_api.arrived"
_log = logging.getLogger(__name__)


class RequestIdMiddleware:
    """Plain ASGI, as a wrapping middleware would hide the client's disconnect from the calls."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        told = told_work(headers)
        current = told.request_id or secrets.token_hex(12)
        with (
            working_for(request_id=current, session_id=told.session_id, run_id=told.run_id),
            following(headers.get(TRACEPARENT)),
        ):
            await self._answer(scope, receive, send, current)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, current: str) -> None:
        started = scope[ARRIVED] = time.monotonic()
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
            method = scope.get("method", "WEBSOCKET")
            _log.info(
                "request answered",
                extra={
                    "method": method,
                    "path": scope["path"],
                    "status": status,
                    "duration_ms": round((time.monotonic() - started) * 1000, 1),
                },
            )
            route = str(getattr(scope.get("route"), "path", "unmatched"))
            measures.HTTP_REQUESTS.add(method if route != "unmatched" else "any", route, str(status))
