"""Readers of event streams for tests: each wait is bounded, a reader may go and come back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

WAIT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame as a browser sees it."""

    id: str | None
    event: str
    data: dict[str, Any]


class FrameReader:
    """Reads frames of an SSE answer."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self) -> Frame:
        """Raises `EOFError` when the stream ended."""
        identifier, kind = None, ""
        async with asyncio.timeout(WAIT_S):
            async for line in self._lines:
                if line.startswith("id: "):
                    identifier = line[4:]
                elif line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    return Frame(id=identifier, event=kind, data=json.loads(line[6:]))
        raise EOFError

    async def take_frames(self, count: int) -> list[Frame]:
        return [await self.next() for _ in range(count)]

    async def until(self, event: str) -> list[Frame]:
        frames = [await self.next()]
        while frames[-1].event != event:
            frames.append(await self.next())
        return frames


@asynccontextmanager
async def reading(
    client: httpx.AsyncClient,
    path: str,
    headers: dict[str, str],
    *,
    last_id: str | None = None,
    body: dict[str, Any] | None = None,
) -> AsyncGenerator[FrameReader]:
    """Follow a stream from a frame's id on, or what a body that is posted begins."""
    resumed = headers if last_id is None else headers | {"Last-Event-ID": last_id}
    async with client.stream("POST" if body else "GET", path, headers=resumed, json=body) as response:
        assert response.status_code == 200, (await response.aread(), response.status_code)
        yield FrameReader(response)
