"""How fast a body has to come, and how much of it is read that is no form."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from fastapi import HTTPException, Request
from starlette.types import Message

from backend_api.sandboxes.http.forms import BYTES_PER_S, MAX_FIELD_BYTES, SLOW_S, in_time, uploaded_files


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


PART = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\ncontent\r\n--b--\r\n'
ENDLESS = 1_000


class Body:
    """Some pieces, then one again and again; a thousand of them stand for a body without end."""

    def __init__(self, *pieces: bytes, then: bytes) -> None:
        self._pieces = list(pieces)
        self._then = then
        self.read = 0

    async def receive(self) -> Message:
        self.read += 1
        assert self.read < ENDLESS, "it is read on"
        piece = self._pieces.pop(0) if self._pieces else self._then
        return {"type": "http.request", "body": piece, "more_body": True}

    async def contents(self) -> list[bytes]:
        headers = [(b"content-type", b"multipart/form-data; boundary=b")]
        request = Request({"type": "http", "method": "POST", "headers": headers}, self.receive)
        async with uploaded_files(request, max_files=5, max_file_bytes=1_000) as files:
            return [b"".join([piece async for piece in file.chunks]) async for file in files]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"it's \"quoted\".txt", 'it\'s "quoted".txt'),
        ("50%22.txt", "50%22.txt"),
        (r"a\\\"b", r"a\"b"),
        ("图; b=c.png", "图; b=c.png"),
    ],
)
async def test_a_file_has_the_name_that_the_page_wrote(written: str, name: str) -> None:
    part = f'--b\r\nContent-Disposition: form-data; name="files"; filename="{written}"\r\n\r\nx\r\n--b--\r\n'
    headers = [(b"content-type", b"multipart/form-data; boundary=b")]
    request = Request({"type": "http", "method": "POST", "headers": headers}, Body(part.encode(), then=b"").receive)
    async with uploaded_files(request, max_files=5, max_file_bytes=1_000) as files:
        assert [file.name async for file in files] == [name]


async def test_what_comes_after_a_form_without_end_is_not_read() -> None:
    body = Body(PART, then=b"x" * 65_536)
    assert await body.contents() == [b"content"]
    assert body.read == 1


async def test_what_comes_before_a_form_is_bounded() -> None:
    assert await Body(b"\r\n", PART, then=b"").contents() == [b"content"]
    body = Body(then=b"\r\n" * 1_000)
    with pytest.raises(HTTPException) as caught:
        await body.contents()
    assert caught.value.status_code == 400
    assert body.read <= MAX_FIELD_BYTES // 2_000 + 2
