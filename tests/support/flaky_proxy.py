"""A TCP proxy on loopback that cuts every connection when told to: the network a phone has."""

from __future__ import annotations

import asyncio
import contextlib


class FlakyProxy:
    """Forwards `127.0.0.1:port` to a target; `cut` resets all open connections, and new ones are accepted again.

    What a client sends with `tripwire` in it does the same, `trips` times, and goes nowhere.
    """

    def __init__(self, target_host: str, target_port: int) -> None:
        self._target = (target_host, target_port)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cuts = 0
        self.tripwire = b""
        self.trips = 0

    async def __aenter__(self) -> FlakyProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Reset every open connection."""
        self.cuts += 1
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            up_reader, up_writer = await asyncio.open_connection(*self._target)
            self._writers |= {writer, up_writer}
            try:
                await asyncio.gather(self._pump(reader, up_writer, may_trip=True), self._pump(up_reader, writer))
            finally:
                for side in (writer, up_writer):
                    self._writers.discard(side)
                    side.transport.abort()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, may_trip: bool = False
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if may_trip and self.trips and self.tripwire in data:
                    self.trips -= 1
                    self.cut()
                    return
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.write_eof()
