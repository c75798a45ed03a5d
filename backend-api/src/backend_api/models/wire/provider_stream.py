"""One streaming call of a provider: its answer in parts as they arrive, and its errors as the domain's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any, Protocol

import aiohttp

from backend_api.agent.model import (
    ModelAnswerError,
    ModelError,
    ModelRequestError,
    ModelStreamCutError,
    ModelUnavailableError,
    Part,
)
from backend_api.models.wire.bounds import ERROR_S, MAX_ERROR_BYTES, AnswerBounds
from backend_api.models.wire.endings import nothing_sent
from backend_api.models.wire.endpoint import Endpoint, ProviderApi
from backend_api.models.wire.faults import (
    MAX_MESSAGE_CHARACTERS,
    as_object,
    fault_in_stream,
    fault_of,
    in_sentence,
    message_of,
)
from backend_api.models.wire.sse import (
    BYTE_ORDER_MARK,
    MAX_LINE_BYTES,
    DataLines,
    ErrorData,
    SseOverflowError,
    form_of,
)
from backend_api.models.wire.surrogates import WholeCharacters
from backend_api.models.wire.think_tags import ThinkTags
from backend_api.models.wire.whole_answers import fault_in_body, objects_of

DRAIN_S = 0.05
MAX_CHUNK_BYTES = 64 * 1024
"""Bytes read before other tasks get a turn: ten times as much may have arrived at once, or out of a few compressed
bytes."""

OTHER_FORMAT = "{}'s answer is not in the format of its API. Check its address, and which API is chosen for it."
_UNKNOWN_FORM = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""Exceptions that reading an answer of an unexpected form may raise."""


