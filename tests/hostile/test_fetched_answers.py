"""A server that answers a fetch without end, packed, or not at all takes a bounded share; on sockets of loopback."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from backend_api.kit.untrusted.errors import FetchFailedError, FetchTooLargeError
from backend_api.kit.untrusted.guarded_client import (
    AT_ONCE,
    AT_ONCE_OF_OWNER,
    FetchLimits,
    GuardedClient,
    guarded_client,
)
from backend_api.kit.untrusted.resolver import lookups_of
from backend_api.kit.untrusted.rules import FetchRules
from support.sites import PUBLIC, Answer, LoopbackNetwork, Names, Site, site

LIMIT = 256 * 1024
URL = "http://page.example/"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@asynccontextmanager
async def answering(answer: Answer) -> AsyncGenerator[tuple[GuardedClient, Site]]:
    async with site({"/": answer}) as running, asyncio.timeout(30):
        names, network = Names({"page.example": [[PUBLIC]]}), LoopbackNetwork(running.port)
        async with guarded_client(FetchRules(), resolve=names, network=network) as client:
            yield client, running


def endless(
    head: bytes, piece: bytes, pause_s: float = 0.0
) -> Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]:
    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return send


async def fetch(client: GuardedClient, whole_s: float = 20.0) -> bytes:
    return (await client.get(URL, FetchLimits(body_bytes=LIMIT, whole_s=whole_s))).content


@pytest.mark.parametrize(
    "answer",
    [
        endless(HEAD + b"Content-Length: 100000000000\r\n\r\n", b"x" * 65_536),
        endless(HEAD + b"Connection: close\r\n\r\n", b"x" * 65_536),
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65_536 + b"\r\n"),
    ],
    ids=["length", "close", "chunked"],
)
async def test_a_body_without_end_is_left_early(answer: Answer) -> None:
    async with answering(answer) as (client, running):
        with pytest.raises(FetchTooLargeError, match="256 KB"):
            await fetch(client)
        await running.left.wait()


@pytest.mark.parametrize(
    "answer",
    [
        endless(b"HTTP/1.1 ", b""),
        pytest.param(endless(HEAD, b"X: y\r\n", 0.05), marks=pytest.mark.thorough),
        pytest.param(
            endless(b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.05),
            marks=pytest.mark.thorough,
        ),
        endless(HEAD + b"Content-Length: 1000\r\n\r\n", b"x", 0.05),
        pytest.param(
            endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.05), marks=pytest.mark.thorough
        ),
    ],
    ids=["silent", "head", "hints", "body", "chunks"],
)
async def test_what_drips_ends_at_the_deadline(answer: Answer) -> None:
    async with answering(answer) as (client, running):
        with pytest.raises(FetchFailedError, match=r"within 1 second\."):
            await fetch(client, whole_s=1.0)
        await running.left.wait()


async def test_a_head_without_end_is_left_early() -> None:
    async with answering(endless(HEAD, b"X: " + b"y" * 8_000 + b"\r\n")) as (client, running):
        with pytest.raises(FetchFailedError):
            await fetch(client)
        await running.left.wait()


async def test_a_body_of_the_smallest_chunks_leaves_others_their_turn() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    flood = endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 10_000)
    async with answering(flood) as (client, _):
        beside = asyncio.create_task(other())
        with pytest.raises((FetchTooLargeError, FetchFailedError)):
            await fetch(client, whole_s=2.0)
        beside.cancel()
    assert turns >= 20


def packed(body: bytes, coding: bytes = b"gzip") -> bytes:
    return b"200 OK\r\nContent-Type: text/html\r\nContent-Encoding: " + coding + b"\r\n\r\n" + body


async def test_a_packed_page_is_unpacked() -> None:
    async with answering(packed(gzip.compress(b"hello" * 1_000))) as (client, running):
        assert await fetch(client) == b"hello" * 1_000
    assert "accept-encoding: gzip, identity" in running.asked[0].lower()


async def test_a_page_that_unpacks_to_more_than_is_taken_is_left_early() -> None:
    bomb = gzip.compress(bytes(200 * 1024 * 1024))
    assert len(bomb) < LIMIT
    async with answering(packed(bomb)) as (client, _):
        with pytest.raises(FetchTooLargeError):
            await fetch(client)


@pytest.mark.parametrize(
    "coding",
    [
        b"gzip, gzip",
        b"br",
        pytest.param(b"deflate", marks=pytest.mark.thorough),
        pytest.param(b"zstd", marks=pytest.mark.thorough),
        pytest.param(b"gzip, identity", marks=pytest.mark.thorough),
        b"x" * 200,
    ],
)
async def test_what_is_packed_otherwise_is_not_unpacked(coding: bytes) -> None:
    async with answering(packed(gzip.compress(gzip.compress(b"x")), coding)) as (client, _):
        with pytest.raises(FetchFailedError, match="content encoding"):
            await fetch(client)


@pytest.mark.parametrize("body", [b"no gzip", gzip.compress(b"x" * 9_000)[:-9], zlib.compress(b"x")])
async def test_a_broken_package_is_a_failure(body: bytes) -> None:
    async with answering(packed(body)) as (client, _):
        with pytest.raises(FetchFailedError):
            await fetch(client)


async def test_what_follows_a_package_is_left_alone() -> None:
    async with answering(packed(gzip.compress(b"hello") + b"x" * 10_000)) as (client, _):
        assert await fetch(client) == b"hello"


@pytest.mark.parametrize("answer", [endless(b"\0" * 1_000, b"x"), endless(b"220 smtp ready\r\n", b""), packed(b"")])
async def test_what_is_no_answer_of_the_web_is_a_failure_or_empty(answer: Answer) -> None:
    async with answering(answer) as (client, _):
        with suppress(FetchFailedError):
            assert await fetch(client, whole_s=1.0) == b""


async def test_a_fetch_that_is_stopped_ends_at_once_with_its_connection() -> None:
    async with answering(endless(HEAD + b"Content-Length: 1000\r\n\r\n", b"x", 0.05)) as (client, running):
        fetching = asyncio.create_task(fetch(client))
        while not running.asked:
            await asyncio.sleep(0.01)
        fetching.cancel()
        await asyncio.wait({fetching}, timeout=1)
        assert fetching.cancelled()
        await asyncio.wait_for(running.left.wait(), 5)


async def test_a_slow_name_server_ends_at_the_deadline_too() -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    async with guarded_client(FetchRules(), resolve=never) as client:
        with pytest.raises(FetchFailedError, match=r"within 1 second\."):
            await fetch(client, whole_s=1.0)


async def test_who_fetches_much_from_one_that_drips_leaves_others_their_fetches() -> None:
    began, full, drips = 0, asyncio.Event(), endless(HEAD + b"Content-Length: 100000\r\n\r\n", b"x", 0.1)

    async def count(writer: asyncio.StreamWriter) -> None:
        nonlocal began
        began += 1
        if began == AT_ONCE_OF_OWNER:
            full.set()
        await drips(writer)

    async with answering(count) as (client, running):
        running.answers["/quick"] = b"200 OK\r\n\r\nhi"
        with lookups_of("anna"):
            much = [asyncio.create_task(fetch(client)) for _ in range(AT_ONCE + 20)]
        try:
            await asyncio.wait_for(full.wait(), 10)
            with lookups_of("ben"):
                quick = await client.get(f"{URL}quick", FetchLimits(body_bytes=LIMIT, whole_s=5))
        finally:
            for one in much:
                one.cancel()
            await asyncio.gather(*much, return_exceptions=True)
    assert quick.content == b"hi"
    assert began == AT_ONCE_OF_OWNER


async def test_no_cookie_and_no_connection_is_kept_for_the_next_one() -> None:
    answer = b"200 OK\r\nSet-Cookie: who=anna; Path=/\r\n\r\nx"
    async with answering(answer) as (client, running):
        for _ in range(2):
            assert await fetch(client) == b"x"
    assert running.connected == 2
    assert not any("cookie:" in head.lower() for head in running.asked)
    assert not any("authorization" in head.lower() for head in running.asked)
