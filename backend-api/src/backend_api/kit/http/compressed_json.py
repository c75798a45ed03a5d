"""JSON answers of the API, compressed for clients that take gzip."""

from __future__ import annotations

import asyncio
import gzip
from concurrent.futures import ThreadPoolExecutor

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend_api.kit.http.page import accepted_codings

LEAST_BYTES = 1024
IN_THREAD_BYTES = 64 * 1024
LEVEL = 5
AT_ONCE = 2
"""Bodies compressed in threads at the same time. The threads are its own: in those of `asyncio.to_thread`, long answers
of one user would delay the log-ins of others, whose passwords are checked there."""
_THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="gzip")


class CompressedJson:
    """ASGI middleware: compresses the JSON that a GET of the API answers in one piece.

    What other methods answer stays as it is, as log-ins and tickets are among it: a length that depends on what stands
    beside a secret tells of the secret. So does what has an ETag, which stands for the bytes as they are (RFC 9110,
    8.8.3).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _may_be_compressed(scope):
            await self._app(scope, receive, _Compressing(send).send)
        else:
            await self._app(scope, receive, send)


class _Compressing:
    """Sends the start of an answer together with its first piece, which decides whether it is compressed."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_json(message):
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                message = await _compressed(start, message)
            await self._send(start)
        await self._send(message)


def _may_be_compressed(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith("/api/"):
        return False
    return accepted_codings(Headers(scope=scope).get("accept-encoding", "")).get("gzip", 0) > 0


def _is_json(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    is_plain = "content-encoding" not in headers and "etag" not in headers
    return start["status"] == 200 and kind == "application/json" and is_plain


async def _compressed(start: Message, message: Message) -> Message:
    """The body compressed, if it is long enough; the headers of `start` are set accordingly."""
    body: bytes = message.get("body", b"")
    headers = MutableHeaders(raw=start["headers"])
    headers.add_vary_header("Accept-Encoding")
    if len(body) < LEAST_BYTES:
        return message
    # A large body would keep the event loop from all other answers.
    if len(body) < IN_THREAD_BYTES:
        body = _packed(body)
    else:
        body = await asyncio.get_running_loop().run_in_executor(_THREADS, _packed, body)
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    return {**message, "body": body}


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
