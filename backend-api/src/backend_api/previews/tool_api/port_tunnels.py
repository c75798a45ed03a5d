"""Byte streams to a port of a sandbox, over the endpoint's WebSocket, or of a remote host, over SSH, in the form of a
stream of `httpcore`."""

from __future__ import annotations

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpcore
from websockets.exceptions import ConnectionClosed, WebSocketException

from backend_api.kit.errors import DomainError
from backend_api.previews.domain.errors import (
    AppFailedError,
    NothingListensError,
    PortRefusedError,
    TooManyPreviewsError,
)
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.ports import PortConnection, RemoteHosts
from backend_api.sandboxes.tool_api.endpoints import Endpoints
from backend_api.sandboxes.tool_api.sockets import BoundedConnection, open_socket
from contracts.ports import MAX_FRAME_BYTES, PATH, CloseCode

WRITE_S = 30.0
"""The longest time in seconds that the program may take to accept input."""
SENT_BYTES = 64 * 1024
_NORMAL = (CloseCode.ENDED, 1001)


class PortStream(httpcore.AsyncNetworkStream, ABC):
    """One connection to a program. If `may_read` is set, no more than that many bytes of it are read."""

    def __init__(self) -> None:
        self._rest = b""
        self.may_read: int | None = None

    @abstractmethod
    async def _receive(self) -> bytes:
        """Receive the next piece; empty at the end. Raises `httpcore.ReadError`."""

    @abstractmethod
    async def _send(self, piece: bytes) -> None:
        """Send a piece. Raises `httpcore.WriteError`."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # the base's
        """Read; empty at the end. Raises `httpcore.ReadError` and `httpcore.ReadTimeout`."""
        if not self._rest:
            try:
                async with asyncio.timeout(timeout):
                    self._rest = await self._receive()
            except TimeoutError as error:
                raise httpcore.ReadTimeout from error
        piece, self._rest = self._rest[:max_bytes], self._rest[max_bytes:]
        if self.may_read is not None:
            self.may_read -= len(piece)
            if self.may_read < 0:
                raise httpcore.ReadError("its response headers are incomplete")
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # the base's
        """Write all. Raises `httpcore.WriteError` and `httpcore.WriteTimeout`."""
        for start in range(0, len(buffer), SENT_BYTES):
            try:
                async with asyncio.timeout(WRITE_S if timeout is None else timeout):
                    await self._send(buffer[start : start + SENT_BYTES])
            except TimeoutError as error:
                raise httpcore.WriteTimeout from error

    async def aclose(self) -> None:
        """Do nothing, as the opener of the connection closes it."""

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # the base's
    ) -> httpcore.AsyncNetworkStream:
        """Refuse: programs are called in plain HTTP only."""
        raise NotImplementedError

    def fault(self, reason: str, port: int) -> DomainError:
        """The error that explains why there was no answer over this stream."""
        return _app_failed(reason, port)


class TunnelStream(PortStream):
    """A stream over the endpoint of a sandbox, which reports errors of a port itself."""

    def __init__(self, socket: BoundedConnection) -> None:
        super().__init__()
        self._socket = socket

    async def _receive(self) -> bytes:
        try:
            return await self._socket.recv(decode=False)
        except ConnectionClosed as error:
            if self._socket.refused is None and self._socket.close_code in _NORMAL:
                return b""
            raise httpcore.ReadError(self._socket.refused or "the connection broke") from error

    async def _send(self, piece: bytes) -> None:
        try:
            await self._socket.send(piece)
        except ConnectionClosed as error:
            raise httpcore.WriteError from error

    def fault(self, reason: str, port: int) -> DomainError:
        return _BY_CODE.get(self._socket.close_code or 0, _app_failed)(reason, port)


class ForwardedStream(PortStream):
    """A stream over the connection to a remote host."""

    def __init__(self, connection: PortConnection) -> None:
        super().__init__()
        self._connection = connection

    async def _receive(self) -> bytes:
        try:
            return await self._connection.read(SENT_BYTES)
        except OSError as error:
            raise httpcore.ReadError("the connection broke") from error

    async def _send(self, piece: bytes) -> None:
        try:
            await self._connection.write(piece)
        except OSError as error:
            raise httpcore.WriteError from error


def _app_failed(reason: str, port: int) -> DomainError:
    return AppFailedError(f"The app at port {port} sent an invalid response: {reason[:200]}.")


def _nothing_listens(_: str, port: int) -> DomainError:
    return NothingListensError(f"Nothing listens at port {port} yet.")


def _port_refused(_: str, port: int) -> DomainError:
    return PortRefusedError(f"Port {port} belongs to a service of the computer's own.", field="port")


def _too_many(_: str, port: int) -> DomainError:
    return TooManyPreviewsError(f"There are too many connections to port {port}.", retry_after_s=5)


def _unavailable(_reason: str, _port: int) -> DomainError:
    return SandboxUnavailableError("The computer refused the connection.")


_BY_CODE: dict[int, Callable[[str, int], DomainError]] = {
    CloseCode.NOTHING_LISTENS: _nothing_listens,
    CloseCode.REFUSED_PORT: _port_refused,
    CloseCode.TOO_MANY: _too_many,
    CloseCode.UNAUTHENTICATED: _unavailable,
}


@dataclass(frozen=True, slots=True)
class PortTunnels:
    """Opens tunnels: one for each request, so that none is ever shared."""

    endpoints: Endpoints
    hosts: RemoteHosts | None = None

    @asynccontextmanager
    async def open(self, sandbox: Sandbox, port: int) -> AsyncGenerator[PortStream]:
        """A stream that is closed with the block. Whether a program listens at a port of a sandbox shows at the first
        read. Raises `SandboxUnavailableError`, and `NothingListensError` for a remote host."""
        if sandbox.is_remote_host and self.hosts is not None:
            try:
                async with self.hosts.port(sandbox, port) as connection:
                    yield ForwardedStream(connection)
            except ConnectionRefusedError as error:
                raise _nothing_listens("", port) from error
            return
        token = await self.endpoints.address(sandbox, (Scope.PORTS,))
        async with AsyncExitStack() as stack:
            try:
                socket = await stack.enter_async_context(open_socket(token, f"{PATH}/{port}", max_size=MAX_FRAME_BYTES))
            except (OSError, WebSocketException, TimeoutError) as error:
                await self.endpoints.forget(sandbox)
                raise SandboxUnavailableError("The computer does not answer. Try again in a moment.") from error
            yield TunnelStream(socket)
