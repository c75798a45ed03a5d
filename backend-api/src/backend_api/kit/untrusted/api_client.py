"""Calls of an API at a fixed address, which may answer anything: within bounds, and on that host alone.

An answer without end would fill the worker's memory, and nested gzip unpacks without a bound; a redirect could lead
anywhere, and a cookie would tell one user from the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Literal

import httpx

from backend_api.kit.tls import trusted_certificates
from service_kit.bounded_http import Answer

CONNECT_S = 5.0
MOST_REDIRECTS = 3
Method = Literal["GET", "POST"]


class NoAnswerError(Exception):
    """The reason why an API gave no answer, as the end of a sentence that begins with its name."""


class ApiClient:
    """Connections to APIs, shared by all users: no cookie is kept. `whole_s` and `body_bytes` bound each answer."""

    def __init__(self, http: httpx.AsyncClient, *, whole_s: float, body_bytes: int) -> None:
        self._http = http
        self._whole_s = whole_s
        self._body_bytes = body_bytes

    async def ask(self, method: Method, address: str, *, headers: Mapping[str, str], **sent: Any) -> Answer:
        """The whole answer, whatever its status; `sent` are `params`, `json` or `data` as httpx takes them.

        A redirect is followed unread, and to the same origin alone. Raises `NoAnswerError`. Cancelling closes the
        connection.
        """
        try:
            async with asyncio.timeout(self._whole_s):
                request = self._http.build_request(
                    method, address, headers={"Accept-Encoding": "identity", **headers}, **sent
                )
                for _ in range(MOST_REDIRECTS + 1):
                    response = await self._http.send(request, stream=True)
                    try:
                        if response.next_request is None:
                            return Answer(response.status_code, response.headers, await self._read(response))
                    finally:
                        await response.aclose()
                    if not _is_same_origin(request.url, response.next_request.url):
                        break
                    request = response.next_request
        except TimeoutError as error:
            raise NoAnswerError("did not answer in time") from error
        except httpx.HTTPError as error:
            raise NoAnswerError("can't be reached") from error
        raise NoAnswerError("can't be reached: it redirects to another server")

    async def _read(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            # It was not asked for, and a few bytes of it can become gigabytes.
            raise NoAnswerError("sent a compressed response")
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > self._body_bytes:
                raise NoAnswerError("sent a response that is too large")
        return bytes(content)


@asynccontextmanager
async def api_client(*, whole_s: float, body_bytes: int) -> AsyncGenerator[ApiClient]:
    """A client whose connections end with the block."""
    async with httpx.AsyncClient(
        timeout=httpx.Timeout(whole_s, connect=CONNECT_S),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        follow_redirects=False,
        verify=trusted_certificates(),
    ) as http:
        yield ApiClient(http, whole_s=whole_s, body_bytes=body_bytes)


def _is_same_origin(asked: httpx.URL, sent_to: httpx.URL) -> bool:
    return sent_to.host == asked.host and sent_to.port == asked.port and sent_to.scheme == asked.scheme
