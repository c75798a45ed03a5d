"""WS /ports/{port}: the bytes of one connection to a program in this sandbox."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, WebSocket

from contracts.sandboxes import Scope
from tool_api.access import Access
from tool_api.errors import ClaimedError, UnauthenticatedError
from tool_api.ports.rules import LAST_PORT
from tool_api.ports.tunnel import CloseCode, Tunnels

SUBPROTOCOL = "binary"
_LONGEST_PORT = len(str(LAST_PORT))


def ports_router(access: Callable[[WebSocket], Access], tunnels: Callable[[WebSocket], Tunnels]) -> APIRouter:
    """The route. `access` and `tunnels` look the services up when a connection comes.

    A token without the scope `ports`, or none, closes it with 4401; a port that may not be opened with 4403; one
    where nothing listens with 4404.
    """
    router = APIRouter()

    @router.websocket("/ports/{port}")
    async def connection(websocket: WebSocket, port: str) -> None:
        offered: list[str] = websocket.scope.get("subprotocols", [])
        # Accepted before it may be refused: a socket that never opened can't carry a close code.
        await websocket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in offered else None)
        if not _may_connect(access(websocket), websocket):
            await websocket.close(CloseCode.UNAUTHENTICATED)
        elif (number := _number(port)) is None:
            await websocket.close(CloseCode.REFUSED_PORT)
        else:
            await tunnels(websocket).serve(websocket, number)

    return router


def _number(port: str) -> int | None:
    return int(port) if port.isascii() and port.isdecimal() and len(port) <= _LONGEST_PORT else None


def _may_connect(access: Access, websocket: WebSocket) -> bool:
    try:
        return access.verify_header(websocket.headers.get("authorization")).allows(Scope.PORTS)
    except (UnauthenticatedError, ClaimedError):
        return False
