"""JSON of the API is compressed where the client takes gzip and the length tells of no secret."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from backend_api.kit.http.compressed_json import IN_THREAD_BYTES, CompressedJson

ROWS = [{"id": f"session-{number}", "title": "A conversation"} for number in range(50)]
PLAIN = JSONResponse(ROWS).body


async def rows(_: Request) -> Response:
    return JSONResponse(ROWS)


async def many(_: Request) -> Response:
    return JSONResponse(ROWS * (IN_THREAD_BYTES // len(PLAIN) + 1))


async def few(_: Request) -> Response:
    return JSONResponse(ROWS[:1])


async def tagged(_: Request) -> Response:
    return JSONResponse(ROWS, headers={"ETag": '"one"'})


async def refused(_: Request) -> Response:
    return JSONResponse(ROWS, status_code=404)


async def text(_: Request) -> Response:
    return Response(PLAIN, media_type="text/plain")


async def streamed(_: Request) -> Response:
    async def pieces() -> AsyncIterator[bytes]:
        yield PLAIN[:1500]
        yield PLAIN[1500:]

    return StreamingResponse(pieces(), media_type="application/json")


HANDLERS = {one.__name__: one for one in (rows, many, few, tagged, refused, text, streamed)}


async def ask(path: str, method: str = "GET", accepts: str = "gzip, br") -> httpx.Response:
    app = Starlette(
        routes=[Route(f"/{{_:path}}{name}", one, methods=["GET", "POST"]) for name, one in HANDLERS.items()]
    )
    app.add_middleware(CompressedJson)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        return await client.request(method, path, headers={"Accept-Encoding": accepts})


@pytest.mark.parametrize("name", ["rows", "many"])
async def test_json_is_compressed(name: str) -> None:
    answer = await ask(f"/api/{name}")
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert int(answer.headers["content-length"]) < len(answer.content) / 4
    assert answer.json()[: len(ROWS)] == ROWS


async def test_large_answers_take_no_thread_in_which_passwords_are_checked() -> None:
    free = threading.Event()
    with ThreadPoolExecutor(1) as shared:
        asyncio.get_running_loop().set_default_executor(shared)
        taken = asyncio.get_running_loop().run_in_executor(None, free.wait, 30)
        try:
            answer = await asyncio.wait_for(ask("/api/many"), 10)
        finally:
            free.set()
            await taken
    assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    ("path", "method", "accepts"),
    [
        ("/api/rows", "POST", "gzip"),
        ("/api/rows", "GET", "br"),
        ("/api/rows", "GET", "gzip;q=0, br"),
        ("/rows", "GET", "gzip"),
        *((f"/api/{name}", "GET", "gzip") for name in ("few", "tagged", "refused", "text", "streamed")),
    ],
)
async def test_what_else_is_answered_stays_as_it_is(path: str, method: str, accepts: str) -> None:
    answer = await ask(path, method, accepts)
    assert "content-encoding" not in answer.headers
    assert answer.content in (PLAIN, JSONResponse(ROWS[:1]).body)
