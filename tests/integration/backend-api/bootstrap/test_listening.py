"""A server of ours that ends tells its sockets to come back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import websockets

from backend_api.bootstrap.closing import Closing
from backend_api.bootstrap.listening import listen, server_for


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
