"""HEAD requests: the headers that a GET has, and no body."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadRequests:
    """ASGI middleware: answers a HEAD like a GET of its path, without the body.

    A response in several pieces is ended there, as if the client had left: a stream of events has no other end.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD":
            await self._answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_enough = asyncio.Event()
        asked: Scope = {**scope, "method": "GET"}

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})
                if "content-length" not in Headers(raw=message["headers"]):
                    is_enough.set()
            elif message.get("more_body", False):
                is_enough.set()

        answering = asyncio.ensure_future(self._app(asked, receive, send_head))
        enough = asyncio.ensure_future(is_enough.wait())
        try:
            await asyncio.wait((answering, enough), return_when=asyncio.FIRST_COMPLETED)
        finally:
            enough.cancel()
            answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
            if "route" in asked:
                scope["route"] = asked["route"]
