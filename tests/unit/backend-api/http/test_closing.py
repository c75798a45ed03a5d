"""A streamed answer closes what it reads from, whenever its client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from backend_api.kit.http.closing import ClosingResponse

SCOPE: dict[str, Any] = {"type": "http", "asgi": {"spec_version": "2.4"}}
FORMER: dict[str, Any] = {"type": "http", "asgi": {"spec_version": "2.3"}}


class Cursor:
    def __init__(self) -> None:
        self.is_open = True

    async def pieces(self) -> AsyncGenerator[bytes]:
        try:
            for _ in range(3):
                await asyncio.sleep(0)
                yield b"piece"
        finally:
            await asyncio.sleep(0)
            self.is_open = False


@pytest.mark.parametrize("pieces", [0, 1])
async def test_it_is_closed_for_a_client_that_leaves_after_some_pieces_or_before_the_first(pieces: int) -> None:
    cursor, left = Cursor(), pieces

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal left
        del message
        if not left:
            raise OSError
        left -= 1

    async def receive() -> dict[str, Any]:
        raise AssertionError

    with pytest.raises(ClientDisconnect):
        await ClosingResponse(cursor.pieces(), {})(SCOPE, receive, send)
    assert not cursor.is_open


async def test_it_is_closed_for_a_client_that_was_gone_before_it_began() -> None:
    cursor = Cursor()

    async def send(message: MutableMapping[str, Any]) -> None:
        del message
        await asyncio.Event().wait()

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    await ClosingResponse(cursor.pieces(), {})(FORMER, receive, send)
    assert not cursor.is_open
