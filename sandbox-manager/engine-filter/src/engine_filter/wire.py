"""HTTP at both sides, each parsed once by h11. A connection carries one request; nothing of a head is passed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from http.client import responses

import h11

from engine_filter.refusals import Refused
from engine_filter.strict_json import dumps

MAX_HEAD_BYTES = 16 * 1024
MAX_BODY_BYTES = 256 * 1024
MAX_ANSWER_BYTES = 32 * 1024 * 1024
PIECE_BYTES = 64 * 1024
CONNECT_S = 5.0
STALLED_S = 60.0
JSON_TYPE = b"application/json"
_WITHOUT_BODY = (204, 304)

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Request:
    """An incoming request. `upgrades` if the connection is to become a stream of bytes."""

    method: str
    target: str
    body: bytes
    upgrades: bool


@dataclass(frozen=True, slots=True)
class Order:
    """A request to the engine."""

    method: str
    target: str
    body: bytes | None = None
    upgrades: bool = False


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Raises `Refused`, `ConnectionError` where nothing came."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
    try:
        return await _read_request(connection, reader)
    except h11.RemoteProtocolError as error:
        raise Refused(str(error), error.error_status_hint or 400) from error


async def _read_request(connection: h11.Connection, reader: asyncio.StreamReader) -> Request:
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if connection.they_are_waiting_for_100_continue:
                raise Refused("Expect is not understood", 417)
            data = await reader.read(PIECE_BYTES)
            if not data and head is None and connection.trailing_data == (b"", False):
                raise ConnectionResetError("nothing was asked")
            connection.receive_data(data)
        elif isinstance(event, h11.Request):
            head = event
            _refuse_unclear(event)
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_BODY_BYTES:
                raise Refused(f"a body may have {MAX_BODY_BYTES} bytes", 413)
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            target = head.target.decode("ascii", "strict")
            return Request(head.method.decode(), target, bytes(body), _header(head, b"upgrade") == b"tcp")
        else:
            raise Refused("no request", 400)


def _refuse_unclear(head: h11.Request) -> None:
    """Refuse a head that two readers could understand differently."""
    names = [name for name, _ in head.headers]
    if head.http_version != b"1.1":
        raise Refused("only HTTP/1.1 is spoken", 505)
    if b"transfer-encoding" in names and b"content-length" in names:
        raise Refused("two lengths of one body", 400)
    if any(names.count(name) > 1 for name in (b"host", b"transfer-encoding", b"content-length", b"upgrade")):
        raise Refused("a header is there twice", 400)


def _header(head: h11.Request, name: bytes) -> bytes:
    return next((value for one, value in head.headers if one == name), b"").lower()


class Exchange:
    """One call at the engine, over a connection of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES * 4)
        self.status = 0
        self.content_type = b""

    @classmethod
    async def begin(cls, socket: str, order: Order) -> Exchange:
        """Sends it and reads the head of the answer. Raises `Refused` where the engine does not answer."""
        try:
            async with asyncio.timeout(CONNECT_S):
                exchange = cls(*await asyncio.open_unix_connection(socket))
        except OSError as error:
            raise Refused("the engine can't be reached", 503) from error
        try:
            await exchange._send(order)
            await exchange._head()
        except (OSError, h11.RemoteProtocolError) as error:
            await exchange.close()
            raise Refused("the engine ended the call", 502) from error
        except BaseException:
            await exchange.close()
            raise
        return exchange

    async def _send(self, order: Order) -> None:
        upgrade = [("Connection", "Upgrade"), ("Upgrade", "tcp")] if order.upgrades else [("Connection", "close")]
        body = order.body or b""
        has_body = order.body is not None
        content = [("Content-Type", "application/json")] if has_body else []
        length = [("Content-Length", str(len(body)))] if has_body or order.method == "POST" else []
        head = h11.Request(
            method=order.method, target=order.target, headers=[("Host", "engine"), *upgrade, *content, *length]
        )
        sent = [self._connection.send(head), self._connection.send(h11.Data(data=body)) if body else b""]
        self.writer.write(b"".join(one or b"" for one in [*sent, self._connection.send(h11.EndOfMessage())]))
        await self.writer.drain()

    async def _head(self) -> None:
        while True:
            event = await self._event()
            if isinstance(event, h11.InformationalResponse) and event.status_code != 101:
                continue
            if not isinstance(event, h11.Response | h11.InformationalResponse):
                raise ConnectionError("no answer")
            self.status = event.status_code
            self.content_type = next((value for name, value in event.headers if name == b"content-type"), b"")
            return

    async def _event(self) -> object:
        while True:
            event = self._connection.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._connection.receive_data(await self.reader.read(PIECE_BYTES))

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The answer's body as it comes. Raises `Refused` where it breaks off."""
        try:
            while isinstance(event := await self._event(), h11.Data):
                yield bytes(event.data)
        except (OSError, h11.RemoteProtocolError) as error:
            raise Refused("the engine broke off its answer", 502) from error

    async def whole(self) -> bytes:
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            if len(body) > MAX_ANSWER_BYTES:
                raise Refused("the engine's answer is too long", 502)
        return bytes(body)

    def early_bytes(self) -> bytes:
        """Bytes of the upgraded stream that arrived with the head."""
        return self._connection.trailing_data[0]

    async def close(self) -> None:
        await close(self.writer)


class Reply:
    """The answer to one request. The connection ends with it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._in_chunks = False
        self.has_begun = False

    async def begin(self, status: int, content_type: bytes, length: int | None = None) -> None:
        """Begin an answer. One of unknown length is chunked, so that a truncated one is recognisable."""
        self.has_begun = True
        self._in_chunks = length is None and status not in _WITHOUT_BODY
        framing = b"Transfer-Encoding: chunked\r\n" if self._in_chunks else b"Content-Length: %d\r\n" % (length or 0)
        framing = b"" if status in _WITHOUT_BODY else framing
        await self._write(_head(status, content_type) + framing + b"Connection: close\r\n\r\n")

    async def piece(self, data: bytes) -> None:
        if data:
            await self._write(b"%x\r\n%s\r\n" % (len(data), data) if self._in_chunks else data)

    async def end(self) -> None:
        if self._in_chunks:
            await self._write(b"0\r\n\r\n")

    async def send(self, status: int, body: bytes, content_type: bytes = JSON_TYPE) -> None:
        """Send a whole answer."""
        await self.begin(status, content_type, len(body))
        await self.piece(b"" if status in _WITHOUT_BODY else body)

    async def refused(self, reason: str, status: int) -> None:
        await self.send(status, dumps({"message": reason}))

    async def switched(self, content_type: bytes) -> None:
        """Switch protocols: from here on the connection carries bytes."""
        self.has_begun = True
        await self._write(_head(101, content_type) + b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        async with asyncio.timeout(STALLED_S):
            await self._writer.drain()


def _head(status: int, content_type: bytes) -> bytes:
    kind = b"Content-Type: %s\r\n" % content_type if content_type else b""
    return b"HTTP/1.1 %d %s\r\n" % (status, responses.get(status, "").encode()) + kind


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        async with asyncio.timeout(1):
            await writer.wait_closed()
    except OSError:
        writer.transport.abort()
