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
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.frames import CloseCode

logger = logging.getLogger(__name__)

LARGEST_MESSAGE_BYTES = 64 * 1024 * 1024
Payload = dict[str, Any]
OnEvent = Callable[[str, Payload, str | None], None]


class CdpError(Exception):
    """Chrome refused a command."""


class CdpClosedError(CdpError):
    """The connection, or the tab, is gone."""


class CdpConnection:
    """Sends commands, and passes on answers and events. Made by `connected`."""

    def __init__(self, socket: ClientConnection, on_event: OnEvent) -> None:
        self._socket = socket
        self._on_event = on_event
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Payload]] = {}
        self._sessions: dict[int, str] = {}
        self.closed = False
        self.was_overrun = False
        """Whether it ended because Chrome sent a message above the agreed size."""

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
            message["sessionId"] = self._sessions[number] = session
        try:
            async with asyncio.timeout(timeout_s):
                await self._socket.send(json.dumps(message))
                return await answer
        except WebSocketException as error:
            raise CdpClosedError("the connection to the browser is closed") from error
        finally:
            self._waiting.pop(number, None)
            self._sessions.pop(number, None)

    def _forget(self, session: str) -> None:
        """Forget a tab that is gone: its pending commands will never be answered."""
        for number, asked in self._sessions.items():
            if asked == session and not self._waiting[number].done():
                self._waiting[number].set_exception(CdpClosedError("the tab is closed"))

    async def listen(self) -> None:
        """Dispatch answers and events until the connection ends."""
        try:
            async for raw in self._socket:
                self._handle(cast("Payload", json.loads(raw)))
        except WebSocketException as error:
            sent = error.sent if isinstance(error, ConnectionClosed) else None
            self.was_overrun = sent is not None and sent.code == CloseCode.MESSAGE_TOO_BIG
            logger.info("connection to the browser ended")
        finally:
            self.closed = True
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(CdpClosedError("the connection to the browser is closed"))

    def _handle(self, message: Payload) -> None:
        if (number := message.get("id")) is None:
            if message["method"] == "Target.detachedFromTarget":
                self._forget(str(message.get("params", {}).get("sessionId")))
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
async def connected(
    address: str, on_event: OnEvent, largest_bytes: int = LARGEST_MESSAGE_BYTES, open_timeout_s: float = 5.0
) -> AsyncGenerator[CdpConnection]:
    """A connection for as long as the block lasts. Raises `CdpClosedError` if none can be made."""
    try:
        socket = await connect(
            address,
            max_size=largest_bytes,
            compression=None,
            ping_interval=None,
            proxy=None,
            open_timeout=open_timeout_s,
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
