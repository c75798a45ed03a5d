"""Terminals of people: GET /terminals, DELETE /terminals/{name} and WS /terminals/{name}."""

from __future__ import annotations

import logging
import re
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response, WebSocket

from contracts.sandboxes import Scope
from contracts.terminals import NAME, PATH, CloseCode, TerminalEntry
from contracts.tools import LARGEST_NUMBER
from tool_api.access import Access
from tool_api.errors import ClaimedError, UnauthenticatedError
from tool_api.http.authorization import require
from tool_api.terminals.terminals import Terminals, TooManyTerminalsError
from tool_api.terminals.viewing import close_socket, serve_viewer

logger = logging.getLogger(__name__)

_Name = Annotated[str, Path(pattern=NAME)]


def terminals_router(access: Access, terminals: Terminals, *, is_allowed: bool) -> APIRouter:
    """The routes. Where only some commands are allowed there are no terminals, in which all could be run: the socket is
    closed with 4403."""
    router = APIRouter()

    @router.get(PATH, dependencies=[Depends(require(Scope.EXEC))])
    async def entries() -> list[TerminalEntry]:
        return terminals.entries()

    @router.delete(PATH + "/{name}", status_code=204, dependencies=[Depends(require(Scope.EXEC))])
    async def close(name: _Name) -> Response:
        await terminals.close(name)
        return Response(status_code=204)

    @router.websocket(PATH + "/{name}")
    async def view(websocket: WebSocket, name: str, after: str = "", began: str = "") -> None:
        # Accepted before it may be refused: a socket that never opened can't carry a close code.
        await websocket.accept()
        if not _may_type(access, websocket):
            await websocket.close(CloseCode.UNAUTHENTICATED)
        elif not is_allowed:
            await websocket.close(CloseCode.REFUSED)
        elif not re.fullmatch(NAME, name):
            await websocket.close(CloseCode.BAD_NAME)
        else:
            code = await _serve(websocket, terminals, name, _number(after), _number(began))
            await close_socket(websocket, code)

    return router


async def _serve(
    websocket: WebSocket, terminals: Terminals, name: str, after: int | None, began: int | None
) -> CloseCode:
    try:
        terminal = await terminals.open(name)
    except TooManyTerminalsError:
        return CloseCode.TOO_MANY
    except OSError as error:
        logger.warning("a terminal could not be opened", extra={"reason": str(error)})
        return CloseCode.RESTART
    return await serve_viewer(websocket, terminal, after=after, began=began)


def _number(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST_NUMBER))
    return int(text) if is_number else None


def _may_type(access: Access, websocket: WebSocket) -> bool:
    try:
        return access.verify_header(websocket.headers.get("authorization")).allows(Scope.EXEC)
    except (UnauthenticatedError, ClaimedError):
        return False
