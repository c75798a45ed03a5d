"""The edge: log line, size of bodies, host and origin checks, headers of every answer."""

from __future__ import annotations

import logging
import re
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend_api.domain.errors import DomainError
from backend_api.interfaces.http.hosts import KnownHosts, host_name
from backend_api.interfaces.http.use_cases import WebOptions
from contracts.errors import REQUEST_ID_HEADER
from contracts.observation.context import current_work
from service_kit.listening.broken_off import BrokenOffError
from service_kit.problems import problem

logger = logging.getLogger("backend_api.access")

_SESSION = re.compile(r"/api/sessions/([A-Za-z0-9_-]{1,64})")
_LINK = re.compile(r"/+api/+files/", re.IGNORECASE)
_UPLOAD = re.compile(r"/api/sessions/[^/]+/files/?")
_SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}


PIECE_BYTES = 64 * 1024
TOO_LARGE = "body_too_large"
OVER_LIMIT = "This body is over the limit."
_STRANGE = (
    "This server does not answer to the name {}. If it is yours, add it to ALLOWED_HOSTS and start the server anew; "
    "its address always works."
)
_Refusal = tuple[int, str, str]
_FOREIGN: _Refusal = (403, "origin_forbidden", "This page may not call this server.")


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
        request_id = current_work().request_id or ""
        if (refusal := self._refusal(scope["type"], headers)) is not None:
            await self._refuse(refusal, scope, receive, send, request_id)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        await self._answer(scope, receive, send, request_id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        began = time.perf_counter()
        status = 500
        has_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal status, has_started
            if message["type"] == "http.response.start":
                status, has_started = message["status"], True
                headers = MutableHeaders(raw=message["headers"])
                headers[REQUEST_ID_HEADER] = request_id
                for name, value in _SECURITY.items():
                    headers.setdefault(name, value)
                message["headers"] = headers.raw
            await _in_pieces(message, send)

        limit = self._limit_of(scope)
        try:
            if _declared(scope) > limit:
                await problem(413, TOO_LARGE, OVER_LIMIT)(scope, receive, send_with_headers)
            else:
                await self._app(scope, _bounded(receive, limit), send_with_headers)
        except Exception as error:
            known = _domain_error(error) if has_started else None
            if known is not None:
                # What a sandbox does to its own download is no fault of ours, and may be done again and again.
                told = self._fields(scope, request_id) | {"code": known.code, "reason": known.detail}
                logger.warning("answer broken off", extra=told)
                raise BrokenOffError from known
            logger.exception("request failed", extra=self._fields(scope, request_id))
            if has_started:
                raise
            answer = problem(500, "internal", "Something broke on our side. The request id helps to find it.")
            await answer(scope, receive, send_with_headers)
        finally:
            fields = self._fields(scope, request_id)
            fields |= {"status": status, "duration_ms": round((time.perf_counter() - began) * 1000, 1)}
            logger.info("request", extra=fields)

    def _limit_of(self, scope: Scope) -> int:
        limit = self._options.max_body_bytes
        if scope["method"] == "POST" and _UPLOAD.fullmatch(scope["path"]):
            limit += self._options.max_upload_bytes * self._options.max_files
        return limit

    def _refusal(self, kind: str, headers: Headers) -> _Refusal | None:
        hosts = headers.getlist("host")
        if len(hosts) > 1:
            return 400, "bad_request", "A request has one Host."
        # Without one it comes from no browser.
        if hosts or self._options.is_local:
            name = host_name(hosts[0]) if hosts else None
            if name is None:
                return 400, "bad_request", "This is no Host."
            if name not in self._hosts:
                return 403, "host_forbidden", _STRANGE.format(name)
        origin = headers.get("origin")
        if origin is None or (kind == "http" and not self._options.is_local):
            return None
        is_own = bool(hosts) and origin in (f"http://{hosts[0]}", f"https://{hosts[0]}")
        return None if is_own or origin in self._options.cors_origins else _FOREIGN

    async def _refuse(self, refusal: _Refusal, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 4403})
            return
        answer: Response = problem(*refusal)
        answer.headers[REQUEST_ID_HEADER] = request_id
        await answer(scope, receive, send)

    @staticmethod
    def _fields(scope: Scope, request_id: str) -> dict[str, object]:
        fields: dict[str, object] = {"request_id": request_id, "method": scope["method"], "path": scope["path"]}
        if found := _SESSION.match(scope["path"]):
            fields["session_id"] = found[1]
        if _LINK.match(scope["path"]):
            fields["path"] = "/api/files/…"
        return fields


async def _in_pieces(message: Message, send: Send) -> None:
    """The server takes a body of any size at once; piece by piece it lets nobody hold more than they take."""
    body: bytes = message.get("body", b"")
    at = 0
    while len(body) - at > PIECE_BYTES:
        await send({"type": "http.response.body", "body": body[at : at + PIECE_BYTES], "more_body": True})
        at += PIECE_BYTES
    await send({**message, "body": body[at:]} if at else message)


def _domain_error(error: Exception) -> DomainError | None:
    """The one it is, or that the framework could not answer any more because an answer had begun."""
    found = error.__cause__ if type(error) is RuntimeError else error
    return found if isinstance(found, DomainError) else None


def _declared(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isdecimal() and len(length) < 20 else 0


def _bounded(receive: Receive, limit: int) -> Receive:
    taken = 0

    async def receive_bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > limit:
            # The framework lets only this class through while it reads a body.
            raise HTTPException(413, OVER_LIMIT)
        return message

    return receive_bounded
