"""A network in the way of TCP connections, which a test cuts and mends: what is cut is silent, and closes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

PIECE = 64 * 1024


class Relay:
    """Passes bytes on both ways while it is not `cut`."""

    def __init__(self, target_port: int) -> None:
        self.port = 0
        self._target_port = target_port
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_open = asyncio.Event()
        self._is_open.set()

    def cut(self) -> None:
        """Nothing comes through any more."""
        self._is_open.clear()

    def mend(self) -> None:
        """For connections that are new; those of before are lost."""
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        self._is_open.set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._is_open.wait()
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        self._writers |= {writer, far_writer}
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.create_task(self._pass(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            while data := await source.read(PIECE):
                await self._is_open.wait()
                sink.write(data)
                await sink.drain()
        sink.close()

    async def close(self) -> None:
        self.mend()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def relay_to(port: int) -> AsyncGenerator[Relay]:
    relay = Relay(port)
    server = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        await relay.close()
