"""`Screens` over the endpoint's WebSocket."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import NoDesktopError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sockets import BoundedConnection, open_socket
from contracts.sandboxes import EndpointToken

logger = logging.getLogger(__name__)

NO_DESKTOP = 4404
NORMAL = (1000, 1001)
MAX_FRAME_BYTES = 1024 * 1024
"""Four times the tool API's largest frame."""


class ToolApiScreen:
    """One open screen."""

    def __init__(self, connection: BoundedConnection, sandbox: Sandbox) -> None:
        self._connection = connection
        self._sandbox = sandbox

    async def send(self, data: bytes) -> None:
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise _error_of(error) from error

    async def frames(self) -> AsyncIterator[bytes]:
        """The frames until the screen closes. Raises `NoDesktopError`, `SandboxUnavailableError`."""
        try:
            while True:
                # Piece by piece: a message in endless pieces is never collected.
                async for piece in self._connection.recv_streaming(decode=False):
                    if piece:
                        yield piece
        except ConnectionClosed as error:
            self._log_refusal(error)
            code = self._connection.close_code
            if code in NORMAL:
                return
            raise _error_of(error) from error

    def _log_refusal(self, error: ConnectionClosed) -> None:
        sent = error.sent.reason if error.sent is not None and not error.rcvd_then_sent else None
        if (reason := self._connection.refused or sent) is not None:
            fields = {"sandbox_id": self._sandbox.id, "session_id": self._sandbox.session_id, "reason": reason}
            logger.warning("screen refused", extra=fields)


class ToolApiScreens:
    """Opens screens of sandboxes."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints

    @asynccontextmanager
    async def open(self, sandbox: Sandbox, *, control: bool) -> AsyncGenerator[ToolApiScreen, None]:
        if not sandbox.has_desktop:
            raise NoDesktopError("This computer has no desktop.")
        scope = Scope.VNC_CONTROL if control else Scope.VNC_VIEW
        token = await self._endpoints.address(sandbox, (scope,))
        async with self._connected(sandbox, token) as connection:
            yield ToolApiScreen(connection, sandbox)

    @asynccontextmanager
    async def _connected(self, sandbox: Sandbox, token: EndpointToken) -> AsyncGenerator[BoundedConnection]:
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(
                    open_socket(token, "/vnc", subprotocols=[Subprotocol("binary")], max_size=MAX_FRAME_BYTES)
                )
            except InvalidStatus as error:
                await self._endpoints.forget(sandbox)
                if error.response.status_code == 404:
                    raise NoDesktopError("This computer has no desktop.") from error
                raise SandboxUnavailableError("The computer refused the connection to its screen.") from error
            except (OSError, WebSocketException, TimeoutError) as error:
                await self._endpoints.forget(sandbox)
                raise SandboxUnavailableError("The computer's screen does not answer.") from error
            yield connection


def _error_of(error: ConnectionClosed) -> NoDesktopError | SandboxUnavailableError:
    return _by_code(error.rcvd.code if error.rcvd is not None else 0)


def _by_code(code: int) -> NoDesktopError | SandboxUnavailableError:
    if code == NO_DESKTOP:
        return NoDesktopError("This computer has no desktop.")
    return SandboxUnavailableError("The connection to the computer's screen ended.")
