"""A failed start of a server, explained in words."""

from __future__ import annotations

import sys

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service_kit.failures import DomainError

_FAILED = "lifespan.startup.failed"


class ClearStartup:
    """An application whose failed start shows the text of a `DomainError`, if there is one, in place of a traceback: it
    is meant for whoever started it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(message: Message) -> None:
            # It is sent while the error is handled.
            error = sys.exc_info()[1] if message["type"] == _FAILED else None
            await send({"type": _FAILED, "message": error.detail} if isinstance(error, DomainError) else message)

        await self._app(scope, receive, tell if scope["type"] == "lifespan" else send)
