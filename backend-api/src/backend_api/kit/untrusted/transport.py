"""A transport of `httpx` over a given pool of `httpcore`: httpx itself accepts no pool."""

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
"""Mapping of errors, of which the first match counts."""


class PoolTransport(httpx.AsyncBaseTransport):
    def __init__(self, pool: httpcore.AsyncConnectionPool) -> None:
        self._pool = pool

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Raises `httpx.TransportError`, and the own errors of the pool's network."""
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
        # The library types its extensions as anything.
        extensions = cast("dict[str, Any]", answer.extensions)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer), extensions=extensions)

    async def aclose(self) -> None:
        """End all connections."""
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
