"""A thin client of Chrome's control protocol: one WebSocket, one session a tab.

A driver process of a browser library costs 118 MB and 1.5 s a sandbox (measured); this costs a connection.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

logger = logging.getLogger(__name__)

LARGEST_MESSAGE_BYTES = 64 * 1024 * 1024
Payload = dict[str, Any]
OnEvent = Callable[[str, Payload, str | None], None]


class CdpError(Exception):
    """Chrome refused a command."""


class CdpClosedError(CdpError):
    """The connection, or the tab, is gone."""


class CdpConnection:
    """Commands out, answers and events in. Made by `connected`."""

    def __init__(self, socket: ClientConnection, on_event: OnEvent) -> None:
        self._socket = socket
        self._on_event = on_event
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Payload]] = {}
        self.closed = False

    async def send(
        self, method: str, parameters: Payload | None = None, *, session: str | None = None, timeout_s: float = 10.0
    ) -> Payload:
        """The result of a command.

        Raises `CdpError` where Chrome refuses it, `CdpClosedError` where the connection ends first, `TimeoutError`
        where no answer comes in time.
        """
        if self.closed:
            raise CdpClosedError("the connection to the browser is closed")
        number = next(self._numbers)
        answer: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        message: Payload = {"id": number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = session
        try:
            async with asyncio.timeout(timeout_s):
                await self._socket.send(json.dumps(message))
                return await answer
        except WebSocketException as error:
            raise CdpClosedError("the connection to the browser is closed") from error
        finally:
            self._waiting.pop(number, None)

    async def listen(self) -> None:
        """Hand out answers and events until the connection ends."""
        try:
            async for raw in self._socket:
                self._take(cast("Payload", json.loads(raw)))
        except WebSocketException:
            logger.info("connection to the browser ended")
        finally:
            self.closed = True
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(CdpClosedError("the connection to the browser is closed"))

    def _take(self, message: Payload) -> None:
        if (number := message.get("id")) is None:
            self._on_event(message["method"], message.get("params", {}), message.get("sessionId"))
            return
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return
        if (error := message.get("error")) is not None:
            text = str(error.get("message", "refused"))
            gone = "session with given id not found" in text.lower()
            answer.set_exception(CdpClosedError(text) if gone else CdpError(text))
        else:
            answer.set_result(message.get("result", {}))


@asynccontextmanager
async def connected(address: str, on_event: OnEvent) -> AsyncGenerator[CdpConnection]:
    """A connection for as long as the block lasts. Raises `CdpClosedError` where none can be had."""
    try:
        socket = await connect(
            address, max_size=LARGEST_MESSAGE_BYTES, compression=None, ping_interval=None, proxy=None, open_timeout=5
        )
    except (OSError, TimeoutError, WebSocketException) as error:
        raise CdpClosedError("the browser does not answer") from error
    connection = CdpConnection(socket, on_event)
    listener = asyncio.create_task(connection.listen(), name="browser connection")
    try:
        yield connection
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)
        await socket.close()
