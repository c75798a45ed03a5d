"""The socket the sandbox manager sees."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncGenerator, Coroutine
from pathlib import Path
from typing import Any

from engine_filter.calls import plan_of
from engine_filter.engine import answer_of
from engine_filter.handling import Plan
from engine_filter.policy import Policy
from engine_filter.refusals import AnsweredError, Refused
from engine_filter.strict_json import dumps
from engine_filter.wire import PIECE_BYTES, Exchange, Order, Pair, Reply, close, read_request

_log = logging.getLogger(__name__)

MAX_CONNECTIONS = 256
REQUEST_S = 10.0
ANSWER_S = 600.0
"""Time limit in seconds of calls that end by themselves."""


class Filter:
    """Serves one request a connection; if the caller leaves, the engine's part ends with it."""

    def __init__(
        self, policy: Policy, engine_socket: str, *, request_s: float = REQUEST_S, most: int = MAX_CONNECTIONS
    ) -> None:
        """A request must be there in whole within `request_s`; `most` connections may be open at once."""
        self._policy, self._socket = policy, engine_socket
        self._request_s, self._most = request_s, most
        self._open: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self, path: Path) -> AsyncGenerator[None]:
        """Takes calls for the length of the block."""
        path.parent.mkdir(parents=True, exist_ok=True)
        before = os.umask(0o177)
        try:
            server = await asyncio.start_unix_server(self._serve, path)
        finally:
            os.umask(before)
        try:
            yield
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._most:
            writer.transport.abort()
            return
        self._open.add(task)
        try:
            await self._answer((reader, writer))
        except (OSError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._open.discard(task)
            await close(writer)

    async def _answer(self, client: Pair) -> None:
        reader, writer = client
        reply, asked = Reply(writer), "?"
        try:
            async with asyncio.timeout(self._request_s):
                request = await read_request(reader)
            asked = f"{request.method} {request.target[:200]}"
            await self._act(plan_of(request, self._socket, self._policy), client, reply)
        except AnsweredError as error:
            await reply.send(error.status, error.body)
        except Refused as error:
            if error.status < 500:
                _log.warning("call refused", extra={"call": asked, "reason": str(error)})
            if not reply.has_begun:
                await reply.refused(str(error), error.status)
        except (OSError, TimeoutError):
            raise
        except Exception:  # noqa: BLE001 - whatever went wrong, the answer is no
            _log.exception("call failed", extra={"call": asked})
            if not reply.has_begun:
                await reply.refused("engine filter: it failed", 500)

    async def _act(self, planned: Coroutine[Any, Any, Plan], client: Pair, reply: Reply) -> None:
        plan = await _or_disconnected(planned, client[0])
        if plan.order is None:
            await reply.send(200, dumps(plan.known))
        elif plan.shown is not None:
            found = await _or_disconnected(answer_of(self._socket, plan.order), client[0])
            await reply.send(200, dumps(plan.shown(found)))
        elif plan.order.upgrades:
            await self._stream(plan.order, client, reply)
        else:
            passing = self._pass_on(plan.order, reply)
            await _or_disconnected(asyncio.wait_for(passing, ANSWER_S) if plan.has_end else passing, client[0])

    async def _pass_on(self, order: Order, reply: Reply) -> None:
        exchange = await Exchange.begin(self._socket, order)
        try:
            await reply.begin(exchange.status, exchange.content_type)
            async for piece in exchange.pieces():
                await reply.piece(piece)
            await reply.end()
        finally:
            await exchange.close()

    async def _stream(self, order: Order, client: Pair, reply: Reply) -> None:
        exchange = await _or_disconnected(Exchange.begin(self._socket, order), client[0])
        try:
            if exchange.status != 101:
                await reply.send(exchange.status, await exchange.whole())
                return
            await reply.switched(exchange.content_type)
            client[1].write(exchange.early_bytes())
            await _run_until_first(_copy(client[0], exchange.writer), _copy(exchange.reader, client[1]))
        finally:
            await exchange.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(PIECE_BYTES):
        writer.write(data)
        await writer.drain()


async def _run_until_first(*parts: Coroutine[Any, Any, None]) -> None:
    """Run the parts until one of them ends."""
    tasks = [asyncio.ensure_future(one) for one in parts]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _or_disconnected(work: Coroutine[Any, Any, Any], reader: asyncio.StreamReader) -> Any:
    """The result of the work. `ConnectionError` if the caller disconnects first, or sends more than its request."""
    task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ConnectionAbortedError("left before the answer")
        return await task
    finally:
        for one in (task, leaving):
            one.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)
