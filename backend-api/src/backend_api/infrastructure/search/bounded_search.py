"""A provider's answer within bounds of bytes and time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx

from backend_api.infrastructure.search.provider import SearchUnavailableError

DEADLINE_S = 15.0
"""For a whole answer, redirects included."""
MAX_BYTES = 2 * 1024 * 1024
"""After decompression. A page of results has about 30 KB."""


async def post(
    http: httpx.AsyncClient, address: str, provider: str, *, headers: Mapping[str, str], **body: Any
) -> httpx.Response:
    """The whole answer, whatever its status. Cancelling closes the connection.

    Raises `SearchUnavailableError` where there is none, or more of it than a provider has to say.
    """
    try:
        async with (
            asyncio.timeout(DEADLINE_S),
            http.stream("POST", address, headers={**headers}, **body) as response,
        ):
            content = bytearray()
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > MAX_BYTES:
                    raise SearchUnavailableError(f"{provider} sent a response that is too large.")
            media_type = response.headers.get("content-type", "")
            return httpx.Response(response.status_code, headers={"content-type": media_type}, content=bytes(content))
    except TimeoutError as error:
        raise SearchUnavailableError(f"{provider} did not answer in time.") from error
    except httpx.HTTPError as error:
        raise SearchUnavailableError(f"{provider} can't be reached.") from error
