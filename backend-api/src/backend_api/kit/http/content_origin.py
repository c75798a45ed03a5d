"""A separate origin for content made by users and agents: a host name at which the gateway only serves signed links."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service_kit.problems import problem

_LINK = re.compile(r"/api/files/[^/]+")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NOT_HERE = 4404


def is_content_origin(origin: str, host: str) -> bool:
    """Whether a request with this Host came to that origin; always False if there is none."""
    wanted = urlsplit(origin)
    try:
        asked = urlsplit(f"//{host.lower()}")
        port = asked.port or _DEFAULT_PORTS.get(wanted.scheme)
        wanted_port = wanted.port or _DEFAULT_PORTS.get(wanted.scheme)
    except ValueError:
        return False
    return bool(origin) and asked.hostname == wanted.hostname and port == wanted_port


class ContentOrigin:
    """ASGI middleware. Neither the page nor any other call is served at that origin, so that no content gets near
    them."""

    def __init__(self, app: ASGIApp, origin: str) -> None:
        self._app = app
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or not is_content_origin(self._origin, Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _NOT_HERE})
        elif scope["method"] in ("GET", "HEAD") and _LINK.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
        else:
            await problem(404, "not_found", "Only signed links of files are served here.")(scope, receive, send)
