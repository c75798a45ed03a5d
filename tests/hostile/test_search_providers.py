"""A search provider, or whoever stands in its place, that answers without end or not at all; on a real socket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from backend_api.infrastructure.search import bounded_search
from backend_api.infrastructure.search.duckduckgo import DuckDuckGoSearch
from backend_api.infrastructure.search.provider import SearchProvider, SearchUnavailableError
from backend_api.infrastructure.search.registry import search_http
from backend_api.infrastructure.search.tavily import TavilySearch

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000000000\r\n\r\n"
PROVIDERS: dict[str, Callable[[httpx.AsyncClient, str], SearchProvider]] = {
    "duckduckgo": lambda http, address: DuckDuckGoSearch(http, address=address),
    "tavily": lambda http, address: TavilySearch(http, "key", address=address),
}


@dataclass(slots=True)
class Provider:
    """Sends `piece` every `pause_s` for as long as anybody takes it."""

    piece: bytes
    pause_s: float
    address: str = ""
    sent: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(HEAD)
            self.asked.set()
            while not reader.at_eof():
                writer.write(self.piece)
                self.sent += len(self.piece)
                await writer.drain()
                await asyncio.sleep(self.pause_s)
        except OSError:
            pass
        finally:
            self.left.set()
            writer.close()


@asynccontextmanager
async def provider(piece: bytes, pause_s: float) -> AsyncGenerator[Provider]:
    running = Provider(piece, pause_s)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield running
    finally:
        server.close()


@pytest.fixture(params=PROVIDERS)
def build(request: pytest.FixtureRequest) -> Callable[[httpx.AsyncClient, str], SearchProvider]:
    return PROVIDERS[request.param]


Build = Callable[[httpx.AsyncClient, str], SearchProvider]


async def test_an_answer_without_end_is_left_early(build: Build) -> None:
    async with provider(b"x" * 100_000, 0) as running, search_http() as http:
        async with asyncio.timeout(10):
            with pytest.raises(SearchUnavailableError, match="too large"):
                await build(http, running.address).search("q", limit=5)
            await running.left.wait()
    # What is on its way in buffers of the system counts as sent.
    assert running.sent < 10 * bounded_search.MAX_BYTES


async def test_an_answer_that_drips_ends_at_the_deadline(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_search, "DEADLINE_S", 1.0)
    async with provider(b"x", 0.05) as running, search_http() as http:
        began = time.monotonic()
        async with asyncio.timeout(10):
            with pytest.raises(SearchUnavailableError, match="in time"):
                await build(http, running.address).search("q", limit=5)
        assert time.monotonic() - began < 3
        await asyncio.wait_for(running.left.wait(), 5)


async def test_a_search_that_is_stopped_ends_long_before_its_deadline_with_its_connection(build: Build) -> None:
    async with provider(b"x", 0.05) as running, search_http() as http:
        searching = asyncio.create_task(build(http, running.address).search("q", limit=5))
        await asyncio.wait_for(running.asked.wait(), 5)
        began = time.monotonic()
        searching.cancel()
        await asyncio.wait({searching})
        await asyncio.wait_for(running.left.wait(), 5)
        assert searching.cancelled()
        assert time.monotonic() - began < 3, "the search went on until its deadline"
