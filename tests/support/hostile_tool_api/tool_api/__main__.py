"""`python -m tool_api` of a sandbox that turns on whoever calls it, once `/workspace/turned` is there."""

from __future__ import annotations

import os
import sys
from typing import Any

import uvloop

from tool_api.bootstrap import serve
from tool_api.bootstrap.settings import load_settings
from tool_api.http import app as real_app
from tool_api.http.services import Services

TURNED = "/workspace/turned"
PIECE = b'{"disk_bytes": Infinity, "unused_s": 1e999, "x": "' + b"x" * 1_000_000


class Turned:
    """Answers everything without end."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and os.path.exists(TURNED):
            headers = [(b"content-type", b"application/json"), (b"x-long", b"x" * 10_000)]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while True:
                await send({"type": "http.response.body", "body": PIECE, "more_body": True})
        if scope["type"] == "websocket" and os.path.exists(TURNED):
            await receive()
            await send({"type": "websocket.accept"})
            while True:
                await send({"type": "websocket.send", "bytes": PIECE * 100})
        await self._app(scope, receive, send)


def main() -> int:
    made = real_app.create_app

    def turned(services: Services) -> Turned:
        return Turned(made(services))

    serve.create_app = turned
    serve.READY_LINE = "tool-api: ready desktop=yes"
    uvloop.run(serve.serve(load_settings()))
    return 0


sys.exit(main())
