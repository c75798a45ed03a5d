"""The protocols of a gateway. A connection whose peer does not read is cut: buffers are limited in size and time.

The server pauses a response while more than `WAITING_BYTES` are buffered; only the connection itself knows how long
that lasts, and only it can be ended without waiting for the peer.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, ClassVar, cast

from backend_api.kit import measures
from backend_api.kit.http.trust import TRUST
from backend_api.kit.listening.bounded_socket import BoundedSocket
from service_kit.listening.http import BoundedHttpProtocol

logger = logging.getLogger(__name__)

WRITE_TIMEOUT_S = 30.0
WAITING_BYTES = 64 * 1024


class WriteTimeout:
    """Ends a connection that could not be written to for a while."""

    __slots__ = ("_timer", "_transport", "_transport_kind", "seconds")

    def __init__(self, transport: asyncio.BaseTransport, kind: str, seconds: float) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport_kind = kind
        self._timer: asyncio.TimerHandle | None = None
        self.seconds = seconds
        self._transport.set_write_buffer_limits(high=WAITING_BYTES)

    def begin(self) -> None:
        self.end()
        self._timer = asyncio.get_running_loop().call_later(self.seconds, self._cut_off)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut_off(self) -> None:
        logger.info("connection of a slow reader closed", extra={"transport": self._transport_kind})
        measures.SLOW_READERS.labels(self._transport_kind).inc()
        self._transport.abort()


class WithWriteTimeout(asyncio.Protocol):
    """A layer over the server's own protocol, to which it passes everything on."""

    kind: ClassVar[str]
    write_timeout_s: ClassVar[float] = WRITE_TIMEOUT_S
    _write_timeout: WriteTimeout

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write_timeout = WriteTimeout(transport, self.kind, self.write_timeout_s)
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._write_timeout.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._write_timeout.begin()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._write_timeout.end()
        super().resume_writing()


class HttpProtocol(WithWriteTimeout, BoundedHttpProtocol):
    """HTTP with a write timeout; a peer that has logged in over a connection is no longer anonymous on it."""

    kind = "http"
    _is_trusted = False

    def on_message_begin(self) -> None:
        super().on_message_begin()
        cast("dict[str, Any]", self.scope)["extensions"] = {TRUST: {"trust": self._trust}}

    @property
    def is_anonymous(self) -> bool:
        return not self._is_trusted

    def _trust(self) -> None:
        self._is_trusted = True


class WebSocketProtocol(WithWriteTimeout, BoundedSocket):
    """A socket with a write timeout."""

    kind = "ws"
