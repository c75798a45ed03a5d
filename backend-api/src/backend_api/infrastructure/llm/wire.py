"""One streaming call to where an SDK's client would send it, over its connections and with its headers.

The SDK's own part of a call took as long as all of HTTP, for retries and errors that are made here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import httpx2

from backend_api.domain.agent.model import (
    ModelError,
    ModelStreamCutError,
    ModelUnavailableError,
    Part,
)
from backend_api.infrastructure.llm.bounds import HEAD_S, SILENCE_S, Taken
from backend_api.infrastructure.llm.faults import as_object, fault_of
from backend_api.infrastructure.llm.sse import SseOverflowError, data_lines
from backend_api.infrastructure.llm.surrogates import WholeCharacters

CONNECT_S = 10.0
DRAIN_S = 0.05
BETA_HEADER = "anthropic-beta"
TIMEOUT = httpx2.Timeout(SILENCE_S, connect=CONNECT_S, pool=CONNECT_S)
CONNECTIONS = 500
SPARE_CONNECTIONS = 50
"""Some that are being closed are still counted by the client."""

_SENT = httpx2.ByteStream(b"")
"""In place of what was sent, which an answer would hold until its end."""


class Connections:
    """So many answers of one provider at once; the next waits `within_s` seconds at most, in the order they come."""

    def __init__(self, most: int, within_s: float | None) -> None:
        self.limits = httpx2.Limits(
            max_connections=most + SPARE_CONNECTIONS, max_keepalive_connections=50, keepalive_expiry=300.0
        )
        self._free = asyncio.Semaphore(most)
        self._within_s = within_s

    @asynccontextmanager
    async def one(self, provider: str) -> AsyncGenerator[None]:
        """Raises `ModelUnavailableError` when none came free."""
        try:
            async with asyncio.timeout(self._within_s):
                await self._free.acquire()
        except TimeoutError as error:
            busy = f"Too many answers of {provider} are under way here at once. Try again in a moment."
            raise ModelUnavailableError(busy, may_retry=True) from error
        try:
            yield
        finally:
            self._free.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderApi:
    """What messages call it, and which setting has its key."""

    name: str
    key_setting: str


class SdkClient(Protocol):
    """What an SDK's client says of where and how it would ask."""

    @property
    def base_url(self) -> httpx2.URL: ...

    @property
    def auth_headers(self) -> Mapping[str, object]: ...

    @property
    def default_headers(self) -> Mapping[str, object]:
        """Those that are no text are left out."""
        ...


class Endpoint:
    """Takes one kind of call, with the headers that an SDK's client would send over `http`."""

    def __init__(self, client: SdkClient, http: httpx2.AsyncClient, path: str) -> None:
        base, headers = client.base_url, {**client.auth_headers, **client.default_headers}
        # What all requests have in common is put together once.
        self._blank = http.build_request(
            "POST",
            base.copy_with(raw_path=base.raw_path.rstrip(b"/") + path.encode()),
            headers={name: value for name, value in headers.items() if isinstance(value, str)},
        )
        del self._blank.headers["content-length"]
        self._http = http

    async def post(self, content: bytes, betas: str = "") -> httpx2.Response:
        """The answer, which streams, of whatever status. `betas`: what the provider calls what this call needs and is
        not in its API for all."""
        blank = self._blank
        headers = blank.headers
        if betas:
            named = ",".join(filter(None, (headers.get(BETA_HEADER, ""), betas)))
            headers = httpx2.Headers(headers)
            headers[BETA_HEADER] = named
        request = httpx2.Request(
            "POST",
            blank.url,
            headers=headers,
            cookies=self._http.cookies,
            content=content,
            extensions=blank.extensions,
        )
        return await self._http.send(request, stream=True)


class StreamState(Protocol):
    """What a stream has said so far, in one wire format."""

    @property
    def is_over(self) -> bool:
        """Whether nothing of what may still come matters."""
        ...

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        """What the next event adds."""
        ...

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """What the end adds; `is_done` where the stream had the mark `[DONE]`. Raises `ModelStreamCutError` where it
        was cut."""
        ...


