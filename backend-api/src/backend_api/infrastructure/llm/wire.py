"""One streaming call through an SDK's client: its connections, key and headers, none of its event objects."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
from pydantic_core import from_json

from backend_api.domain.agent.model import ModelError, ModelStreamCutError, ModelUnavailableError
from backend_api.infrastructure.llm.faults import as_object, fault_of
from backend_api.infrastructure.llm.sse import SseOverflowError

CONNECT_S = 10.0
SILENCE_S = 120.0
DRAIN_S = 0.05
TIMEOUT = httpx2.Timeout(SILENCE_S, connect=CONNECT_S, pool=CONNECT_S)
CONNECTIONS = 500
SPARE_CONNECTIONS = 50
"""Some that are being closed are still counted by the client."""


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


@asynccontextmanager
async def opened(
    post: Callable[[], Awaitable[httpx2.Response]],
    *,
    connections: Connections,
    provider: str,
    key_setting: str,
    sdk_errors: tuple[type[Exception], type[Exception], type[Exception]],
) -> AsyncGenerator[httpx2.Response, None]:
    """The answer while it streams; leaving closes the connection.
    `post` is called once. `sdk_errors`: status, time-out, connection."""
    async with connections.one(provider), _answering(post, provider, key_setting, sdk_errors) as response:
        yield response


@asynccontextmanager
async def _answering(
    post: Callable[[], Awaitable[httpx2.Response]],
    provider: str,
    key_setting: str,
    sdk_errors: tuple[type[Exception], type[Exception], type[Exception]],
) -> AsyncGenerator[httpx2.Response, None]:
    status_error, timeout_error, connection_error = sdk_errors
    try:
        response = await post()
    except status_error as error:
        raise _status_fault(error, provider, key_setting) from error
    except timeout_error as error:
        # Connections refused or lost come as this too.
        is_lost = isinstance(error.__cause__, httpx2.ConnectTimeout)
        said = "can't be reached" if is_lost else "did not answer in time"
        raise ModelUnavailableError(f"{provider} {said}.", may_retry=True) from error
    except connection_error as error:
        raise ModelUnavailableError(f"{provider} can't be reached.", may_retry=True) from error
    response.request = httpx2.Request(response.request.method, response.request.url)  # without what was sent
    try:
        yield response
    except httpx2.ReadTimeout as error:
        silence = f"{provider} sent nothing for {SILENCE_S:g} s."
        raise ModelUnavailableError(silence, may_retry=True) from error
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise cut(provider) from error
    except SseOverflowError as error:
        raise ModelUnavailableError(f"{provider} sent a line that is too long.") from error
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


def parse(data: bytes, provider: str) -> dict[str, Any]:
    try:
        return as_object(from_json(data))
    except ValueError as error:
        raise ModelUnavailableError(f"{provider} sent something that is not JSON.", may_retry=True) from error


def arguments_of(raw: str) -> dict[str, Any] | None:
    """The arguments of a call; None when they are not a whole JSON object."""
    if not raw.strip():
        return {}
    try:
        value: object = from_json(raw)
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) and _is_finite(cast("object", value)) else None


def _is_finite(value: object) -> bool:
    """Numbers without end are no JSON, though they are read from it: nobody after us could be sent them."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, cast("dict[str, object]", value).values()))
    return all(map(_is_finite, cast("list[object]", value))) if isinstance(value, list) else True


def _status_fault(error: Exception, provider: str, key_setting: str) -> ModelError:
    response = cast("httpx2.Response", getattr(error, "response", None))
    body: object = getattr(error, "body", None)
    return fault_of(
        response.status_code, body, provider=provider, key_setting=key_setting, headers=dict(response.headers)
    )
