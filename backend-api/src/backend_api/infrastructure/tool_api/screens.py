"""`Screens` over the endpoint's WebSocket."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import Frame
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from backend_api.domain.sandbox.entity import Sandbox, Scope
from backend_api.domain.sandbox.errors import NoDesktopError, SandboxUnavailableError
from backend_api.infrastructure.context_headers import context_headers
from backend_api.infrastructure.tool_api.endpoints import Endpoints, SafeSocket

logger = logging.getLogger(__name__)

NO_DESKTOP = 4404
NORMAL = (1000, 1001)
OPEN_DEADLINE_S = 10.0
CLOSE_DEADLINE_S = 2.0
MAX_FRAME_BYTES = 1024 * 1024
"""Four times what the tool API puts into one."""
MAX_WAITING_FRAMES = 8
SMALL_FRAME_BYTES = 512
SMALL_FRAMES_PER_S = 2_000
_BURST_FRAMES = 4 * SMALL_FRAMES_PER_S
_MAX_UNSENT_BYTES = 8 * 1024 * 1024
_SLICE_BYTES = 16 * 1024


class _ScreenConnection(ClientConnection):
    """Ends where the other side sends more frames than pictures need, or has us answer pings that it does not take."""

    _frames_left = float(_BURST_FRAMES)
    _counted_at = 0.0
    refused: str | None = None

    def data_received(self, data: bytes) -> None:
        # In slices: of frames of two bytes a whole read would hold everybody up.
        for start in range(0, len(data), _SLICE_BYTES):
            if self.refused is None:
                super().data_received(data[start : start + _SLICE_BYTES])
                # Else it could go on for as long as it likes to be told that it is over.
                if (fault := self.protocol.parser_exc or self.protocol.handshake_exc) is not None:
                    self._refuse(str(fault)[:200])
                elif self.transport.get_write_buffer_size() > _MAX_UNSENT_BYTES:
                    self._refuse("it does not take what it asks for")

    def process_event(self, event: Frame | Request | Response) -> None:
        if isinstance(event, Frame) and len(event.data) < SMALL_FRAME_BYTES:
            now = self.loop.time()
            gained = (now - self._counted_at) * SMALL_FRAMES_PER_S
            self._frames_left = min(_BURST_FRAMES, self._frames_left + gained) - 1
            self._counted_at = now
        if self._frames_left < 0:
            self._refuse("it sends too many small frames")
        else:
            super().process_event(event)

    def _refuse(self, reason: str) -> None:
        if self.refused is None:
            self.refused = reason
            self.transport.abort()


class _Connect(connect):
    """Follows nobody elsewhere: a sandbox may answer with any address."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class ToolApiScreen:
    """One open screen."""

    def __init__(self, connection: _ScreenConnection, sandbox: Sandbox) -> None:
        self._connection = connection
        self._sandbox = sandbox

    async def send(self, data: bytes) -> None:
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise _error_of(error) from error

    async def frames(self) -> AsyncIterator[bytes]:
        """Ends when the screen closes. Raises `NoDesktopError`, `SandboxUnavailableError`."""
        try:
            while True:
                # Piece by piece: of a message in endless pieces nothing is collected.
                async for piece in self._connection.recv_streaming(decode=False):
                    if piece:
                        yield piece
        except ConnectionClosed as error:
            self._tell_refused(error)
            code = self._connection.close_code
            if code in NORMAL:
                return
            raise _error_of(error) from error

    def _tell_refused(self, error: ConnectionClosed) -> None:
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
        connection = await self._connect(sandbox, token.endpoint, token.token)
        try:
            yield ToolApiScreen(connection, sandbox)
        finally:
            await _close(connection)

    async def _connect(self, sandbox: Sandbox, endpoint: str, token: str) -> _ScreenConnection:
        socket = SafeSocket(endpoint.removeprefix("unix:")) if endpoint.startswith("unix:") else None
        options: dict[str, Any] = {
            "additional_headers": {"Authorization": f"Bearer {token}", **context_headers()},
            "subprotocols": [Subprotocol("binary")],
            "max_size": MAX_FRAME_BYTES,
            "max_queue": MAX_WAITING_FRAMES,
            "compression": None,
            "open_timeout": OPEN_DEADLINE_S,
            "close_timeout": CLOSE_DEADLINE_S,
            "create_connection": _ScreenConnection,
        }
        try:
            if socket is not None:
                opened = await _Connect("ws://endpoint/vnc", unix=True, path=socket.path, **options)
            else:
                opened = await _Connect(endpoint.replace("http", "ws", 1) + "/vnc", proxy=None, **options)
            return cast("_ScreenConnection", opened)
        except InvalidStatus as error:
            await self._endpoints.forget(sandbox)
            if error.response.status_code == 404:
                raise NoDesktopError("This computer has no desktop.") from error
            raise SandboxUnavailableError("The computer refused the connection to its screen.") from error
        except (OSError, WebSocketException, TimeoutError) as error:
            await self._endpoints.forget(sandbox)
            raise SandboxUnavailableError("The computer's screen does not answer.") from error
        finally:
            if socket is not None:
                socket.close()


async def _close(connection: ClientConnection) -> None:
    try:
        async with asyncio.timeout(CLOSE_DEADLINE_S):
            await connection.close()
    except TimeoutError:
        connection.transport.abort()


def _error_of(error: ConnectionClosed) -> NoDesktopError | SandboxUnavailableError:
    return _by_code(error.rcvd.code if error.rcvd is not None else 0)


def _by_code(code: int) -> NoDesktopError | SandboxUnavailableError:
    if code == NO_DESKTOP:
        return NoDesktopError("This computer has no desktop.")
    return SandboxUnavailableError("The connection to the computer's screen ended.")
