"""An engine that holds what a test gave it and remembers every byte it was sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import h11

Json = dict[str, Any]


class ScriptedEngine:
    """Answers GETs by path, everything else with 200; what it was asked is in `asked`."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held
        self.asked: list[tuple[str, str, bytes]] = []
        self.open = 0

    @property
    def changes(self) -> list[tuple[str, str, bytes]]:
        """All but the looks."""
        return [one for one in self.asked if one[0] != "GET"]

    @asynccontextmanager
    async def listening(self, path: Path) -> AsyncGenerator[None]:
        server = await asyncio.start_unix_server(self._serve, path)
        async with server:
            yield

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            await self._answer(reader, writer)
        finally:
            self.open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        method, target, body = "", "", b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                method, target = event.method.decode(), event.target.decode()
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                break
        self.asked.append((method, target, body))
        path = target.partition("?")[0]
        if path.endswith("/attach"):
            writer.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly ")
            while data := await reader.read(1024):
                writer.write(data.upper())
            return
        if path.endswith("/events"):
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
            await reader.read()
            return
        found = self.held.get(path.removeprefix("/v1.41")) if method == "GET" else {"Id": "made", "StatusCode": 0}
        told = json.dumps({"message": "no such thing"} if found is None else found).encode()
        status = b"404 Not Found" if found is None else b"200 OK"
        writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(told), told))
        await writer.drain()


def container(ref: str, stack: str, *, running: bool = True, labels: Json | None = None) -> Json:
    return {
        "Id": ref,
        "Name": f"/{ref}",
        "State": {"Running": running},
        "Config": {"Labels": {"agent-sandbox.stack": stack} | (labels or {}), "Env": ["SECRET=x"]},
    }
