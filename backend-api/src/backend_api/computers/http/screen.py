"""The screen of a sandbox: bytes between the browser and its desktop, one viewer a socket."""

from __future__ import annotations

import asyncio
import logging
from typing import Annotated

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from backend_api.computers.application.open_screen import OpenedScreen, OpenScreen
from backend_api.computers.domain import ControlLostError, Controls
from backend_api.kit import measures
from backend_api.kit.errors import DomainError
from backend_api.kit.http.close_codes import CONTROL_LOST, close_code
from backend_api.kit.http.ports import port
from backend_api.kit.http.trust import trust_peer
from backend_api.kit.ids import SessionId
from backend_api.sandboxes.http.relaying import close_socket, keep_alive, relay_until_end
from backend_api.sandboxes.ports import Sandboxes, Screen

router = APIRouter()
logger = logging.getLogger(__name__)

SEND_DEADLINE_S = 30.0
_SUBPROTOCOL = "binary"


@router.websocket("/api/sessions/{session_id}/vnc")
async def screen(
    socket: WebSocket,
    session_id: str,
    open_screen: Annotated[OpenScreen, port("open_screen")],
    sandboxes: Annotated[Sandboxes, port("sandboxes")],
    controls: Annotated[Controls | None, port("controls", None)],
    ticket: str = "",
) -> None:
    """Proxy RFB. Each side waits for the other: what one does not take, the other does not send."""
    offered = socket.scope.get("subprotocols", [])
    await socket.accept(subprotocol=_SUBPROTOCOL if _SUBPROTOCOL in offered else None)
    code = 1000
    try:
        async with open_screen(SessionId(session_id), ticket, controls) as opened:
            trust_peer(socket)
            with measures.SCREENS.track_inprogress():
                code = await relay_until_end(
                    _relay_to_viewer(socket, opened.screen),
                    _relay_to_screen(socket, opened.screen),
                    keep_alive(sandboxes, session_id),
                    _until_lost(opened),
                    ended=opened.auth.ended,
                    shown="screen",
                )
    except ControlLostError:
        code = CONTROL_LOST
    except DomainError as error:
        logger.info("screen closed", extra={"session_id": session_id, "code": error.code})
        code = close_code(error)
    except WebSocketDisconnect:
        return
    await close_socket(socket, code)


async def _relay_to_viewer(socket: WebSocket, opened: Screen) -> None:
    async for frame in opened.frames():
        async with asyncio.timeout(SEND_DEADLINE_S):
            await socket.send_bytes(frame)


async def _relay_to_screen(socket: WebSocket, opened: Screen) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if data := message.get("bytes"):
            async with asyncio.timeout(SEND_DEADLINE_S):
                await opened.send(data)


async def _until_lost(opened: OpenedScreen) -> None:
    await opened.lost.wait()
    raise ControlLostError("Another client controls the computer by now, or the lease expired.")