class StreamState(Protocol):
    """The state of a stream in one wire format."""

    @property
    def is_over(self) -> bool:
        """Whether the rest of the stream no longer matters."""
        ...

    def parts_of(self, event: dict[str, Any]) -> list[Part]:
        """The parts that the next event adds."""
        ...

    def events_of(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """The events that a whole answer would have been streamed in; none if it is not an answer."""
        ...

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """The parts that the end adds; `is_done`: the stream had the mark `[DONE]`. Raises `ModelStreamCutError` if it
        was cut."""
        ...


class _AnswerReader:
    """Reads the chunks of one answer into parts. Its methods raise `ModelError`, and `SseOverflowError` for a line that
    is too long."""

    def __init__(self, state: StreamState, bounds: AnswerBounds, api: ProviderApi) -> None:
        self._state = state
        self._bounds = bounds
        self._api = api
        self._provider = api.name
        self._head: bytearray | None = bytearray()
        """The bytes until it is clear that it is a stream, or the whole body if it is not."""
        self._lines = DataLines()
        self._tags = ThinkTags()
        self._characters = WholeCharacters()
        self._has_events = False
        self._is_done = False
        self._odd: ModelError | None = None
        """The error for the last data if that was not JSON. It is raised if nothing follows; otherwise it counts as a
        sign of life."""

    @property
    def is_over(self) -> bool:
        return self._is_done or self._state.is_over

    def parts_of(self, chunk: bytes) -> Iterator[Part]:
        """The parts that the next chunk adds."""
        if self._head is not None:
            chunk = self._strip_head(self._head, chunk)
        for data in self._lines.split(chunk):
            if not data:
                continue
            if data.startswith(b"data:"):
                # Some proxies repeat the field's name.
                data = data.removeprefix(b"data:").strip()
            if data == b"[DONE]":
                self._is_done = True
                continue
            event = self._event(data)
            if event is not None:
                self._has_events, self._odd = True, None
                yield from self._read(event)

    def closing_parts(self) -> Iterator[Part]:
        """The parts that the end adds."""
        if self._head is not None and self._head.strip():
            yield from self._whole(bytes(self._head))
        elif self._head is None and not self._has_events:
            raise self._odd or nothing_sent(self._provider)
        try:
            parts = self._state.closing_parts(is_done=self._is_done)
            yield from self._counted(parts, is_end=True)
        except (ModelAnswerError, ModelStreamCutError) as error:
            if self._odd is None:
                raise
            raise self._odd from error
        except _UNKNOWN_FORM as error:
            raise _unknown_form(self._provider) from error

    def _strip_head(self, head: bytearray, chunk: bytes) -> bytes:
        """The bytes of the stream that can be read now."""
        head += chunk
        if head[:1].isspace():
            del head[: len(head) - len(head.lstrip())]
        match form_of(bytes(head[:64])):
            case "stream":
                self._head = None
                return bytes(head).removeprefix(BYTE_ORDER_MARK)
            case "body" if len(head) > MAX_LINE_BYTES:
                raise SseOverflowError
            case _:
                return b""

    def _whole(self, body: bytes) -> Iterator[Part]:
        """Reads an answer that is not a stream."""
        answers = objects_of(body, self._api)
        events = [event for answer in answers for event in self._state.events_of(answer)]
        if not events:
            raise fault_in_body(answers[0] if answers else {}, self._api)
        self._is_done = True
        for event in events:
            yield from self._read(event)

    def _read(self, event: dict[str, Any]) -> Iterator[Part]:
        try:
            if parts := self._state.parts_of(event):
                yield from self._counted(parts)
        except _UNKNOWN_FORM as error:
            raise _unknown_form(self._provider) from error

    def _counted(self, parts: Sequence[Part], *, is_end: bool = False) -> Iterator[Part]:
        for part in self._characters.parts(self._tags.parts(parts, is_end=is_end), is_end=is_end):
            self._bounds.count(part)
            yield part

    def _event(self, data: bytes) -> dict[str, Any] | None:
        """The event, or None if the data is not JSON, which is reported at the end if nothing follows."""
        try:
            event = self._characters.event(data)
        except ValueError as error:
            text = data[: 4 * MAX_MESSAGE_CHARACTERS].decode("utf-8", "replace")
            told = message_of(text)
            if isinstance(data, ErrorData):
                raise self._stream_fault(told) from error
            said = f"{self._provider} sent something that is not JSON" + (f": {told}" if told else ".")
            self._odd = ModelUnavailableError(said, may_retry=True)
            if data.startswith((b"{", b"[")):
                # A part of the answer.
                raise self._odd from error
            return None
        if isinstance(data, ErrorData) and not as_object(event).get("error"):
            raise self._stream_fault(event)
        return as_object(event)

    def _stream_fault(self, error: object) -> ModelError:
        """The error of an event that is named one."""
        return fault_in_stream(error, provider=self._api.name, key_setting=self._api.key_setting)


async def ask(endpoint: Endpoint, body: bytes, state: StreamState, *, betas: str = "") -> AsyncGenerator[Part, None]:
    """One call: the parts in the order they arrive. Closing the generator closes the connection. `betas` as in
    `Endpoint.post`."""
    content, provider = [body], endpoint.provider.name
    # Freed early: it may be megabytes, and an answer takes minutes.
    del body
    bounds = AnswerBounds(provider, silence_s=endpoint.timeouts.silence_s)
    reader = _AnswerReader(state, bounds, endpoint.provider)
    async with (
        endpoint.connections.one(provider),
        answering(endpoint, lambda: endpoint.post(content.pop(), betas)) as response,
    ):
        chunks = response.content.iter_chunked(MAX_CHUNK_BYTES)
        async with aclosing(bounds.bounded(chunks)) as bounded:
            async for chunk in bounded:
                for part in reader.parts_of(chunk):
                    yield part
                if reader.is_over:
                    break
            else:
                # The last event may lack its end.
                for part in reader.parts_of(b"\n\n"):
                    yield part
        await drain(chunks)
    for part in reader.closing_parts():
        yield part


@asynccontextmanager
async def answering(
    endpoint: Endpoint, send: Callable[[], Awaitable[aiohttp.ClientResponse]]
) -> AsyncGenerator[aiohttp.ClientResponse, None]:
    """The 2xx response to what `send` sends, with its body still to be read. Raises `ModelError`."""
    name = endpoint.provider.name
    try:
        async with asyncio.timeout(endpoint.timeouts.head_s):
            response = await send()
    except (ValueError, aiohttp.ClientError, OSError) as error:
        raise _no_answer(error, endpoint) from error
    try:
        if not 200 <= response.status < 300:
            raise await _status_fault(response, endpoint)
        yield response
    except aiohttp.ClientError as error:
        raise cut(name) from error
    except SseOverflowError as error:
        raise ModelUnavailableError(OTHER_FORMAT.format(name)) from error
    finally:
        # A response that was read to its end has released its connection.
        response.close()


def _no_answer(error: Exception, endpoint: Endpoint) -> ModelError:
    """The error for a call whose response did not begin."""
    name = endpoint.provider.name
    # An untrusted certificate is a `ValueError` too.
    is_unreachable = isinstance(error, (aiohttp.ClientConnectionError, OSError))
    if not is_unreachable and isinstance(error, (aiohttp.NonHttpUrlClientError, ValueError)):
        parts = f"its address, its key ({endpoint.provider.key_setting}) or the proxy of the environment"
        return ModelRequestError(f"{name} can't be asked: {parts} contains a character that can't be sent.")
    is_late = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
    said = "did not answer in time" if is_late else "can't be reached"
    return ModelUnavailableError(f"{name} {said}.", may_retry=True)


async def drain(chunks: AsyncIterator[bytes]) -> None:
    """Reads to the end after the last event, so that the connection can be reused."""
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in chunks:
                pass


def cut(provider: str) -> ModelStreamCutError:
    return ModelStreamCutError(
        f"The connection to {in_sentence(provider)} was lost in the middle of the answer.", may_retry=True
    )


def _unknown_form(provider: str) -> ModelUnavailableError:
    return ModelUnavailableError(OTHER_FORMAT.format(provider), may_retry=True)


async def _status_fault(response: aiohttp.ClientResponse, endpoint: Endpoint) -> ModelError:
    """The error for a response that is no success. Only the beginning of its body is read."""
    content = bytearray()
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(ERROR_S):
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) >= MAX_ERROR_BYTES:
                    break
    # The declared charset is ignored: it could name any of Python's codecs.
    said = content[:MAX_ERROR_BYTES].decode("utf-8", "replace")
    error: object = said.strip()
    with suppress(ValueError, RecursionError):
        error = json.loads(said)
    api = endpoint.provider
    return fault_of(response.status, error, provider=api.name, key_setting=api.key_setting, headers=response.headers)
