"""A server of ours that ends tells its sockets and those who wait for an answer to come back."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import websockets
from fastapi import FastAPI

from backend_api.kit.listening.server import listen, server_for
from backend_api.main.closing import Closing
from service_kit.requests import Answered, RequestMiddleware, RequestRules
from support.listening import on_loopback


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    assert scope["type"] == "websocket"
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.send", "bytes": message["bytes"]})


async def test_open_sockets_get_1012_and_the_server_ends() -> None:
    server, closing = server_for(_echo, graceful_s=3), Closing()
    closing.on_begin(server.end)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with asyncio.timeout(30):
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        async with websockets.connect(f"ws://127.0.0.1:{port}") as socket:
            await socket.send(b"hello")
            assert await socket.recv() == b"hello"
            closing.begin()
            with pytest.raises(websockets.ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        await serving


async def test_peers_that_go_on_sending_get_1012_too() -> None:
    server, closing = server_for(_echo, graceful_s=3), Closing()
    closing.on_begin(server.end)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]

    async def code_of_one() -> int:
        async with websockets.connect(f"ws://127.0.0.1:{port}", max_queue=None) as socket:
            await socket.send(b"hello")
            connected.release()
            try:
                while True:
                    await socket.send(b"more")
                    await asyncio.sleep(0)
            except websockets.ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd is not None else 1006

    connected = asyncio.Semaphore(0)
    async with asyncio.timeout(60):
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        codes = [asyncio.create_task(code_of_one()) for _ in range(20)]
        for _ in codes:
            await connected.acquire()
        closing.begin()
        assert await asyncio.gather(*codes) == [1012] * 20
        await serving


async def test_who_waits_for_an_answer_when_the_server_ends_is_told_to_try_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counted: list[Answered] = []
    app, asked = FastAPI(), asyncio.Event()
    app.add_middleware(RequestMiddleware, rules=RequestRules(service="some-service", count=counted.append))

    @app.get("/slow")
    async def slow() -> None:
        asked.set()
        await asyncio.Event().wait()

    server = server_for(app, graceful_s=1)
    async with on_loopback(server) as url, httpx.AsyncClient(base_url=url, timeout=30) as client:
        waiting = asyncio.create_task(client.get("/slow"))
        await asked.wait()
        server.should_exit = True
        answer = await waiting
    assert (answer.status_code, answer.json()["code"], answer.json()["retryable"]) == (503, "unavailable", True)
    assert (answer.headers["retry-after"], answer.headers["content-type"]) == ("5", "application/problem+json")
    assert [one.status for one in counted] == [503]
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.thorough
async def test_a_connection_stays_open_longer_than_clients_keep_it_idle() -> None:
    """httpx keeps one for 5 s: a request that it sends just before must not come to a server that is closing."""
    request = b"GET /none HTTP/1.1\r\nHost: here\r\n\r\n"
    async with on_loopback(server_for(FastAPI(), graceful_s=1)) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(request)
        await reader.readuntil(b"}")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 6)
        writer.write(request)
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 404 ")
        writer.close()
        await writer.wait_closed()


def test_an_end_is_told_once_and_its_rest_counts_down() -> None:
    told: list[str] = []
    closing = Closing()
    closing.on_begin(lambda: told.append("streams"))
    closing.on_begin(lambda: told.append("worker"))
    closing.begin()
    closing.begin()
    assert told == ["streams", "worker"]
    assert 0 <= closing.remaining_s(0.5) <= 0.5
    assert closing.remaining_s(0) == 0
