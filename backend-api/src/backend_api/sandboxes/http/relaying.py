"""A socket of a browser that is relayed to a sandbox: both ways until one ends, while the sandbox is in use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from backend_api.kit import measures
from backend_api.kit.errors import UnauthenticatedError, UnavailableError
from backend_api.kit.http.close_codes import TOO_SLOW, end_code
from backend_api.sandboxes.ports import Sandboxes

logger = logging.getLogger(__name__)

KEEP_ALIVE_S = 30.0
Relay = Coroutine[Any, Any, int | None]


async def relay_until_end(*relays: Relay, ended: asyncio.Future[UnauthenticatedError | None], shown: str) -> int:
    """The close code: that of the first relay that ends with one, of the end of the log-in, or of a reader of what is
    `shown` that was too slow. Raises what a relay raises."""
    tasks = {asyncio.create_task(relay) for relay in relays}
    try:
        await asyncio.wait({*tasks, ended}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, TimeoutError):
            measures.SLOW_READERS.labels(shown).inc()
            return TOO_SLOW
        if isinstance(result, Exception):
            raise result
    codes = [result for result in results if isinstance(result, int)]
    return end_code(ended) if ended.done() else max(codes, default=1000)


async def keep_alive(sandboxes: Sandboxes, session_id: str) -> None:
    """Report the use of a sandbox, until cancelled."""
    while True:
        try:
            await sandboxes.keep_alive(session_id)
        except UnavailableError:
            logger.warning("activity not reported", extra={"session_id": session_id})
        await asyncio.sleep(KEEP_ALIVE_S)


async def close_socket(socket: WebSocket, code: int) -> None:
    """Close it, unless it was closed before."""
    try:
        await socket.close(code)
    except (RuntimeError, WebSocketDisconnect):
        logger.debug("socket was closed before")
