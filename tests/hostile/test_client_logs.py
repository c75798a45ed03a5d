"""What a client without an account does fills no log with faults that are none of ours."""

from __future__ import annotations

import asyncio
import re
import secrets
import urllib.parse
from collections.abc import Iterator

import pytest

from support.api_client import register
from support.bare import connect, ended
from support.gateway_process import GatewayProcess, run_gateway_process
from support.servers import Server

STATUS = b"GET /api/auth/status HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LOG_IN = b"POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def gateway(
    mongo_server: Server, redis_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GatewayProcess]:
    folder = tmp_path_factory.mktemp("gateway")
    with run_gateway_process(folder, mongo_server, "hostile_client_logs", redis_server) as running:
        yield running


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param((STATUS + b"\r\n") * 60, id="60 requests at once"),
        pytest.param((STATUS + b"\r\n") * 10, id="10 requests at once"),
        pytest.param((STATUS + b"\r\n") * 10 + b"no request\r\n\r\n", id="garbage behind requests"),
        pytest.param((STATUS + b"\r\n") * 10 + LOG_IN + b"Content-Length: 100\r\n\r\n{", id="half a body behind them"),
        pytest.param(LOG_IN + b"Content-Length: 100\r\n\r\n{", id="half a body"),
        pytest.param(LOG_IN + b"Content-Length: 2\r\n\r\n{}" * 60, id="60 bodies and one head"),
        pytest.param((LOG_IN + b"Content-Length: 2\r\n\r\n{}") * 60, id="60 bodies"),
        pytest.param(LOG_IN + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", id="a chunk without a size"),
        pytest.param(LOG_IN + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", id="waiting for the word to go on"),
    ],
)
@pytest.mark.parametrize("leaves", [False, True], ids=["stays", "leaves"])
async def test_no_behaviour_of_a_client_leaves_a_traceback(gateway: GatewayProcess, sent: bytes, leaves: bool) -> None:
    seen = len(gateway.logged())
    for _ in range(10):
        reader, writer = await connect(gateway.port)
        writer.write(sent)
        await writer.drain()
        if leaves:
            await asyncio.sleep(0.005)
            writer.transport.abort()
        else:
            writer.write_eof()
            await ended(reader, 30)
            writer.close()
    # What is asked last is logged last.
    reader, writer = await connect(gateway.port)
    writer.write(STATUS + b"Connection: close\r\n\r\n")
    assert (await ended(reader, 30)).startswith(b"HTTP/1.1 200 ")
    writer.close()
    assert re.findall(r"Traceback.*|.*\"level\": \"error\".*", gateway.logged()[seen:]) == []


@pytest.mark.parametrize("sought", ["\0", "a\0b", "\ud800", "(", "\\", "$where"])
async def test_no_search_of_somebody_logged_in_leaves_a_traceback(gateway: GatewayProcess, sought: str) -> None:
    seen = len(gateway.logged())
    async with await register(gateway.url, f"u{secrets.token_hex(4)}") as client:
        written = urllib.parse.quote(sought.encode("utf-8", "surrogatepass"))
        answer = await client.http.get(f"/sessions?q={written}")
    assert answer.status_code == (422 if "\0" in sought else 200), answer.text
    assert re.findall(r"Traceback.*|.*\"level\": \"error\".*", gateway.logged()[seen:]) == []
