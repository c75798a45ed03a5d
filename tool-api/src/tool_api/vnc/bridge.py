"""Carry RFB between one viewer's WebSocket and the X server, at the pace of the slower one."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum

from starlette.websockets import WebSocket, WebSocketDisconnect

from service_kit.leaving import leave
from tool_api import measures
from tool_api.vnc.view_filter import RfbProtocolError, ViewerFilter

logger = logging.getLogger(__name__)

CHUNK_BYTES = 256 * 1024
LARGEST_FRAME_BYTES = 16 * 1024 * 1024
STALLED_AFTER_S = 30.0
CONNECT_TIMEOUT_S = 10.0
FLUSH_S = 1.0
_ASK_AGAIN_S = 0.02


class CloseCode(IntEnum):
    """Reasons for which the bridge closes a socket."""

    ENDED = 1000
    UNSUPPORTED = 1003
    PROTOCOL = 1002
    RESTART = 1012
    UNAUTHENTICATED = 4401
    NO_DESKTOP = 4404
    TOO_SLOW = 4408


async def bridge(
    websocket: WebSocket, socket_path: str, *, view_only: bool, want_size: Callable[[int, int], None] | None = None
) -> None:
    """Serve an accepted WebSocket until either side ends; it is closed when this returns.

    A viewer without the right to control has its input taken out of the stream. `want_size` is called with the screen
    size that a viewer requests. A viewer that reads nothing for `STALLED_AFTER_S` is disconnected; until then only its
    own picture waits.
    """
    try:
        reader, writer = await _connect(socket_path)
    except OSError as error:
        logger.warning("X server refused the viewer", extra={"reason": str(error)})
        await _close(websocket, CloseCode.RESTART)
        return
    try:
        with measures.VIEWERS.labels("view" if view_only else "control").track_inprogress():
            viewer = ViewerFilter(view_only=view_only, want_size=want_size)
            code = await _relay(websocket, reader, writer, viewer)
        await _close(websocket, code)
    finally:
        await leave(writer, FLUSH_S)


async def _connect(socket_path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Raises `OSError`.

    An X server queues few connections and refuses more with EAGAIN until it has accepted those (unix(7)): this one
    then waits its turn, as a connection over TCP would.
    """
    server = socket.socket(socket.AF_UNIX)
    try:
        server.setblocking(False)
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            while True:
                with suppress(BlockingIOError):
                    # Not by the loop: asyncio's takes EAGAIN for a connection under way, and the next read fails.
                    server.connect(socket_path)
                    return await asyncio.open_unix_connection(sock=server, limit=CHUNK_BYTES)
                await asyncio.sleep(_ASK_AGAIN_S)
    except BaseException:
        server.close()
        raise


async def _relay(
    websocket: WebSocket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, viewer: ViewerFilter
) -> CloseCode:
    directions = {
        asyncio.create_task(_pictures(websocket, reader), name="vnc pictures"),
        asyncio.create_task(_input(websocket, writer, viewer), name="vnc input"),
    }
    try:
        done, _ = await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()
    finally:
        for direction in directions:
            direction.cancel()
        await asyncio.gather(*directions, return_exceptions=True)


async def _pictures(websocket: WebSocket, reader: asyncio.StreamReader) -> CloseCode:
    try:
        while chunk := await reader.read(CHUNK_BYTES):
            async with asyncio.timeout(STALLED_AFTER_S):
                await websocket.send_bytes(chunk)
    except TimeoutError:
        return CloseCode.TOO_SLOW
    except WebSocketDisconnect:
        return CloseCode.ENDED
    except OSError:
        return CloseCode.RESTART
    return CloseCode.RESTART


async def _input(websocket: WebSocket, writer: asyncio.StreamWriter, viewer: ViewerFilter) -> CloseCode:
    try:
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return CloseCode.ENDED
            data: bytes | None = message.get("bytes")
            if data is None or len(data) > LARGEST_FRAME_BYTES:
                return CloseCode.UNSUPPORTED
            if passed := viewer.feed(data):
                writer.write(passed)
                async with asyncio.timeout(STALLED_AFTER_S):
                    await writer.drain()
    except RfbProtocolError as error:
        logger.warning("viewer broke the protocol", extra={"reason": str(error)})
        return CloseCode.PROTOCOL
    except (OSError, TimeoutError):
        return CloseCode.RESTART


async def _close(websocket: WebSocket, code: CloseCode) -> None:
    # The viewer may have gone first.
    with suppress(RuntimeError, OSError, WebSocketDisconnect):
        async with asyncio.timeout(STALLED_AFTER_S):
            await websocket.close(code)
