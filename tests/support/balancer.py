"""What stands before several services of a kind: a TCP proxy on loopback that goes on to whichever answers."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Sequence


class Balancer:
    """Each connection goes to a target chosen at random among those that accept it; with the target it ends."""

    def __init__(self, ports: Sequence[int], chance: random.Random) -> None:
        self._ports = ports
        self._chance = chance
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Balancer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        up: asyncio.StreamWriter | None = None
        try:
            up_reader, up = await self._connect()
            await asyncio.gather(_pump(reader, up), _pump(up_reader, writer))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for side in (writer, up):
                if side is not None:
                    side.transport.abort()
            self._tasks.discard(task)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ports = self._chance.sample(self._ports, len(self._ports))
        if not ports:
            raise ConnectionRefusedError
        for port in ports[:-1]:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", port)
        return await asyncio.open_connection("127.0.0.1", ports[-1])


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
