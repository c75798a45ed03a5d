"""Limit of bodies that are read whole into memory, before anyone looks; uploads are streamed and limited there."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service_kit.amounts import size_text
from service_kit.problems import problem

MAX_BODY_BYTES = 16 * 1024 * 1024
_STREAMED = "/files"


class BodyLimitMiddleware:
    """Refuses by the declared length; a body without one is refused too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != _STREAMED:
            headers = Headers(scope=scope)
            if "transfer-encoding" in headers:
                refusal = problem(411, "length_required", "The request must announce the length of its body.")
                await refusal(scope, receive, send)
                return
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
                refusal = problem(413, "too_large", f"A body may have at most {size_text(MAX_BODY_BYTES)}.")
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)
