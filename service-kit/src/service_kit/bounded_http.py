"""Calls of an untrusted server: nothing is read from it without a limit of bytes and of time.

`BoundedHttp` is the one way to such a server. Both its methods require `Bounds` at each call, and neither returns
anything that reads without them.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

Transport = httpx.AsyncBaseTransport
"""Opens connections; `tcp_or_socket` makes one."""
TransportError = httpx.TransportError
"""The connection could not be made, broke, or took too long; `RefusedAnswerError` is one, too."""
NoConnectionError = (httpx.ConnectError, httpx.ConnectTimeout)
"""Nothing was sent: the connection could not be made."""
NoFreeConnectionError = httpx.PoolTimeout
"""Nothing was sent: all connections were in use for too long."""

logger = logging.getLogger(__name__)

MAX_PROBLEM_BYTES = 64 * 1024
"""Size limit of an error's body."""
WRITE_S = 60.0
_MOST_CONNECTIONS = 100
_YIELD_EVERY = 64


class RefusedAnswerError(httpx.RemoteProtocolError):
    """The answer was over a bound, or no honest server sends it; the connection is closed.

    It is one of the client's own errors, so that code that handles a broken connection handles this too.
    """


class TooLongAnswerError(RefusedAnswerError):
    """The answer's body has more bytes than the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of an answer.

    `body_bytes` limits its body, `head_s` the seconds until its head is whole (sending the request included) and
    `whole_s` those of all of it. `silent_s` is the longest pause between two pieces; with `slowest` a long answer may
    take `silent_s`, and a second more for each `slowest` bytes of it.
    """

    body_bytes: int
    head_s: float
    whole_s: float | None = None
    silent_s: float | None = None
    slowest: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `is_success` is a status of 200 to 299; all others are errors."""

    status: int
    headers: httpx.Headers
    content: bytes

    @property
    def is_success(self) -> bool:
        return self.status < 300


class StreamedAnswer:
    """An answer whose body is still to be read, at most once, by `pieces` or `whole`."""

    def __init__(self, response: httpx.Response, bounds: Bounds, began: float) -> None:
        self._response = response
        self._bounds = bounds
        self._began = began
        self._declared = declared_length(response.headers)
        self.status = response.status_code
        self.headers = response.headers

    @property
    def is_success(self) -> bool:
        return self.status < 300

    async def pieces(self) -> AsyncGenerator[bytes]:
        """The body as it comes. Raises `RefusedAnswerError`, and `httpx.TransportError` where the connection breaks."""
        bounds, clock = self._bounds, asyncio.get_running_loop().time
        source = self._response.aiter_raw()
        taken, waited, count = 0, 0.0, 0
        while True:
            asked = clock()
            try:
                async with asyncio.timeout(self._read_timeout(asked, taken, waited)):
                    piece = await anext(source, None)
            except TimeoutError as error:
                raise httpx.ReadTimeout("the rest of the answer did not come in time") from error
            if piece is None:
                if self._declared not in (None, taken):
                    raise RefusedAnswerError("the answer is shorter than it says")
                return
            waited += clock() - asked
            taken += len(piece)
            if taken > bounds.body_bytes:
                raise TooLongAnswerError(f"the answer has more than {bounds.body_bytes} bytes")
            if self._declared is not None and taken > self._declared:
                raise RefusedAnswerError("the answer is longer than it says")
            yield piece
            count += 1
            if count % _YIELD_EVERY == 0:
                # Pieces that arrived together are not waited for, so that no other task would get its turn.
                await asyncio.sleep(0)

    async def whole(self) -> bytes:
        """The whole body."""
        content = bytearray()
        async for piece in self.pieces():
            content += piece
        return bytes(content)

    async def lines(self, most_bytes: int) -> AsyncGenerator[bytes]:
        """The lines that are not blank, without their ends. Raises `RefusedAnswerError` for one over `most_bytes`."""
        rest = bytearray()
        count = 0
        async for piece in self.pieces():
            searched = len(rest)
            rest += piece
            while (end := rest.find(b"\n", searched)) >= 0:
                line = bytes(memoryview(rest)[:end])
                del rest[: end + 1]
                searched = 0
                if line.strip():
                    yield line
                count += 1
                if count % _YIELD_EVERY == 0:
                    await asyncio.sleep(0)
            if len(rest) > most_bytes:
                raise RefusedAnswerError(f"a line of the answer has more than {most_bytes} bytes")
        if rest.strip():
            yield bytes(rest)

    async def problem(self) -> bytes:
        """The body of an error; empty if it is over the limit."""
        content = bytearray()
        async for piece in self.pieces():
            content += piece
            if len(content) > MAX_PROBLEM_BYTES:
                return b""
        return bytes(content)

    def _read_timeout(self, now: float, taken: int, waited: float) -> float | None:
        bounds = self._bounds
        limits: list[float] = []
        if bounds.whole_s is not None:
            limits.append(self._began + bounds.whole_s - now)
        if bounds.silent_s is not None:
            limits.append(bounds.silent_s)
            if bounds.slowest is not None:
                limits.append(bounds.silent_s + taken / bounds.slowest - waited)
        return max(min(limits), 0.0) if limits else None


class BoundedHttp:
    """Connections to one such server. `fields` name it in the log; `hook` is called with each request.

    Nothing is decompressed, no redirect is followed, and no cookie is kept.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        base_url: str,
        connect_s: float,
        fields: Mapping[str, object],
        headers: Mapping[str, str] | None = None,
        headers_of_call: Callable[[], Mapping[str, str]] = dict[str, str],
    ) -> None:
        self._fields = dict(fields)
        self._headers_of_call = headers_of_call
        self._http = httpx.AsyncClient(
            transport=transport,
            base_url=base_url,
            timeout=httpx.Timeout(None, connect=connect_s, write=WRITE_S, pool=connect_s),
            headers={**(headers or {}), "Accept-Encoding": "identity"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            follow_redirects=False,
            trust_env=False,
        )

    async def aclose(self) -> None:
        """End all connections."""
        await self._http.aclose()

    async def ask(self, method: str, path: str, bounds: Bounds, **fields: Any) -> Answer:
        """A call with a short answer. Raises as `StreamedAnswer.pieces` does."""
        async with self.stream(method, path, bounds, **fields) as answer:
            content = await (answer.whole() if answer.is_success else answer.problem())
            return Answer(answer.status, answer.headers, content)

    @asynccontextmanager
    async def stream(self, method: str, path: str, bounds: Bounds, **fields: Any) -> AsyncGenerator[StreamedAnswer]:
        """A call whose answer is read as it comes; unread rest at the end of the block is not waited for."""
        began = asyncio.get_running_loop().time()
        try:
            response = await self._head(method, path, bounds, fields)
            try:
                _check_head(response, bounds)
                yield StreamedAnswer(response, bounds, began)
            finally:
                await response.aclose()
        except (RefusedAnswerError, httpx.ReadTimeout) as error:
            logger.warning("answer refused", extra={**self._fields, "call": f"{method} {path}", "reason": str(error)})
            raise

    async def _head(self, method: str, path: str, bounds: Bounds, fields: dict[str, Any]) -> httpx.Response:
        headers = {**self._headers_of_call(), **fields.pop("headers", {})}
        request = self._http.build_request(method, path, headers=headers, **fields)
        try:
            async with asyncio.timeout(bounds.head_s):
                return await self._http.send(request, stream=True)
        except TimeoutError as error:
            raise httpx.ReadTimeout("no answer came in time") from error


def tcp_or_socket(
    *,
    certificates: ssl.SSLContext,
    socket_path: str | None = None,
    most_idle: int = 10,
    idle_s: float = 60.0,
) -> Transport:
    """Connections over TCP, or over the unix socket at `socket_path`, of which `most_idle` stay open while idle, for
    `idle_s` seconds."""
    limits = httpx.Limits(
        max_connections=_MOST_CONNECTIONS, max_keepalive_connections=most_idle, keepalive_expiry=idle_s
    )
    return httpx.AsyncHTTPTransport(uds=socket_path, limits=limits, verify=certificates)


def _check_head(response: httpx.Response, bounds: Bounds) -> None:
    status = response.status_code
    if not (200 <= status < 300 or 400 <= status < 600):
        raise RefusedAnswerError(f"a status of {status} was not asked for")
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise RefusedAnswerError("the answer is compressed, which was not asked for")
    if "transfer-encoding" in response.headers and "content-length" in response.headers:
        raise RefusedAnswerError("the answer says in two ways where it ends")
    length = declared_length(response.headers)
    if length is None and "content-length" in response.headers:
        raise RefusedAnswerError("the answer says a length that can't be")
    if length is not None and length > bounds.body_bytes:
        raise TooLongAnswerError(f"the answer has more than {bounds.body_bytes} bytes")


def declared_length(headers: httpx.Headers) -> int | None:
    """The length an answer declares, if that is a plausible number."""
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() and len(length) < 19 else None
