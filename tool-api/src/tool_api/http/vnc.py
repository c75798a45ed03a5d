"""WS /vnc: who may see the desktop, and who may touch it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from fastapi import APIRouter, WebSocket

from contracts.sandboxes import Scope
from tool_api.access import Access, Grant
from tool_api.desktop.supervisor import Desktop
from tool_api.errors import ClaimedError, UnauthenticatedError
from tool_api.viewer_control import ViewerControl
from tool_api.vnc.bridge import CloseCode, bridge
from tool_api.vnc.fitting import ScreenFitting

SUBPROTOCOL = "binary"


def screen_of(desktop: Desktop | None) -> str | CloseCode:
    """The socket of its X server, or why a viewer is turned away."""
    if desktop is None:
        return CloseCode.NO_DESKTOP
    return desktop.vnc_socket or (CloseCode.RESTART if desktop.is_starting else CloseCode.NO_DESKTOP)


def vnc_router(
    access: Callable[[WebSocket], Access],
    screen: Callable[[WebSocket], str | CloseCode],
    control: ViewerControl,
    fitting: ScreenFitting,
) -> APIRouter:
    """The route. `access` and `screen` look the services up when a viewer comes; see `screen_of`."""
    router = APIRouter()

    @router.websocket("/vnc")
    async def vnc(websocket: WebSocket) -> None:
        offered: list[str] = websocket.scope.get("subprotocols", [])
        # Accepted before it may be refused: a socket that never opened can't carry a close code.
        await websocket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in offered else None)
        grant = _grant(access(websocket), websocket)
        if grant is None:
            await websocket.close(CloseCode.UNAUTHENTICATED)
        elif isinstance(path := screen(websocket), CloseCode):
            await websocket.close(path)
        else:
            has_control = grant.allows(Scope.VNC_CONTROL)
            async with fitting.viewer(path) as want_size:
                with control.hold() if has_control else nullcontext():
                    await bridge(websocket, path, view_only=not has_control, want_size=want_size)

    return router


def _grant(access: Access, websocket: WebSocket) -> Grant | None:
    try:
        grant = access.verify_header(websocket.headers.get("authorization"))
    except (UnauthenticatedError, ClaimedError):
        return None
    return grant if grant.allows(Scope.VNC_VIEW) or grant.allows(Scope.VNC_CONTROL) else None
