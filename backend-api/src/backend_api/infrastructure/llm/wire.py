"""One streaming call of a provider: its answer in parts as they arrive, and its faults as the domain's errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Protocol

import aiohttp

from backend_api.domain.agent.model import (
    ModelError,
    ModelRequestError,
    ModelStreamCutError,
    ModelUnavailableError,
    Part,
)
from backend_api.infrastructure.llm.bounds import ERROR_S, MAX_ERROR_BYTES, AnswerBounds
from backend_api.infrastructure.llm.endpoint import Endpoint
from backend_api.infrastructure.llm.faults import as_object, fault_of, in_sentence
from backend_api.infrastructure.llm.sse import DataLines, SseOverflowError
from backend_api.infrastructure.llm.surrogates import WholeCharacters

DRAIN_S = 0.05
MAX_CHUNK_BYTES = 64 * 1024
"""Others have a turn after each: ten times as much may have come at once, or out of a few compressed bytes."""

_UNKNOWN_FORM = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""What reading an answer meets where that is not what it should be."""


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


class _AnswerReader:
    """Reads the chunks of one answer into parts. Its methods raise `ModelError`, and `SseOverflowError` for a line that
    is too long."""

    def __init__(self, state: StreamState, bounds: AnswerBounds, provider: str) -> None:
        self._state = state
        self._bounds = bounds
        self._provider = provider
        self._lines = DataLines()
        self._characters = WholeCharacters()
        self._is_done = False

    @property
    def is_over(self) -> bool:
        return self._is_done or self._state.is_over

    def parts_of(self, chunk: bytes) -> Iterator[Part]:
        """What the next chunk adds."""
        for data in self._lines.split(chunk):
            if data == b"[DONE]":
                self._is_done = True
                continue
            event = self._event(data)
            try:
                parts = self._state.parts_of(event)
            except _UNKNOWN_FORM as error:
                raise _unknown_form(self._provider) from error
            for part in self._characters.parts(parts):
                self._bounds.count(part)
                yield part

    def closing_parts(self) -> Iterator[Part]:
        """What the end adds."""
        try:
            parts = self._state.closing_parts(is_done=self._is_done)
        except _UNKNOWN_FORM as error:
            raise _unknown_form(self._provider) from error
        for part in self._characters.parts(parts, is_end=True):
            self._bounds.count(part)
            yield part

    def _event(self, data: bytes) -> dict[str, Any]:
        try:
            return as_object(self._characters.event(data))
        except ValueError as error:
            said = f"{self._provider} sent something that is not JSON."
            raise ModelUnavailableError(said, may_retry=True) from error


async def ask(endpoint: Endpoint, body: bytes, state: StreamState, *, betas: str = "") -> AsyncGenerator[Part, None]:
    """One call: the parts in the order they arrive. Closing the generator closes the connection. `betas` as in
    `Endpoint.post`."""
    content, provider = [body], endpoint.provider.name
    # Given away: it may be megabytes, and an answer takes minutes.
    del body
    bounds = AnswerBounds(provider, silence_s=endpoint.timeouts.silence_s)
    reader = _AnswerReader(state, bounds, provider)
    async with endpoint.connections.one(provider), _answering(endpoint, content, betas) as response:
        chunks = response.content.iter_chunked(MAX_CHUNK_BYTES)
        async with aclosing(bounds.bounded(chunks)) as bounded:
            async for chunk in bounded:
                for part in reader.parts_of(chunk):
                    yield part
                if reader.is_over:
                    break
            else:
                # The last line may have had no end.
                for part in reader.parts_of(b"\n"):
                    yield part
        await drain(chunks)
    for part in reader.closing_parts():
        yield part


@asynccontextmanager
async def _answering(
    endpoint: Endpoint, content: list[bytes], betas: str
) -> AsyncGenerator[aiohttp.ClientResponse, None]:
    """The answer while it streams; `content` is taken from its list."""
    name = endpoint.provider.name
    try:
        async with asyncio.timeout(endpoint.timeouts.head_s):
            response = await endpoint.post(content.pop(), betas)
    except (ValueError, aiohttp.ClientError, OSError) as error:
        raise _no_answer(error, endpoint) from error
    try:
        if not 200 <= response.status < 300:
            raise await _status_fault(response, endpoint)
        yield response
    except aiohttp.ClientError as error:
        raise cut(name) from error
    except SseOverflowError as error:
        raise ModelUnavailableError(f"{name} sent a line that is too long.") from error
    finally:
        # One that is read to its end has given its connection back.
        response.close()


def _no_answer(error: Exception, endpoint: Endpoint) -> ModelError:
    """Of a call whose answer did not begin."""
    name = endpoint.provider.name
    # A certificate that is not trusted is a `ValueError`, too.
    is_unreachable = isinstance(error, (aiohttp.ClientConnectionError, OSError))
    if not is_unreachable and isinstance(error, (aiohttp.NonHttpUrlClientError, ValueError)):
        parts = f"its address, its key ({endpoint.provider.key_setting}) or the proxy of the environment"
        return ModelRequestError(f"{name} can't be asked: {parts} has something that can't be sent.")
    is_late = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
    said = "did not answer in time" if is_late else "can't be reached"
    return ModelUnavailableError(f"{name} {said}.", may_retry=True)


async def drain(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end after the last event: a connection that is read to its end is used again."""
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass


def cut(provider: str) -> ModelStreamCutError:
    return ModelStreamCutError(
        f"The connection to {in_sentence(provider)} broke in the middle of the answer.", may_retry=True
    )


def _unknown_form(provider: str) -> ModelUnavailableError:
    return ModelUnavailableError(f"{provider} sent something of an unknown form.", may_retry=True)


async def _status_fault(response: aiohttp.ClientResponse, endpoint: Endpoint) -> ModelError:
    """Of an answer that is no success only the beginning is read."""
    content = bytearray()
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(ERROR_S):
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) >= MAX_ERROR_BYTES:
                    break
    # Not by what it says of its characters, which may be any coding that Python has.
    said = content[:MAX_ERROR_BYTES].decode("utf-8", "replace")
    error: object = said.strip()
    with suppress(ValueError, RecursionError):
        error = json.loads(said)
    api = endpoint.provider
    return fault_of(response.status, error, provider=api.name, key_setting=api.key_setting, headers=response.headers)
