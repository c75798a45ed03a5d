"""Terminals of people through the wire, on computers in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest
import websockets

from backend_api.terminal.domain import TerminalRefusedError
from support.gateway import Gateway, run_gateway
from support.memory.terminals import MemoryTerminals
from support.servers import Server


@pytest.fixture
def terminals() -> MemoryTerminals:
    return MemoryTerminals()


@pytest.fixture
async def gateway(
    mongo_server: Server, redis_server: Server, mongo_database_name: str, terminals: MemoryTerminals
) -> AsyncGenerator[Gateway]:
    async with run_gateway(mongo_server.uri, mongo_database_name, redis_server.uri, terminals=terminals) as running:
        yield running


async def address(gateway: Gateway, session_id: str, headers: dict[str, str], terminal: str = "main") -> str:
    answer = await gateway.client.post(
        f"/api/sessions/{session_id}/terminal/ticket", json={"terminal": terminal}, headers=headers
    )
    assert answer.status_code == 201, answer.text
    return gateway.url.replace("http", "ws") + str(answer.json()["url"])


async def end_of(url: str) -> int:
    async with asyncio.timeout(30), websockets.connect(url) as socket:
        with suppress(websockets.ConnectionClosed):
            while True:
                await socket.recv()
        return socket.close_code or 0


async def test_a_ticket_opens_a_terminal_once(gateway: Gateway, terminals: MemoryTerminals):
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = await address(gateway, session_id, anna, "second")
    async with asyncio.timeout(30), websockets.connect(f"{url}&after=12&began=1") as socket:
        assert json.loads(await socket.recv())["offset"] == 12
        await socket.send(b"ls\r")
        assert await socket.recv() == b"ls\r"
        await socket.send('{"type": "resize", "cols": 90, "rows": 20}')
        await socket.send(b"more")
        assert await socket.recv() == b"more"
        assert terminals.opened[session_id][0].frames == ['{"type": "resize", "cols": 90, "rows": 20}']
        listed = (await gateway.client.get(f"/api/sessions/{session_id}/terminal", headers=anna)).json()
        assert [one["name"] for one in listed["items"]] == ["second"]
        assert await end_of(url) == 4401
        closed = await gateway.client.delete(f"/api/sessions/{session_id}/terminal/second", headers=anna)
        assert closed.status_code == 204
        with pytest.raises(websockets.ConnectionClosedOK):
            await socket.recv()
    assert gateway.sandboxes.activity[session_id] > 1


async def test_a_terminal_that_is_not_allowed_closes_with_its_own_code(gateway: Gateway, terminals: MemoryTerminals):
    anna = await gateway.user("anna")
    terminals.fault = TerminalRefusedError("Only some commands are allowed.")
    assert await end_of(await address(gateway, await gateway.session(anna), anna)) == 4403


@pytest.mark.parametrize("message", [b"x" * 70_000, "x" * 2_000])
async def test_a_message_that_is_too_long_closes_the_socket(gateway: Gateway, message: str | bytes):
    anna = await gateway.user("anna")
    url = await address(gateway, await gateway.session(anna), anna)
    async with asyncio.timeout(30), websockets.connect(url) as socket:
        await socket.recv()
        await socket.send(message)
        with pytest.raises(websockets.ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 1008


@pytest.mark.parametrize("name", ["", "Main", "a/b", "x" * 33, "-x"])
async def test_a_terminal_has_a_plain_name(gateway: Gateway, name: str):
    anna = await gateway.user("anna")
    url = f"/api/sessions/{await gateway.session(anna)}/terminal/ticket"
    answer = await gateway.client.post(url, json={"terminal": name}, headers=anna)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.terminal")


async def test_listing_and_closing_start_no_computer(gateway: Gateway):
    anna = await gateway.user("anna")
    session_id = await gateway.session(anna)
    url = f"/api/sessions/{session_id}/terminal"
    assert (await gateway.client.get(url, headers=anna)).json() == {"items": []}
    assert (await gateway.client.delete(f"{url}/main", headers=anna)).status_code == 204
    assert not gateway.sandboxes.living
