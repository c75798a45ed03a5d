"""`httpx` over a pool of `httpcore` that connects as it is told: httpx itself takes no such pool."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator
from contextlib import contextmanager
from typing import Any, cast

import httpcore
import httpx

_FAULTS: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (httpcore.ConnectTimeout, httpx.ConnectTimeout),
    (httpcore.TimeoutException, httpx.ReadTimeout),
    (httpcore.ConnectError, httpx.ConnectError),
    (httpcore.NetworkError, httpx.NetworkError),
    (httpcore.ProxyError, httpx.ProxyError),
    (httpcore.ProtocolError, httpx.RemoteProtocolError),
    (httpcore.UnsupportedProtocol, httpx.UnsupportedProtocol),
)
"""The first that fits."""


class PoolTransport(httpx.AsyncBaseTransport):
    def __init__(self, pool: httpcore.AsyncConnectionPool) -> None:
        self._pool = pool

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Raises `httpx.TransportError`, and what the pool's network raises of its own."""
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=cast("AsyncIterable[bytes]", request.stream),
            extensions=request.extensions,
        )
        with _faults_of_httpx():
            answer = await self._pool.handle_async_request(asked)
        # The library says of its extensions that they may be anything.
        extensions = cast("dict[str, Any]", answer.extensions)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer), extensions=extensions)

    async def aclose(self) -> None:
        """Ends all connections."""
        await self._pool.aclose()


class _Body(httpx.AsyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces()

    async def _pieces(self) -> AsyncGenerator[bytes]:
        with _faults_of_httpx():
            async for piece in cast("AsyncIterable[bytes]", self._answer.stream):
                yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


@contextmanager
def _faults_of_httpx() -> Generator[None, Any]:
    try:
        yield
    except tuple(kind for kind, _ in _FAULTS) as error:
        fault = next(meant for kind, meant in _FAULTS if isinstance(error, kind))
        raise fault(str(error)) from error
