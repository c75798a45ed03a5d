"""Passes a WebSocket on to the program at an opened port."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from backend_api.previews.domain.entity import OpenedPort
from backend_api.previews.ports import AppSocket, SandboxApps
from backend_api.previews.proxy.exchange import app_request, origins_of
from backend_api.sandboxes.domain.entity import Sandbox

SEND_S = 30.0
_GOING_AWAY = 1001
_SENDABLE = frozenset({1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014})
_OF_THE_HANDSHAKE = b"sec-websocket-"


async def pass_socket(
    socket: WebSocket, apps: SandboxApps, sandbox: Sandbox, port: OpenedPort, ended: asyncio.Future[Any]
) -> None:
    """Relay until one side closes, or `ended` is done. Raises what `SandboxApps` raises before the socket is
    accepted."""
    asked = app_request(socket.scope, origins_of(socket.scope, port))
    # The handshake with the program is one of its own.
    headers = [one for one in asked.headers if not one[0].startswith(_OF_THE_HANDSHAKE) and one[0] != b"host"]
    offered: list[str] = socket.scope.get("subprotocols", [])
    opening = apps.connect(sandbox, port.port, replace(asked, headers=headers), offered)
    carrying = asyncio.create_task(_relay(socket, opening), name="preview socket")
    try:
        await asyncio.wait({carrying, ended}, return_when=asyncio.FIRST_COMPLETED)
        end = carrying.result() if carrying.done() else (_GOING_AWAY, "")
    finally:
        carrying.cancel()
        await asyncio.gather(carrying, return_exceptions=True)
    await close_socket(socket, *_sendable_close(*end))


async def _relay(socket: WebSocket, opening: AbstractAsyncContextManager[AppSocket]) -> tuple[int, str]:
    """Relay in both directions; returns code and reason of the program's close."""
    async with opening as app:
        await socket.accept(subprotocol=app.subprotocol)
        directions = {
            asyncio.create_task(_relay_to_browser(socket, app), name="preview messages"),
            asyncio.create_task(_relay_to_app(socket, app), name="preview input"),
        }
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in directions:
                task.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
        return app.end


async def close_socket(socket: WebSocket, code: int, reason: str = "") -> None:
    """Close the socket, unless it is closed."""
    with suppress(RuntimeError, WebSocketDisconnect):
        await socket.close(code, reason)


async def _relay_to_browser(socket: WebSocket, app: AppSocket) -> None:
    async for message in app.messages():
        async with asyncio.timeout(SEND_S):
            await (socket.send_text(message) if isinstance(message, str) else socket.send_bytes(message))


async def _relay_to_app(socket: WebSocket, app: AppSocket) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text: str | None = message.get("text")
        await app.send(text if text is not None else message.get("bytes") or b"")


def _sendable_close(code: int, reason: str) -> tuple[int, str]:
    """The code and reason in a form that can be sent: codes for a broken connection can't (RFC 6455, section 7.4)."""
    can_be_sent = code in _SENDABLE or 3000 <= code < 5000
    return (code, reason) if can_be_sent else (_GOING_AWAY, "")
