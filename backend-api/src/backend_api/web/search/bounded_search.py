"""A provider's answer within bounds of bytes and time.

Otherwise a provider, or whoever answers in its place, could hold up the worker (2 MiB of nothing but `<a>` take the
HTML parser 9 s, and nested gzip decompresses without a bound), redirect it anywhere, and tell users apart by a cookie.
A provider that compresses unasked, or has moved to another host, counts as unavailable.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Literal

import httpx

from backend_api.kit.tls import trusted_certificates
from backend_api.web.search.provider import SearchUnavailableError

DEADLINE_S = 15.0
"""Time limit in seconds for a whole answer, redirects included."""
MAX_BYTES = 512 * 1024
"""A page of results has about 30 KB."""
MOST_REDIRECTS = 3
Method = Literal["GET", "POST"]
_HEADERS = {"Accept-Encoding": "identity"}


def search_http() -> httpx.AsyncClient:
    """One client for all providers and users, so it keeps no cookies."""
    return httpx.AsyncClient(
        timeout=httpx.Timeout(DEADLINE_S, connect=5.0),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        follow_redirects=False,
        verify=trusted_certificates(),
    )


async def ask(
    http: httpx.AsyncClient, method: Method, address: str, provider: str, *, headers: Mapping[str, str], **sent: Any
) -> httpx.Response:
    """The whole answer, whatever its status. Cancelling closes the connection. A redirect is followed without reading
    its body, and only to the provider's own host.

    Raises `SearchUnavailableError` if there is no answer, or it is over the bound.
    """
    try:
        async with asyncio.timeout(DEADLINE_S):
            request = http.build_request(method, address, headers={**_HEADERS, **headers}, **sent)
            for _ in range(MOST_REDIRECTS + 1):
                response = await http.send(request, stream=True)
                try:
                    if response.next_request is None:
                        return await _read_bounded(response, provider)
                finally:
                    await response.aclose()
                if not _is_same_origin(request.url, response.next_request.url):
                    break
                request = response.next_request
    except TimeoutError as error:
        raise SearchUnavailableError(f"{provider} did not answer in time.") from error
    except httpx.HTTPError as error:
        raise SearchUnavailableError(f"{provider} can't be reached.") from error
    raise SearchUnavailableError(f"{provider} can't be reached: it sends whoever asks elsewhere.")


def _is_same_origin(asked: httpx.URL, sent_to: httpx.URL) -> bool:
    return sent_to.host == asked.host and sent_to.port == asked.port and sent_to.scheme == asked.scheme


async def _read_bounded(response: httpx.Response, provider: str) -> httpx.Response:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        # It was not requested, and a few compressed bytes can become gigabytes.
        raise SearchUnavailableError(f"{provider} sent a compressed response.")
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > MAX_BYTES:
            raise SearchUnavailableError(f"{provider} sent a response that is too large.")
    media_type = response.headers.get("content-type", "")
    return httpx.Response(response.status_code, headers={"content-type": media_type}, content=bytes(content))
