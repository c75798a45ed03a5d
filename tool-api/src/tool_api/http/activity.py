"""Counts requests as use of the sandbox."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from tool_api.activity import Activity

NO_USE = frozenset({"/healthz", "/metrics", "/keep-alive"})


class ActivityMiddleware:
    """A request uses the sandbox for as long as it lasts; health checks, metrics and keep-alives do not count."""

    def __init__(self, app: ASGIApp, activity: Activity) -> None:
        self._app = app
        self._activity = activity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in NO_USE:
            await self._app(scope, receive, send)
            return
        with self._activity.use():
            await self._app(scope, receive, send)
