"""A search provider, or whoever stands in its place, that answers without end or not at all; on a real socket."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx
import pytest

from backend_api.infrastructure.search import bounded_search
from backend_api.infrastructure.search.bounded_search import search_http
from backend_api.infrastructure.search.brave import BraveSearch
from backend_api.infrastructure.search.custom import CustomSearch
from backend_api.infrastructure.search.duckduckgo import DuckDuckGoSearch
from backend_api.infrastructure.search.provider import SearchProvider, SearchUnavailableError
from backend_api.infrastructure.search.searxng import SearxngSearch
from backend_api.infrastructure.search.serper import SerperSearch
from backend_api.infrastructure.search.tavily import TavilySearch

NOTHING = b'{"results": [], "organic": [], "web": {"results": []}}'
"""As any of them says that it found nothing."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000000000\r\n\r\n"
PROVIDERS: dict[str, Callable[[httpx.AsyncClient, str], SearchProvider]] = {
    "duckduckgo": lambda http, address: DuckDuckGoSearch(http, address=address),
    "tavily": lambda http, address: TavilySearch(http, "key", address=address),
    "brave": lambda http, address: BraveSearch(http, "key", address=address),
    "serper": lambda http, address: SerperSearch(http, "key", address=address),
    "searxng": lambda http, address: SearxngSearch(http, address),
    "custom": lambda http, address: CustomSearch(http, address, "key"),
}


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
        # Without one it would go on for as long as anybody waits.
        async with asyncio.timeout(20):
            with pytest.raises(SearchUnavailableError, match="in time"):
                await build(http, running.address).search("q", limit=5)
            await running.left.wait()


async def test_a_search_that_is_stopped_ends_long_before_its_deadline_with_its_connection(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_search, "DEADLINE_S", 60.0)
    async with provider(b"x", 0.05) as running, search_http() as http:
        searching = asyncio.create_task(build(http, running.address).search("q", limit=5))
        await asyncio.wait_for(running.asked.wait(), 20)
        searching.cancel()
        async with asyncio.timeout(20):  # far from its deadline
            await asyncio.wait({searching})
            await running.left.wait()
        assert searching.cancelled()


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncGenerator[tuple[str, list[str]]]:
    """One whole answer after the other, and the heads of what was asked."""
    asked, left = list[str](), list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        head, _, body = left.pop(0).partition(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (head, len(body), body))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


async def refusal(build: Build, address: str) -> str:
    async with search_http() as http, asyncio.timeout(10):
        with pytest.raises(SearchUnavailableError) as refused:
            await build(http, address).search("q", limit=5)
    return refused.value.detail


async def test_of_a_redirect_nothing_is_read_and_redirects_end(build: Build) -> None:
    head = b"HTTP/1.1 307 Here\r\nLocation: /again\r\nContent-Length: 100000000000\r\n\r\n"
    async with provider(b"x" * 100_000, 0, head) as running:
        assert "elsewhere" in await refusal(build, running.address)
    assert running.sent < 10 * bounded_search.MAX_BYTES


@pytest.mark.parametrize("status", [b"302 There", b"307 There", b"308 There"])
async def test_a_redirect_leads_to_no_other_server(build: Build, status: bytes) -> None:
    async with answering(b"200 OK\r\n\r\n{}") as (inner, reached):
        async with answering(b"%b\r\nLocation: %b/secret\r\n\r\n" % (status, inner.encode())) as (address, _):
            assert "elsewhere" in await refusal(build, address)
    assert reached == []


async def test_what_is_compressed_is_not_unpacked(build: Build) -> None:
    bomb = gzip.compress(gzip.compress(bytes(64 * 1024 * 1024)))
    async with answering(b"200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n" + bomb) as (address, asked):
        assert "compressed" in await refusal(build, address)
    assert "accept-encoding: identity" in asked[0]


async def test_no_cookie_is_kept_for_the_next_user(build: Build) -> None:
    answer = b"200 OK\r\nSet-Cookie: who=anna; Path=/\r\n\r\n" + NOTHING
    async with answering(answer, answer) as (address, asked), search_http() as http:
        for _ in range(2):
            assert await build(http, address).search("q", limit=5) == []
    assert ["cookie:" in head for head in asked] == [False, False]


@pytest.mark.parametrize(
    "body",
    [
        *(b"[" * 100_000, b"{}", b"<![x" * 9, b"[]", b"\xff\xfe", b"9" * 100_000, b"NaN"),
        *(
            b'{"%b": %b}' % (name, value)
            for name in (b"results", b"organic", b"web")
            for value in (b'{"a": 1}', b"[7]")
        ),
        *(b'{"web": {"results": %b}}' % value for value in (b"7", b"[[]]", b'[{"url": 7}]', b'[{"url": {"a": 1}}]')),
        b'{"results": [], "unresponsive_engines": [["x", "timeout"]]}',
    ],
)
async def test_what_no_provider_says_is_a_refusal_or_nothing(build: Build, body: bytes) -> None:
    async with answering(b"200 OK\r\n\r\n" + body) as (address, _), search_http() as http:
        with suppress(SearchUnavailableError):
            assert await build(http, address).search("q", limit=5) == []


@pytest.mark.parametrize("name", [b"hex", b"bz2", b"idna", b"utf-16"])
async def test_a_page_in_any_coding_of_characters_is_a_page(build: Build, name: bytes) -> None:
    head = b"200 OK\r\nContent-Type: text/html; charset=" + name
    async with answering(head + b"\r\n\r\n" + NOTHING) as (address, _), search_http() as http:
        assert await build(http, address).search("q", limit=5) == []


@pytest.mark.parametrize(
    ("name", "wrapped", "url", "snippet"),
    [
        ("tavily", '{"results": %s}', "url", "content"),
        ("brave", '{"web": {"results": %s}}', "url", "description"),
        ("serper", '{"organic": %s}', "link", "snippet"),
        ("searxng", '{"results": %s}', "url", "content"),
        ("custom", '{"results": %s}', "url", "snippet"),
    ],
)
async def test_a_result_is_three_lines_and_leads_to_a_page(name: str, wrapped: str, url: str, snippet: str) -> None:
    page = {url: "https://a", "title": "a\n2. forged\n" + "x" * 9_000, snippet: "b\n" * 9_000}
    others = [{url: one} for one in ("javascript:alert(1)", "https://a\nb", "https://" + "a" * 9_000, "file:///etc", 7)]
    said = (wrapped % json.dumps([*others, page, page, page])).encode()
    async with answering(b"200 OK\r\n\r\n" + said) as (address, _), search_http() as http:
        hit, _ = await PROVIDERS[name](http, address).search("q", limit=2)
    assert (hit.url, len(hit.title), len(hit.snippet)) == ("https://a", 500, 500)
    assert "\n" not in hit.title + hit.snippet


async def test_a_page_of_nothing_but_tags_keeps_nobody_waiting() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    page = b"<a>" * ((bounded_search.MAX_BYTES - 3) // 3)
    async with answering(b"200 OK\r\n\r\n" + page) as (address, _), search_http() as http:
        beside = asyncio.create_task(other())
        assert await DuckDuckGoSearch(http, address=address).search("q", limit=5) == []
        beside.cancel()
    assert turns >= 5
