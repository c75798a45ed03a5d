"""Passes a request to the program at an opened port, and its answer back, both as they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from backend_api.previews.domain.entity import OpenedPort
from backend_api.previews.ports import AppRequest, SandboxApps
from backend_api.previews.proxy.headers import Origins, from_program, to_program
from backend_api.sandboxes.domain.entity import Sandbox

PIECE_BYTES = 64 * 1024


class ClientGoneError(Exception):
    """The client has gone, so nobody waits for the answer."""


def origins_of(scope: Scope, port: OpenedPort) -> Origins:
    """The origins of a request; the scheme is that of HTTP, for a socket too."""
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    return Origins(scheme=scheme, host=Headers(scope=scope)["host"], port=port.port)


def app_request(scope: Scope, origins: Origins, body: AsyncIterator[bytes] | None = None) -> AppRequest:
    """Method, path and headers for the program."""
    path: bytes = scope.get("raw_path") or b"/"
    query: bytes = scope.get("query_string", b"")
    headers = to_program(scope["headers"], origins)
    if body is not None and not any(name == b"content-length" for name, _ in headers):
        headers.append((b"transfer-encoding", b"chunked"))
    return AppRequest(
        method=str(scope.get("method", "GET")).encode(),
        target=path + (b"?" + query if query else b""),
        headers=headers,
        body=body,
    )


class Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._is_sent = asyncio.Event()
        self.has_begun = False
        self.is_over = False
        """Whether it is answered, or nobody waits for it any more."""

    async def run(self, apps: SandboxApps, sandbox: Sandbox, port: OpenedPort, ended: asyncio.Future[Any]) -> None:
        """Run until the answer is over, the client has gone, or `ended` is done: then the tunnel is closed. Raises what
        `SandboxApps` raises, which can be reported as long as the answer has not begun."""
        passing = asyncio.create_task(self._pass(apps, sandbox, port), name="preview")
        gone = asyncio.create_task(self._wait_for_disconnect(), name="preview client")
        try:
            await asyncio.wait({passing, gone, ended}, return_when=asyncio.FIRST_COMPLETED)
            if passing.done():
                passing.result()
                self.is_over = True
            elif gone.done():
                self.is_over = True
        except ClientGoneError:
            self.is_over = True
        finally:
            for task in (passing, gone):
                task.cancel()
            await asyncio.gather(passing, gone, return_exceptions=True)

    async def _pass(self, apps: SandboxApps, sandbox: Sandbox, port: OpenedPort) -> None:
        origins = origins_of(self._scope, port)
        request = app_request(self._scope, origins, self._body() if self._has_body() else None)
        if request.body is None:
            self._is_sent.set()
        async with apps.ask(sandbox, port.port, request) as answer:
            self.has_begun = True
            headers = from_program(answer.headers, origins)
            await self._send({"type": "http.response.start", "status": answer.status, "headers": headers})
            async for piece in answer.pieces():
                for start in range(0, len(piece), PIECE_BYTES):
                    body = piece[start : start + PIECE_BYTES]
                    await self._send({"type": "http.response.body", "body": body, "more_body": True})
            # Before the tunnel is closed, which nobody has to wait for.
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _has_body(self) -> bool:
        headers = Headers(scope=self._scope)
        return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"

    async def _body(self) -> AsyncIterator[bytes]:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            if piece := message.get("body", b""):
                yield piece
            if not message.get("more_body", False):
                self._is_sent.set()
                return

    async def _wait_for_disconnect(self) -> None:
        """Wait until the client disconnects. Only one task may receive: until the body is sent, the one that reads
        it."""
        await self._is_sent.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
