"""How fast a body has to come."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from fastapi import HTTPException

from backend_api.interfaces.http.forms import BYTES_PER_S, SLOW_S, in_time


async def read(pieces: int, size: int, every_s: float, taken_s: float = 0.0) -> int:
    """How much came of so many pieces, each waited for and worked at so long."""
    now, got = [0.0], 0

    async def body() -> AsyncGenerator[bytes, None]:
        for _ in range(pieces):
            now[0] += every_s
            yield b"x" * size

    async for piece in in_time(body(), lambda: now[0]):
        now[0] += taken_s
        got += len(piece)
    return got


async def test_a_body_that_drips_is_ended_soon_after_its_time() -> None:
    with pytest.raises(HTTPException) as caught:
        await read(int(SLOW_S) + 2, 400, 1.0)
    assert caught.value.status_code == 408
    assert await read(int(SLOW_S), 400, 1.0) == int(SLOW_S) * 400


async def test_a_body_of_the_least_rate_arrives_whole_and_so_does_one_that_waits_for_us() -> None:
    assert await read(600, BYTES_PER_S, 1.0) == 600 * BYTES_PER_S
    assert await read(100, 1000, 0.01, taken_s=10.0) == 100_000


async def test_a_body_below_the_least_rate_is_ended_however_long_it_is() -> None:
    with pytest.raises(HTTPException):
        await read(600, BYTES_PER_S // 2, 1.0)
