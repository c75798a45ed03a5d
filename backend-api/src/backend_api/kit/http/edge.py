"""The edge: size and shape of bodies, host and origin checks."""

from __future__ import annotations

import re
from functools import partial

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend_api.kit.http.hosts import KnownHosts, host_name
from backend_api.kit.http.ports import WebOptions
from service_kit.bounded_json import has_at_most
from service_kit.problems import problem

_UPLOAD = re.compile(r"/api/(?:sessions|folders)/[^/]+/files/?")
_SKILLS = re.compile(r"/api/skills/?")
_BIBLIOGRAPHY = "/api/corpus/import"
PIECE_BYTES = 64 * 1024
TOO_LARGE = "body_too_large"
NUL_IN_QUERY = "The query string contains the character NUL (%00), which is not allowed: leave it out."
OVER_LIMIT = "The request body is too large."
MOST_VALUES = 2_000
"""The limit for a JSON body. The longest lists that routes accept have some hundreds of values."""
TOO_MANY_VALUES = "The request body has too many values or is nested too deeply."
_STRANGE = (
    "This server does not answer to the name {}. If it is yours, add it to ALLOWED_HOSTS and restart the server; "
    "its IP address always works."
)
_Refusal = tuple[int, str, str]
_FOREIGN: _Refusal = (403, "origin_forbidden", "Pages of this origin may not call this server.")


class Edge:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, options: WebOptions) -> None:
        self._app = app
        self._options = options
        origins = (*options.cors_origins, options.user_content_origin)
        self._hosts = KnownHosts.of(options.allowed_hosts, origins, is_local=options.is_local)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if (refusal := self._refusal(scope["type"], headers)) is not None:
            await self._refuse(refusal, scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        if b"%00" in scope["query_string"]:
            await problem(422, "invalid", NUL_IN_QUERY)(scope, receive, send)
            return
        limit = self._limit_of(scope, headers)
        if _declared_length(headers) > limit:
            await problem(413, TOO_LARGE, OVER_LIMIT)(scope, receive, send)
            return
        bounded = _bounded(receive, limit)
        checked = bounded if _has_parts(headers) else _of_few_values(bounded)
        await self._app(scope, checked, partial(_send_in_pieces, send))

    def _limit_of(self, scope: Scope, headers: Headers) -> int:
        limit = self._options.max_body_bytes
        if scope["method"] == "POST" and _UPLOAD.fullmatch(scope["path"]):
            limit += self._options.max_upload_bytes * self._options.max_files
        elif scope["method"] == "POST" and _SKILLS.fullmatch(scope["path"]) and _has_parts(headers):
            limit += self._options.max_skill_bytes
        elif scope["method"] == "POST" and scope["path"] == _BIBLIOGRAPHY and _has_parts(headers):
            limit += self._options.max_bibliography_bytes
        return limit

    def _refusal(self, kind: str, headers: Headers) -> _Refusal | None:
        hosts = headers.getlist("host")
        if len(hosts) > 1:
            return 400, "bad_request", "A request must have exactly one Host header."
        # A request without a Host is not from a browser.
        if hosts or self._options.is_local:
            name = host_name(hosts[0]) if hosts else None
            if name is None:
                return 400, "bad_request", "The Host header is invalid."
            if name not in self._hosts:
                return 403, "host_forbidden", _STRANGE.format(name)
        origin = headers.get("origin")
        if origin is None or (kind == "http" and not self._options.is_local):
            return None
        is_own = bool(hosts) and origin in (f"http://{hosts[0]}", f"https://{hosts[0]}")
        return None if is_own or origin in self._options.cors_origins else _FOREIGN

    @staticmethod
    async def _refuse(refusal: _Refusal, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4403})
            return
        await problem(*refusal)(scope, receive, send)


async def _send_in_pieces(send: Send, message: Message) -> None:
    """Sends a body in pieces. The server would accept one of any size at once; in pieces, no client holds more memory
    than it reads."""
    body: bytes = message.get("body", b"")
    at = 0
    while len(body) - at > PIECE_BYTES:
        await send({"type": "http.response.body", "body": body[at : at + PIECE_BYTES], "more_body": True})
        at += PIECE_BYTES
    await send({**message, "body": body[at:]} if at else message)


def _has_parts(headers: Headers) -> bool:
    """Whether the body has files, which are read as they come. A body of this type is never parsed as JSON."""
    return headers.get("content-type", "").strip().lower().startswith("multipart/")


def _of_few_values(receive: Receive) -> Receive:
    """Limits the values in a JSON body: a small body with nothing but values takes a second to parse, and a hundred
    times its size."""
    pieces: list[bytes] = []

    async def receive_checked() -> Message:
        message = await receive()
        if message["type"] == "http.request":
            pieces.append(message.get("body", b""))
            if not message.get("more_body", False):
                whole = b"".join(pieces)
                pieces.clear()
                if not has_at_most(whole, MOST_VALUES):
                    raise HTTPException(422, TOO_MANY_VALUES)
        return message

    return receive_checked


def _declared_length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isdecimal() and len(length) < 20 else 0


def _bounded(receive: Receive, limit: int) -> Receive:
    taken = 0

    async def receive_bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            # The framework only passes this class on while it reads a body.
            raise HTTPException(413, OVER_LIMIT)
        return message

    return receive_bounded