async def ask(
    endpoint: Endpoint,
    body: bytes,
    state: StreamState,
    *,
    provider: ProviderApi,
    connections: Connections,
    betas: str = "",
) -> AsyncGenerator[Part, None]:
    """One call: the parts in the order they arrive. Closing the generator closes the connection. `betas` as in
    `Endpoint.post`."""
    content = [body]
    # Given away: it may be megabytes, and an answer takes minutes.
    del body
    is_done, whole, taken = False, WholeCharacters(), Taken(provider.name)
    async with connections.one(provider.name), _answering(endpoint, content, provider, betas) as response:
        chunks = response.aiter_bytes()
        async with aclosing(data_lines(taken.chunks(chunks))) as batches:
            async for batch in batches:
                for data in batch:
                    if data == b"[DONE]":
                        is_done = True
                        continue
                    event = parse(data, whole, provider.name)
                    for part in whole.parts(_understood(partial(state.parts_of, event), provider.name)):
                        taken.part(part)
                        yield part
                if is_done or state.is_over:
                    break
        await drain(chunks)
    closing = _understood(partial(state.closing_parts, is_done=is_done), provider.name)
    for part in whole.parts(closing, is_end=True):
        taken.part(part)
        yield part


@asynccontextmanager
async def _answering(
    endpoint: Endpoint, content: list[bytes], provider: ProviderApi, betas: str
) -> AsyncGenerator[httpx2.Response, None]:
    """The answer while it streams; `content` is taken from its list."""
    name = provider.name
    try:
        async with asyncio.timeout(HEAD_S):
            response = await endpoint.post(content.pop(), betas)
    except (TimeoutError, httpx2.TimeoutException) as error:
        # Connections refused or lost come as the second too.
        said = "can't be reached" if isinstance(error, httpx2.ConnectTimeout) else "did not answer in time"
        raise ModelUnavailableError(f"{name} {said}.", may_retry=True) from error
    except (httpx2.RequestError, OSError) as error:
        raise ModelUnavailableError(f"{name} can't be reached.", may_retry=True) from error
    if not response.is_success:
        raise _status_fault(response, provider)
    response.request = httpx2.Request("POST", response.request.url, stream=_SENT)
    try:
        yield response
    except httpx2.ReadTimeout as error:
        silence = f"{name} sent nothing for {SILENCE_S:g} s."
        raise ModelUnavailableError(silence, may_retry=True) from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise cut(name) from error
    except SseOverflowError as error:
        raise ModelUnavailableError(f"{name} sent a line that is too long.") from error
    finally:
        await response.aclose()


async def drain(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end after the last event: a connection that is read to its end is used again."""
    try:
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass
    except (TimeoutError, httpx2.HTTPError):
        return


def cut(provider: str) -> ModelStreamCutError:
    return ModelStreamCutError(f"The connection to {provider} broke in the middle of the answer.", may_retry=True)


def _understood(parts: Callable[[], list[Part]], provider: str) -> list[Part]:
    try:
        return parts()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ModelUnavailableError(f"{provider} sent something of an unknown form.", may_retry=True) from error


def parse(data: bytes, whole: WholeCharacters, provider: str) -> dict[str, Any]:
    try:
        return as_object(whole.event(data))
    except ValueError as error:
        raise ModelUnavailableError(f"{provider} sent something that is not JSON.", may_retry=True) from error


def _status_fault(response: httpx2.Response, provider: ProviderApi) -> ModelError:
    """Of an answer that is read."""
    # Not by what it says of its characters, which may be any coding that Python has.
    said = response.content.decode("utf-8", "replace")
    error: object = said.strip()
    with suppress(ValueError, RecursionError):
        error = json.loads(said)
    return fault_of(
        response.status_code,
        error,
        provider=provider.name,
        key_setting=provider.key_setting,
        headers=dict(response.headers),
    )
