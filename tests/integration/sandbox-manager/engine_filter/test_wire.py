"""The filter's socket as bytes: nothing is read in two ways, and no second request hides in the first."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine_filter.server import MAX_CONNECTIONS, Filter
from engine_filter.wire import MAX_BODY_BYTES
from support.filtered import FOREIGN, HELD, OWN, POLICY, Setting, a_setting
from support.scripted_engine import ScriptedEngine

AMBIGUOUS = [
    "/v1.41/containers/own-1/../other-1/start",
    "/v1.41/containers/own-1/start/../../other-1/start",
    "/v1.41//containers/own-1/start",
    "/v1.41/containers//start",
    "/v1.41/containers/own-1%2f..%2fother-1/start",
    "/v1.41/containers/%2e%2e/start",
    "/v1.41/containers/own-1/start/",
    "/v1.41/containers/own-1/start#x",
    "/v1.41/containers/own-1/start?a;b",
    "/v1.40/containers/own-1/start",
    "/v1.24/containers/own-1/start",
    "/v2/containers/own-1/start",
    "/V1.41/containers/own-1/start",
    "http://engine/v1.41/containers/own-1/start",
    "//containers/own-1/start",
    "*",
    "/v1.41/containers/" + "a" * 5000 + "/start",
    "/v1.41/containers/own-1/wait?condition=removed&condition=next-exit",
    "/v1.41/containers/own-1/wait?condition=x",
    "/v1.41/containers/own-1/wait?Condition=removed",
]


async def test_a_path_that_can_be_read_in_two_ways_is_refused(between: Setting) -> None:
    for target in AMBIGUOUS:
        assert (await between.ask("POST", target))[0] in (400, 403), target
        assert between.engine.changes == [], target


START = b"POST /v1.41/containers/own-1/start HTTP/1.1\r\nHost: x\r\n"
SECOND = b"POST /v1.41/containers/other-1/start HTTP/1.1\r\nHost: x\r\n\r\n"
PING = b"GET /_ping HTTP/1.1\r\nHost: x\r\n\r\n"
SMUGGLED: dict[str, bytes] = {
    "a second request": START + b"Content-Length: 0\r\n\r\n" + SECOND,
    "two lengths": START + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(SECOND) + SECOND,
    "length and chunks": START + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND,
    "chunks and length": START + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + SECOND,
    "two codings": START + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + SECOND,
    "a coding with a space": START + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SECOND,
    "a coding of its own": START + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SECOND,
    "a folded header": START + b"X: a\r\n Content-Length: 0\r\n\r\n" + SECOND,
    "a bare return": START + b"X: a\rContent-Length: 0\r\n\r\n" + SECOND,
    "a line of its own in a header": START + b"X: a\nPOST /x HTTP/1.1\r\n\r\n" + SECOND,
    "a NUL": START + b"X: a\0b\r\n\r\n" + SECOND,
    "no host": b"POST /v1.41/containers/own-1/start HTTP/1.1\r\n\r\n" + SECOND,
    "two hosts": START + b"Host: y\r\n\r\n" + SECOND,
    "an old protocol": START.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n" + SECOND,
    "a newer protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SECOND,
    "an upgrade": START + b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n" + SECOND,
    "an upgrade to h2c": START + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n" + SECOND,
    "a promise": START + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n" + SECOND,
    "a longer body": START + b"Content-Length: %d\r\n\r\n" % len(SECOND) + SECOND,
    "a large body": START + b"Content-Length: 999999999\r\n\r\n" + b" " * (MAX_BODY_BYTES + 1),
    "a large head": START + b"X: " + b"a" * 100_000 + b"\r\n\r\n" + SECOND,
    "many headers": START + b"X: a\r\n" * 5000 + b"\r\n" + SECOND,
    "a chunk beyond all": START + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + SECOND,
    "no end of a chunk": START + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello" + SECOND,
    "half a request": START,
    "half a body": START + b"Content-Length: 9\r\n\r\nhalf",
    "nothing": b"",
    "a greeting of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


async def test_no_second_request_hides_in_the_first(between: Setting) -> None:
    for name, sent in SMUGGLED.items():
        await between.raw(sent)
        assert [one for one in between.engine.asked if "other-1" in one[1] or FOREIGN in one[1]] == [], name
        assert all(one == ("POST", f"/v1.41/containers/{OWN}/start", b"") for one in between.engine.changes), name
        assert await between.ask("GET", "/_ping") == (200, "OK"), name


@pytest.mark.parametrize(
    ("name", "starts"), [("a second request", 1), ("half a request", 0), ("a newer protocol", 0), ("no host", 0)]
)
async def test_a_first_request_that_is_clear_is_answered_alone(between: Setting, name: str, starts: int) -> None:
    told = await between.raw(SMUGGLED[name])
    assert len(between.engine.changes) == starts
    assert len(re.findall(rb"HTTP/1.1 \d", told)) == (0 if name == "half a request" else 1)


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        b"Upgrade: h2c\r\nUpgrade: tcp\r\nConnection: Upgrade\r\nContent-Length: 0\r\n",
    ],
)
async def test_what_is_said_twice_of_a_request_is_refused(between: Setting, headers: bytes) -> None:
    told = await between.raw(START + headers + b"\r\n0\r\n\r\n", within_s=5)
    assert told.startswith(b"HTTP/1.1 400 "), told
    assert between.engine.changes == []


async def test_no_more_connections_are_open_than_may_be(between: Setting) -> None:
    held = [await asyncio.open_unix_connection(between.socket) for _ in range(MAX_CONNECTIONS)]
    try:
        assert await between.raw(PING, within_s=5) == b""
        _, left = held.pop()
        left.close()
        async with asyncio.timeout(10):
            while not (told := await between.raw(PING, within_s=5)):
                await asyncio.sleep(0.01)
        assert told.startswith(b"HTTP/1.1 200 ")
    finally:
        for _, writer in held:
            writer.close()


@pytest.mark.thorough
async def test_who_never_ends_a_request_is_let_go() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        engine = ScriptedEngine(HELD)
        held = Filter(POLICY, f"{folder}/engine", request_s=0.2, most=3)
        async with engine.listening(Path(folder, "engine")), held.listening(Path(folder, "filter")):
            between = Setting(engine, Path(folder, "filter"))
            began = asyncio.get_running_loop().time()
            answers = await asyncio.gather(*(between.raw(START, within_s=5) for _ in range(6)))
            assert asyncio.get_running_loop().time() - began < 3
            assert answers == [b""] * 6
            assert await between.ask("GET", "/_ping") == (200, "OK")


_PIECES = st.sampled_from(
    [
        b"POST /v1.41/containers/create?name=own-x HTTP/1.1\r\n",
        b"POST /v1.41/containers/own-1/start HTTP/1.1\r\n",
        b"POST /v1.41/containers/other-1/start HTTP/1.1\r\n",
        b"DELETE /v1.41/containers/other-1?force=1 HTTP/1.1\r\n",
        b"Host: x\r\n",
        b"Content-Length: 2\r\n",
        b"Content-Length: 0\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: Upgrade\r\nUpgrade: tcp\r\n",
        b"0\r\n\r\n",
        b"2\r\n{}\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\0",
        b"{}",
        b'{"HostConfig": {"Privileged": true}}',
    ]
) | st.binary(max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(_PIECES, max_size=12).map(b"".join), min_size=20, max_size=20))
def test_no_bytes_get_the_engine_to_do_what_is_refused(requests: list[bytes]) -> None:
    async def all_at_once() -> None:
        async with a_setting() as setting:
            await asyncio.gather(*(setting.raw(one) for one in requests))
            assert all(one == ("POST", f"/v1.41/containers/{OWN}/start", b"") for one in setting.engine.changes)
            assert await setting.ask("GET", "/_ping") == (200, "OK")

    asyncio.run(all_at_once())
