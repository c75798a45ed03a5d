"""WS /ports/{port}: the bytes of one connection to a program in this sandbox."""

from __future__ import annotations

from fastapi import APIRouter, WebSocket

from contracts.ports import LAST_PORT, PATH, CloseCode
from contracts.sandboxes import Scope
from tool_api.access import Access
from tool_api.errors import ClaimedError, UnauthenticatedError
from tool_api.ports.tunnel import Tunnels

_LONGEST_PORT = len(str(LAST_PORT))


def ports_router(access: Access, tunnels: Tunnels) -> APIRouter:
    """The route.

    A token without the scope `ports`, or none, closes it with 4401; a port that may not be opened with 4403; one
    where nothing listens with 4404.
    """
    router = APIRouter()

    @router.websocket(PATH + "/{port}")
    async def connection(websocket: WebSocket, port: str) -> None:
        # Accepted before it may be refused: a socket that never opened can't carry a close code.
        await websocket.accept()
        if not _may_connect(access, websocket):
            await websocket.close(CloseCode.UNAUTHENTICATED)
        elif (number := _number(port)) is None:
            await websocket.close(CloseCode.REFUSED_PORT)
        else:
            await tunnels.serve(websocket, number)

    return router


def _number(port: str) -> int | None:
    return int(port) if port.isascii() and port.isdecimal() and len(port) <= _LONGEST_PORT else None


def _may_connect(access: Access, websocket: WebSocket) -> bool:
    try:
        return access.verify_header(websocket.headers.get("authorization")).allows(Scope.PORTS)
    except (UnauthenticatedError, ClaimedError):
        return False
