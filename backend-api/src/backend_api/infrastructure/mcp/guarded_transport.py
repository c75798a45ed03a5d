"""What the protocol's package connects by: only to addresses that are allowed, and for no more than so much of each
answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import httpx2

from backend_api.infrastructure.fetch.errors import AddressRefusedError
from backend_api.infrastructure.fetch.rules import FetchRules

MAX_ANSWER_BYTES = 4 * 1024 * 1024
"""Of one answer, or of one stream of events however long it is open."""
MAX_EVENT_LINES = 20_000
"""Of a stream of events: small ones cost more than their bytes."""


TOO_MUCH = f"It sends more than {MAX_ANSWER_BYTES // 1024 // 1024} MB, or too many events."


@dataclass(slots=True)
class Refusals:
    """Why a server can't be used, as far as its answers said so."""

    status: int | None = None
    """The last one that was an error."""
    said: str = ""


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Of one connection to one server; `inner` is shared, and stays open."""

    def __init__(self, inner: httpx.AsyncBaseTransport, rules: FetchRules, refusals: Refusals) -> None:
        self._inner = inner
        self._rules = rules
        self._refusals = refusals

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises `httpx2.TransportError`."""
        try:
            self._rules.checked(str(request.url))
        except AddressRefusedError as error:
            self._refusals.said = error.detail
            raise httpx2.UnsupportedProtocol("refused", request=request) from error
        asked = httpx.Request(
            request.method,
            str(request.url),
            headers=request.headers.raw,
            content=await request.aread(),
            extensions={"timeout": request.extensions.get("timeout", {})},
        )
        with self._faults(request):
            answer = await self._inner.handle_async_request(asked)
        if answer.status_code >= 400:
            self._refusals.status = answer.status_code
        if answer.headers.get("content-encoding", "identity").strip().lower() != "identity":
            await answer.aclose()
            self._refusals.said = "What it sends is packed in a way nobody asked for."
            raise httpx2.DecodingError("packed", request=request)
        body = self._pieces(answer, request)
        return httpx2.Response(answer.status_code, headers=answer.headers.raw, stream=_Body(answer, body))

    async def _pieces(self, answer: httpx.Response, request: httpx2.Request) -> AsyncGenerator[bytes]:
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        is_stream = answer.headers.get("content-type", "").lower().startswith("text/event-stream")
        size = lines = 0
        with self._faults(request):
            async for piece in answer.stream:
                size += len(piece)
                lines += piece.count(b"\n") if is_stream else 0
                if size > MAX_ANSWER_BYTES or lines > MAX_EVENT_LINES:
                    self._refusals.said = TOO_MUCH
                    raise httpx2.ReadError("too much", request=request)
                yield piece

    @contextmanager
    def _faults(self, request: httpx2.Request) -> Generator[None]:
        try:
            yield
        except AddressRefusedError as error:
            self._refusals.said = error.detail
            raise httpx2.ConnectError("refused", request=request) from error
        except httpx.ConnectTimeout as error:
            self._refusals.said = "No server can be reached there."
            raise httpx2.ConnectTimeout("no server", request=request) from error
        except httpx.ConnectError as error:
            self._refusals.said = "No server can be reached there."
            raise httpx2.ConnectError("no server", request=request) from error
        except httpx.TransportError as error:
            raise httpx2.ReadError(type(error).__name__, request=request) from error


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpx.Response, pieces: AsyncGenerator[bytes]) -> None:
        self._answer = answer
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces

    async def aclose(self) -> None:
        try:
            await self._pieces.aclose()
        finally:
            await self._answer.aclose()
