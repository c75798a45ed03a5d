"""`SandboxApps`: HTTP and WebSockets with programs in sandboxes, any of which may be hostile."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import cast

import httpcore
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from backend_api.previews.domain.errors import AppFailedError
from backend_api.previews.ports import AppRequest, Headers
from backend_api.previews.tool_api.port_tunnels import SENT_BYTES, WRITE_S, PortStream, PortTunnels
from backend_api.sandboxes.domain.entity import Sandbox
from backend_api.sandboxes.tool_api.sockets import BoundedConnection
from service_kit.amounts import duration_text

HEAD_S = 300.0
"""Seconds from the whole request to the head of the answer: people wait for slow apps, but not for ever."""
MAX_HEAD_BYTES = 128 * 1024
"""The most bytes before the body, informational answers (1xx) included."""
MAX_HEADERS = 200
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
MAX_WAITING_MESSAGES = 1
"""The queue of received messages. With the one arriving and the one being sent, a socket holds four of them."""
OPEN_S = 30.0
CLOSE_S = 2.0
_LIBRARY_FAULTS = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
_WITHOUT_BODY = (204, 304)
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class StreamedAppAnswer:
    """An answer of a program whose head has arrived."""

    def __init__(self, response: httpcore.Response, stream: PortStream, port: int) -> None:
        self._response = response
        self._stream = stream
        self._port = port
        self.status = response.status
        self.headers = _framing_headers(response)

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_stream():
                yield piece
        except _LIBRARY_FAULTS as error:
            raise self._stream.fault(str(error) or "the connection was cut off", self._port) from error


def _can_be_passed_on(response: httpcore.Response) -> bool:
    """Whether our server can send this answer: the library accepts more than is valid there."""
    is_clean = not any(_CONTROLS.search(value) for _, value in response.headers)
    return is_clean and 200 <= response.status < 600 and len(response.headers) <= MAX_HEADERS


def _framing_headers(response: httpcore.Response) -> Headers:
    """Headers with names in lower case, without a Content-Length that does not describe the body."""
    headers = [(name.lower(), value) for name, value in response.headers]
    is_chunked = any(name == b"transfer-encoding" for name, _ in headers)
    if is_chunked or response.status in _WITHOUT_BODY:
        return [(name, value) for name, value in headers if name != b"content-length"]
    return headers


class AppWebSocket:
    """A WebSocket of a program."""

    def __init__(self, connection: BoundedConnection) -> None:
        self._connection = connection
        self.subprotocol: str | None = connection.subprotocol

    async def send(self, message: str | bytes) -> None:
        try:
            async with asyncio.timeout(WRITE_S):
                await self._connection.send(message)
        except (ConnectionClosed, TimeoutError) as error:
            raise AppFailedError("The app accepts no more messages.") from error

    async def messages(self) -> AsyncIterator[str | bytes]:
        with suppress(ConnectionClosed):
            while True:
                yield await self._connection.recv()

    @property
    def end(self) -> tuple[int, str]:
        return self._connection.close_code or 1006, self._connection.close_reason or ""


class _Connect(connect):
    """Follows no redirect."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


@dataclass(frozen=True, slots=True)
class ToolApiSandboxApps:
    """Connects over tunnels, one for each request or socket."""

    tunnels: PortTunnels
    head_s: float = HEAD_S

    @asynccontextmanager
    async def ask(self, sandbox: Sandbox, port: int, request: AppRequest) -> AsyncGenerator[StreamedAppAnswer]:
        async with self.tunnels.open(sandbox, port) as stream:
            origin = httpcore.Origin(b"http", b"localhost", port)
            connection = httpcore.AsyncHTTP11Connection(origin=origin, stream=stream)
            try:
                response = await self._head(connection, stream, port, request)
            except _LIBRARY_FAULTS as error:
                raise stream.fault(str(error) or type(error).__name__, port) from error
            try:
                yield StreamedAppAnswer(response, stream, port)
            finally:
                await response.aclose()

    async def _head(
        self, connection: httpcore.AsyncHTTP11Connection, stream: PortStream, port: int, request: AppRequest
    ) -> httpcore.Response:
        stream.may_read = MAX_HEAD_BYTES
        deadline = asyncio.timeout(None if request.body is not None else self.head_s)

        async def body() -> AsyncIterator[bytes]:
            if request.body is not None:
                async for piece in request.body:
                    yield piece
                deadline.reschedule(asyncio.get_running_loop().time() + self.head_s)

        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=b"http", host=b"localhost", port=port, target=request.target),
            headers=[*request.headers, (b"connection", b"close")],
            content=body(),
            extensions={"timeout": {"write": WRITE_S}},
        )
        try:
            async with deadline:
                response = await connection.handle_async_request(asked)
        except TimeoutError as error:
            raise AppFailedError(
                f"The app at port {port} did not answer within {duration_text(self.head_s)}."
            ) from error
        stream.may_read = None
        if not _can_be_passed_on(response):
            await response.aclose()
            raise stream.fault("its response headers are invalid", port)
        return response

    @asynccontextmanager
    async def connect(
        self, sandbox: Sandbox, port: int, request: AppRequest, subprotocols: Sequence[str]
    ) -> AsyncGenerator[AppWebSocket]:
        async with AsyncExitStack() as stack:
            stream = await stack.enter_async_context(self.tunnels.open(sandbox, port))
            end = await stack.enter_async_context(_socket_over(stream))
            target = request.target.decode("ascii", "replace")
            try:
                connection = await _Connect(
                    f"ws://localhost:{port}{target}",
                    sock=end,
                    additional_headers=[
                        (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers
                    ],
                    subprotocols=[Subprotocol(one) for one in subprotocols] or None,
                    compression=None,
                    proxy=None,
                    user_agent_header=None,
                    max_size=MAX_MESSAGE_BYTES,
                    max_queue=MAX_WAITING_MESSAGES,
                    open_timeout=min(OPEN_S, self.head_s),
                    close_timeout=CLOSE_S,
                    ping_interval=None,
                    create_connection=BoundedConnection,
                )
            except InvalidStatus as error:
                said = f"it responded with {error.response.status_code} instead of opening a WebSocket"
                raise stream.fault(said, port) from error
            except (OSError, ValueError, WebSocketException, TimeoutError) as error:
                # A target that is no path makes no valid address.
                raise stream.fault(str(error) or "it did not open a WebSocket", port) from error
            stack.push_async_callback(connection.close)
            yield AppWebSocket(cast("BoundedConnection", connection))


@asynccontextmanager
async def _socket_over(stream: PortStream) -> AsyncGenerator[socket.socket]:
    """A socket whose bytes are those of the stream, for libraries that need a socket."""
    end, inner = socket.socketpair()
    inner.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=inner, limit=SENT_BYTES)
    tasks = [asyncio.create_task(_pump_down(stream, writer)), asyncio.create_task(_pump_up(stream, reader))]
    try:
        yield end
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        writer.transport.abort()
        end.close()


async def _pump_down(stream: PortStream, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, *_LIBRARY_FAULTS):
        while piece := await stream.read(SENT_BYTES):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _pump_up(stream: PortStream, reader: asyncio.StreamReader) -> None:
    with suppress(OSError, *_LIBRARY_FAULTS):
        while piece := await reader.read(SENT_BYTES):
            await stream.write(piece)
