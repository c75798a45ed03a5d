"""A search provider, or whoever stands in its place, that answers without end or not at all; on a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from backend_api.kit.untrusted.api_client import ApiClient, api_client
from backend_api.web.search.provider import SearchUnavailableError
from backend_api.web.search.search_request import MAX_BYTES
from support.search_providers import PROVIDERS, Build

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000000000\r\n\r\n"


@dataclass(slots=True)
class Provider:
    """Sends `piece` every `pause_s` for as long as anybody takes it."""

    piece: bytes
    pause_s: float
    head: bytes = HEAD
    address: str = ""
    sent: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self.head)
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
async def provider(piece: bytes, pause_s: float, head: bytes = HEAD) -> AsyncGenerator[Provider]:
    running = Provider(piece, pause_s, head)
    server = await asyncio.start_server(running.serve, "127.0.0.1", 0)
    running.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield running
    finally:
        server.close()


def search_http(whole_s: float = 15.0) -> AbstractAsyncContextManager[ApiClient]:
    return api_client(whole_s=whole_s, body_bytes=MAX_BYTES)


@pytest.fixture
def build() -> Build:
    """One of them: all ask in the same way, as `tests/unit/backend-api/tools/test_search_answers.py` does of each."""
    return PROVIDERS["custom"]


async def test_an_answer_without_end_is_left_early(build: Build) -> None:
    async with provider(b"x" * 100_000, 0) as running, search_http() as http:
        async with asyncio.timeout(10):
            with pytest.raises(SearchUnavailableError, match="too large"):
                await build(http, running.address).search("q", limit=5)
            await running.left.wait()
    # What is on its way in buffers of the system counts as sent.
    assert running.sent < 10 * MAX_BYTES


async def test_an_answer_that_drips_ends_at_the_deadline(build: Build) -> None:
    async with provider(b"x", 0.05) as running, search_http(1.0) as http:
        # Without one it would go on for as long as anybody waits.
        async with asyncio.timeout(20):
            with pytest.raises(SearchUnavailableError, match="in time"):
                await build(http, running.address).search("q", limit=5)
            await running.left.wait()


async def test_a_search_that_is_stopped_ends_long_before_its_deadline_with_its_connection(build: Build) -> None:
    async with provider(b"x", 0.05) as running, search_http(60.0) as http:
        searching = asyncio.create_task(build(http, running.address).search("q", limit=5))
        await asyncio.wait_for(running.asked.wait(), 20)
        searching.cancel()
        async with asyncio.timeout(20):  # far from its deadline
            await asyncio.wait({searching})
            await running.left.wait()
        assert searching.cancelled()


async def test_of_a_redirect_nothing_is_read_and_redirects_end(build: Build) -> None:
    head = b"HTTP/1.1 307 Here\r\nLocation: /again\r\nContent-Length: 100000000000\r\n\r\n"
    async with provider(b"x" * 100_000, 0, head) as running:
        async with search_http() as http, asyncio.timeout(10):
            with pytest.raises(SearchUnavailableError, match="redirects to another server"):
                await build(http, running.address).search("q", limit=5)
    assert running.sent < 10 * MAX_BYTES
