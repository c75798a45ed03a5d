"""A TCP proxy on loopback that cuts every connection when told to: the network a phone has. Or lets nothing through."""

from __future__ import annotations

import asyncio
import contextlib


class FlakyProxy:
    """Forwards `127.0.0.1:port` to a target, a host and port or the path of a socket; `cut` resets all open
    connections, and new ones are accepted again. Between `freeze` and `thaw` nothing passes and nothing is lost.

    What a client sends with `tripwire` in it does the same, `trips` times, and goes nowhere.
    """

    def __init__(self, target_host: str, target_port: int = 0) -> None:
        self._target = (target_host, target_port)
        self._flows = asyncio.Event()
        self._flows.set()
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

    def freeze(self) -> None:
        """Connections are taken and nobody answers."""
        self._flows.clear()

    def thaw(self) -> None:
        """What waited goes on."""
        self._flows.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            host, port = self._target
            opening = asyncio.open_connection(host, port) if port else asyncio.open_unix_connection(host)
            up_reader, up_writer = await opening
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
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.write_eof()
