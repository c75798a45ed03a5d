"""One streaming call of a provider: its answer in parts as they arrive, and its faults as the domain's errors."""

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
"""Others have a turn after each: ten times as much may have come at once, or out of a few compressed bytes."""

OTHER_FORMAT = "{}'s answer is not in the format of its API. Check its address, and which API is chosen for it."
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

    def events_of(self, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """The events that a whole answer would have come in; none where it is no answer."""
        ...

    def closing_parts(self, *, is_done: bool) -> list[Part]:
        """What the end adds; `is_done` where the stream had the mark `[DONE]`. Raises `ModelStreamCutError` where it
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
        """What came until it is clear that it is a stream; all of what is none."""
        self._lines = DataLines()
        self._tags = ThinkTags()
        self._characters = WholeCharacters()
        self._has_events = False
        self._is_done = False
        self._odd: ModelError | None = None
        """Of what came last, where that is no JSON: an error if nothing follows, and else a sign of life."""

    @property
    def is_over(self) -> bool:
        return self._is_done or self._state.is_over

    def parts_of(self, chunk: bytes) -> Iterator[Part]:
        """What the next chunk adds."""
        if self._head is not None:
            chunk = self._strip_head(self._head, chunk)
        for data in self._lines.split(chunk):
            if not data:
                continue
            if data.startswith(b"data:"):
                # Of a proxy that names the field again.
                data = data.removeprefix(b"data:").strip()
            if data == b"[DONE]":
                self._is_done = True
                continue
            event = self._event(data)
            if event is not None:
                self._has_events, self._odd = True, None
                yield from self._read(event)

    def closing_parts(self) -> Iterator[Part]:
        """What the end adds."""
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
        """What there is to be read of a stream."""
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
        """An answer that is no stream."""
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
        """None where it is no JSON, which is told at the end if nothing follows."""
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
        """The fault of an event that is called an error."""
        return fault_in_stream(error, provider=self._api.name, key_setting=self._api.key_setting)


async def ask(endpoint: Endpoint, body: bytes, state: StreamState, *, betas: str = "") -> AsyncGenerator[Part, None]:
    """One call: the parts in the order they arrive. Closing the generator closes the connection. `betas` as in
    `Endpoint.post`."""
    content, provider = [body], endpoint.provider.name
    # Given away: it may be megabytes, and an answer takes minutes.
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
                # The last event may have had no end.
                for part in reader.parts_of(b"\n\n"):
                    yield part
        await drain(chunks)
    for part in reader.closing_parts():
        yield part


@asynccontextmanager
async def answering(
    endpoint: Endpoint, send: Callable[[], Awaitable[aiohttp.ClientResponse]]
) -> AsyncGenerator[aiohttp.ClientResponse, None]:
    """The answer of 2xx to what `send` sends, whose body is still to be read. Raises `ModelError`."""
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
    return ModelUnavailableError(OTHER_FORMAT.format(provider), may_retry=True)


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
