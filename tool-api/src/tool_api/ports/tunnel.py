"""Carry bytes between one WebSocket and a port of this sandbox, at the pace of the slower side."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass

from starlette.websockets import WebSocket, WebSocketDisconnect

from contracts.ports import MAX_FRAME_BYTES, CloseCode
from service_kit.leaving import leave
from tool_api.ports.rules import PortRules

logger = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024
LOOPBACK = ("127.0.0.1", "::1")
"""The only addresses that are connected to. Many development servers listen on the second alone."""
SMALL_BYTES = 512
_GATHER_S = 0.001
"""Seconds in which small pieces of output are joined into one frame: receivers handle only so many small frames."""
_FLUSH_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnelLimits:
    """Bounds of the tunnels; times in seconds. `idle_s` is how long no byte may pass in either direction."""

    connections_of_a_port: int = 64
    connections: int = 256
    connect_s: float = 5.0
    stalled_s: float = 30.0
    idle_s: float = 3600.0


class Tunnels:
    """The tunnels of one sandbox, counted for each port and together."""

    def __init__(self, rules: PortRules, limits: TunnelLimits) -> None:
        self._rules = rules
        self._limits = limits
        self._open: Counter[int] = Counter()

    async def serve(self, websocket: WebSocket, port: int) -> None:
        """Serve an accepted WebSocket until either side ends; it is closed with a `CloseCode` when this returns."""
        await _close(websocket, await self._serve(websocket, port), self._limits.stalled_s)

    async def _serve(self, websocket: WebSocket, port: int) -> CloseCode:
        if not self._rules.allow(port):
            return CloseCode.REFUSED_PORT
        if self._open[port] >= self._limits.connections_of_a_port or self._open.total() >= self._limits.connections:
            return CloseCode.TOO_MANY
        self._open[port] += 1
        try:
            connection = await _connect(port, self._limits.connect_s)
            return CloseCode.NOTHING_LISTENS if connection is None else await self._relay(websocket, *connection)
        finally:
            self._open[port] -= 1
            if not self._open[port]:
                del self._open[port]

    async def _relay(
        self, websocket: WebSocket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> CloseCode:
        try:
            return await _Tunnel(websocket, reader, writer, self._limits).carry_bytes()
        finally:
            await leave(writer, _FLUSH_S)


class _Tunnel:
    """One connection, with its limit of idle time."""

    def __init__(
        self, websocket: WebSocket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: TunnelLimits
    ) -> None:
        self._websocket = websocket
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._idle = asyncio.timeout(limits.idle_s)

    async def carry_bytes(self) -> CloseCode:
        try:
            async with self._idle:
                return await self._both_directions()
        except TimeoutError:
            return CloseCode.TOO_SLOW

    async def _both_directions(self) -> CloseCode:
        answers = asyncio.create_task(self._answers(), name="port answers")
        requests = asyncio.create_task(self._requests(), name="port requests")
        tasks = {answers, requests}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if answers in done:
                return answers.result()
            ended = requests.result()
            # A program that takes no more may have answered before; its answer still arrives.
            return await answers if ended is None else ended
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _answers(self) -> CloseCode:
        try:
            while chunk := await self._reader.read(CHUNK_BYTES):
                self._restart_idle()
                async with asyncio.timeout(self._limits.stalled_s):
                    await self._websocket.send_bytes(chunk)
                if len(chunk) < SMALL_BYTES:
                    await asyncio.sleep(_GATHER_S)
        except TimeoutError:
            return CloseCode.TOO_SLOW
        except (OSError, WebSocketDisconnect):
            return CloseCode.ENDED
        return CloseCode.ENDED

    async def _requests(self) -> CloseCode | None:
        """Send the viewer's bytes to the program; returns None when the program takes no more."""
        try:
            while True:
                message = await self._websocket.receive()
                if message["type"] == "websocket.disconnect":
                    return CloseCode.ENDED
                data: bytes | None = message.get("bytes")
                if data is None or len(data) > MAX_FRAME_BYTES:
                    return CloseCode.UNSUPPORTED
                self._restart_idle()
                self._writer.write(data)
                async with asyncio.timeout(self._limits.stalled_s):
                    await self._writer.drain()
        except TimeoutError:
            return CloseCode.TOO_SLOW
        except OSError:
            return None

    def _restart_idle(self) -> None:
        """Restart the idle time, as a byte passed; one that has run out stays so."""
        if not self._idle.expired():
            self._idle.reschedule(asyncio.get_running_loop().time() + self._limits.idle_s)


async def _connect(port: int, timeout_s: float) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    """A connection to this sandbox's own `port`; None where nothing accepts one."""
    for host in LOOPBACK:
        try:
            async with asyncio.timeout(timeout_s):
                return await asyncio.open_connection(host, port, limit=CHUNK_BYTES)
        except OSError as error:
            logger.debug("port refused the connection", extra={"port": port, "reason": str(error)})
    return None


async def _close(websocket: WebSocket, code: CloseCode, timeout_s: float) -> None:
    # The other side may have gone first.
    with suppress(RuntimeError, OSError, WebSocketDisconnect):
        async with asyncio.timeout(timeout_s):
            await websocket.close(code)
