"""The leanest HTTP client that can time a gateway: its own cost must not be what is measured."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit


class LeanConnection:
    """One keep-alive HTTP/1.1 connection."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80

    async def __aenter__(self) -> LeanConnection:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=1 << 22)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        payload = json.dumps(body).encode()
        self.writer.write(
            f"POST {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(payload)}\r\n\r\n".encode()
            + payload
        )
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        size = int(head.split("content-length:")[1].split("\r\n")[0])
        answer = json.loads(await self.reader.readexactly(size))
        if " 20" not in head.split("\r\n")[0]:
            raise RuntimeError(f"{path}: {answer}")
        return answer

    async def events(self, path: str) -> AsyncIterator[bytes]:
        """Raw `event:` and `data:` lines of a stream."""
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n\r\n".encode())
        await self.reader.readuntil(b"\r\n\r\n")
        rest = b""
        while True:
            size = int(await self.reader.readline(), 16)
            if size == 0:
                return
            *lines, rest = (rest + await self.reader.readexactly(size)).split(b"\n")
            await self.reader.readexactly(2)
            for line in lines:
                if line.startswith((b"event:", b"data:")):
                    yield line
