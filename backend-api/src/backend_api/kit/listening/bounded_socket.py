"""WebSockets from unknown peers: only small frames until the application trusts the peer, and never many control
frames.

The server's own protocol reads whole frames of any kind as they come, and answers every ping even if nobody reads the
answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import uvicorn
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame

from backend_api.kit.http.close_codes import RESTART
from backend_api.kit.http.trust import TRUST
from service_kit.listening.http import Config
from service_kit.listening.peers import Close

UNTRUSTED_BYTES = 32 * 1024
"""The largest frame of a peer that has not logged in."""
UNTRUSTED_S = 20.0
"""Seconds in which a peer must have logged in, whatever the application waits for."""
UNTRUSTED_CLOSE_S = 2.0
"""Seconds such a peer may take to confirm a close."""
SHUTDOWN_S = 1.0
"""Seconds a peer may take to confirm a close when the server shuts down."""
SLICE_BYTES = 4 * 1024
ODD_FRAMES = 256
"""The most pings, pongs and fragments in each window of time; fewer for a peer that has not logged in."""
UNTRUSTED_ODD_FRAMES = 8
ODD_WINDOW_S = 10.0
_POLICY = 1008


class BoundedSocket(WebSocketsSansIOProtocol):
    """The server's WebSocket protocol with limits."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.peers = cast("Config", config).peers
        self.conn.max_message_size = min(UNTRUSTED_BYTES, config.ws_max_size)
        self._is_trusted = False
        self._since = self._window_since = self.loop.time()
        self._odd = 0
        self._late = 0
        self._close = Close()
        self._held = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.peers.admit(self, self.client[0] if self.client else "")

    def connection_lost(self, exc: Exception | None) -> None:
        self.peers.release(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.close_sent:
            self._late += len(data)
            if self._late > 2 * (self.conn.max_message_size or 0):
                self.transport.abort()
                return
        self._held += data
        self._feed()

    async def send(self, message: ASGISendEvent) -> None:
        if message["type"] == "websocket.close" and not self._is_trusted:
            self.close_timeout = UNTRUSTED_CLOSE_S
        await super().send(message)
        if self.close_sent:
            self._feed()

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        self._feed()
        return message

    def _feed(self) -> None:
        """Feeds the parser one slice at a time: all frames in one are parsed before any is handled, and none is parsed
        while one waits."""
        while self._held and not self.read_paused:
            if self.transport.is_closing() or self.conn.parser_exc is not None:
                self._held.clear()
                return
            piece = bytes(self._held[:SLICE_BYTES])
            del self._held[:SLICE_BYTES]
            super().data_received(piece)

    def shutdown(self) -> None:
        """Sends 1012 and waits a moment for the peer's own close frame.

        If a connection is closed at once while data still arrives, it is reset, and the peer never reads the 1012.
        """
        if self.close_sent or not self.handshake_complete or self.transport.is_closing():
            super().shutdown()
            return
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": RESTART})
        self.conn.send_close(RESTART)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_timer = self.loop.call_later(SHUTDOWN_S, self.transport.close)

    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):
            cast("dict[str, Any]", self.scope)["extensions"][TRUST] = {"trust": self._trust}

    def handle_cont(self, event: Frame) -> None:
        if self._may_odd():
            super().handle_cont(event)

    def handle_ping(self) -> None:
        if not self._may_odd():
            return
        if self.writable.is_set():
            super().handle_ping()
        else:
            # A peer that reads nothing gets no pongs either.
            self.conn.data_to_send()

    def handle_pong(self, event: Frame) -> None:
        if self._may_odd():
            super().handle_pong(event)

    @property
    def is_pending(self) -> bool:
        return not self._is_trusted or not self.writable.is_set()

    @property
    def is_anonymous(self) -> bool:
        return not self._is_trusted

    def cut(self) -> None:
        self.transport.abort()

    def look(self, now: float) -> None:
        if self._close.is_late(self.transport, now) or (not self._is_trusted and now - self._since > UNTRUSTED_S):
            self.transport.abort()

    def _trust(self) -> None:
        self._is_trusted = True
        self.conn.max_message_size = self.config.ws_max_size

    def _may_odd(self) -> bool:
        now = self.loop.time()
        if now - self._window_since > ODD_WINDOW_S:
            self._window_since, self._odd = now, 0
        self._odd += 1
        is_fine = self._odd <= (ODD_FRAMES if self._is_trusted else UNTRUSTED_ODD_FRAMES)
        if not is_fine:
            self._end()
        return is_fine

    def _end(self) -> None:
        """Closes the connection for too many frames; the rest of the data is ignored."""
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(_POLICY, "too many frames")
        self.handle_parser_exception()
