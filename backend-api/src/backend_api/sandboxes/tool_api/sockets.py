"""WebSockets to the endpoints of sandboxes, behind which anything may answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.frames import Frame
from websockets.http11 import Request, Response

from backend_api.kit.context_headers import context_headers
from backend_api.sandboxes.tool_api.endpoints import SafeSocket
from contracts.sandboxes import EndpointToken

OPEN_DEADLINE_S = 10.0
CLOSE_DEADLINE_S = 2.0
MAX_WAITING_FRAMES = 8
SMALL_FRAME_BYTES = 512
SMALL_FRAMES_PER_S = 2_000
_BURST_FRAMES = 4 * SMALL_FRAMES_PER_S
_MAX_UNSENT_BYTES = 8 * 1024 * 1024
_SLICE_BYTES = 16 * 1024


class BoundedConnection(ClientConnection):
    """Closes if the other side sends more small frames than any use needs, or causes pongs that it does not read."""

    _frames_left = float(_BURST_FRAMES)
    _counted_at = 0.0
    refused: str | None = None

    def data_received(self, data: bytes) -> None:
        # In slices: a whole read of two-byte frames would block the event loop.
        for start in range(0, len(data), _SLICE_BYTES):
            if self.refused is None:
                super().data_received(data[start : start + _SLICE_BYTES])
                # Otherwise the other side could delay the close for as long as it likes.
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
    """Follows no redirect: a sandbox may answer with any address."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


@asynccontextmanager
async def open_socket(token: EndpointToken, path: str, **options: Any) -> AsyncGenerator[BoundedConnection]:
    """A connection that is closed at the end of the block. `options` are those of `websockets.connect`. Raises
    `SandboxUnavailableError`, and whatever `connect` does."""
    endpoint = token.endpoint
    socket = SafeSocket(endpoint.removeprefix("unix:")) if endpoint.startswith("unix:") else None
    given: dict[str, Any] = {
        "additional_headers": {"Authorization": f"Bearer {token.token}", **context_headers()},
        "max_queue": MAX_WAITING_FRAMES,
        "compression": None,
        "open_timeout": OPEN_DEADLINE_S,
        "close_timeout": CLOSE_DEADLINE_S,
        "create_connection": BoundedConnection,
        **options,
    }
    try:
        if socket is not None:
            opened = await _Connect(f"ws://endpoint{path}", unix=True, path=socket.path, **given)
        else:
            opened = await _Connect(endpoint.replace("http", "ws", 1) + path, proxy=None, **given)
    finally:
        if socket is not None:
            socket.close()
    try:
        yield cast("BoundedConnection", opened)
    finally:
        await _close(opened)


async def _close(connection: ClientConnection) -> None:
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await connection.close()
    finally:
        # Even if the task that closes it is cancelled meanwhile.
        connection.transport.abort()
