"""Server-sent events of a session: batched frames, a heartbeat, and an end for readers that don't read."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, closing, suppress
from typing import TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from backend_api.agent.events import Event
from backend_api.conversations.application.event_json import event_json
from backend_api.identity.application.connection_auth import ConnectionAuth
from backend_api.kit import measures
from backend_api.kit.errors import DomainError, SlowReaderError
from service_kit.wait_limit import WaitLimit

logger = logging.getLogger(__name__)

SEND_DEADLINE_S = 35.0
LAST_DEADLINE_S = 1.0
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_Item = TypeVar("_Item")


def event_frame(event: Event) -> bytes:
    """One frame; only stored events have an id."""
    identifier = b"id: %d\n" % event.seq if event.seq is not None else b""
    return b"%bevent: %b\ndata: %b\n\n" % (identifier, event.payload.type.encode(), event_json(event))


class EventStream(Response):
    """Streams items until they end, the client leaves or stops reading, or its log-in or the gateway ends.

    Its slot is claimed before the response starts, so that exceeding the limit is reported as a problem.
    """

    def __init__(
        self,
        items: AsyncGenerator[_Item | None],
        render: Callable[[_Item], bytes],
        *,
        slot: AbstractContextManager[ConnectionAuth],
        heartbeat_s: float,
    ) -> None:
        super().__init__(headers=_HEADERS, media_type="text/event-stream")
        del self.headers["content-length"]
        self._slot = slot
        self._frames = _frames(items, render, heartbeat_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._slot as auth:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            streaming = asyncio.create_task(self._stream(send))
            leaving = asyncio.create_task(wait_for_disconnect(receive))
            try:
                await asyncio.wait({streaming, leaving, auth.ended}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                streaming.cancel()
                leaving.cancel()
                results = await asyncio.gather(streaming, leaving, return_exceptions=True)
                await self._frames.aclose()
            for result in results:
                if isinstance(result, Exception):
                    raise result
            if isinstance(results[0], asyncio.CancelledError) and auth.ended.done():
                await _last(send)

    async def _stream(self, send: Send) -> None:
        try:
            with closing(WaitLimit(SEND_DEADLINE_S)) as sending:
                async for frame in self._frames:
                    with sending:
                        await send({"type": "http.response.body", "body": frame, "more_body": True})
            await _last(send)
        except TimeoutError:
            # The server cuts the connection of a reader that reads nothing.
            logger.info("slow reader disconnected")
        except SlowReaderError as error:
            measures.SLOW_READERS.labels("sse").inc()
            logger.info("slow reader disconnected", extra={"code": error.code})
            await _last(send)
        except DomainError as error:
            logger.info("stream ended", extra={"code": error.code})
            await _last(send)


async def _last(send: Send) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_DEADLINE_S):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _frames(
    items: AsyncGenerator[_Item | None], render: Callable[[_Item], bytes], heartbeat_s: float
) -> AsyncGenerator[bytes]:
    last = time.monotonic()
    yield b": follows\n\n"
    try:
        async for item in items:
            if item is not None:
                last = time.monotonic()
                yield render(item)
            elif time.monotonic() - last >= heartbeat_s:
                last = time.monotonic()
                yield b": heartbeat\n\n"
    finally:
        await items.aclose()


async def wait_for_disconnect(receive: Receive) -> None:
    """Returns when the client has left; to be called only once its whole body was read."""
    while (await receive())["type"] != "http.disconnect":
        pass
