"""`Screens` over the door's WebSocket."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from backend_api.domain.sandbox.entity import Computer, Scope
from backend_api.domain.sandbox.errors import ComputerUnavailableError, NoDesktopError
from backend_api.infrastructure.passing_on import passed_on
from backend_api.infrastructure.tool_api.doors import Doors, SafeSocket

BAD_TOKEN = 4401
NO_DESKTOP = 4404
OPEN_DEADLINE_S = 10.0


class DoorScreen:
    """One open screen."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, data: bytes) -> None:
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise _error_of(error) from error

    async def frames(self) -> AsyncIterator[bytes]:
        """Ends when the screen closes. Raises `NoDesktopError`, `ComputerUnavailableError`."""
        try:
            async for message in self._connection:
                yield message if isinstance(message, bytes) else message.encode()
        except ConnectionClosed as error:
            raise _error_of(error) from error
        code = self._connection.close_code
        if code in (BAD_TOKEN, NO_DESKTOP):
            raise _by_code(code)


class DoorScreens:
    """Opens screens of computers."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    @asynccontextmanager
    async def open(self, computer: Computer, *, control: bool) -> AsyncGenerator[DoorScreen, None]:
        if not computer.has_desktop:
            raise NoDesktopError("This computer has no desktop.")
        scope = Scope.VNC_CONTROL if control else Scope.VNC_VIEW
        token = await self._doors.address(computer, (scope,))
        connection = await self._connect(computer, token.door, token.token)
        try:
            yield DoorScreen(connection)
        finally:
            await connection.close()

    async def _connect(self, computer: Computer, door: str, token: str) -> ClientConnection:
        headers = {"Authorization": f"Bearer {token}", **passed_on()}
        protocols = [Subprotocol("binary")]
        socket = SafeSocket(door.removeprefix("unix:")) if door.startswith("unix:") else None
        try:
            if socket is not None:
                return await unix_connect(
                    socket.path,
                    "ws://door/vnc",
                    additional_headers=headers,
                    subprotocols=protocols,
                    max_size=None,
                    compression=None,
                    open_timeout=OPEN_DEADLINE_S,
                )
            return await connect(
                door.replace("http", "ws", 1) + "/vnc",
                additional_headers=headers,
                subprotocols=protocols,
                max_size=None,
                compression=None,
                open_timeout=OPEN_DEADLINE_S,
                proxy=None,
            )
        except InvalidStatus as error:
            await self._doors.forget(computer)
            if error.response.status_code == 404:
                raise NoDesktopError("This computer has no desktop.") from error
            raise ComputerUnavailableError("The computer does not let its screen be opened.") from error
        except (OSError, WebSocketException, TimeoutError) as error:
            await self._doors.forget(computer)
            raise ComputerUnavailableError("The computer's screen does not answer.") from error
        finally:
            if socket is not None:
                socket.close()


def _error_of(error: ConnectionClosed) -> NoDesktopError | ComputerUnavailableError:
    return _by_code(error.rcvd.code if error.rcvd is not None else 0)


def _by_code(code: int) -> NoDesktopError | ComputerUnavailableError:
    if code == NO_DESKTOP:
        return NoDesktopError("This computer has no desktop.")
    return ComputerUnavailableError("The connection to the computer's screen ended.")
