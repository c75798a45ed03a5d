"""The body of an answer within a bound of bytes, also once it is decompressed."""

from __future__ import annotations

import zlib

import httpx

from backend_api.kit.untrusted.errors import FetchFailedError, FetchTooLargeError
from service_kit.amounts import size_text
from service_kit.bounded_http import Bounds, RefusedAnswerError, StreamedAnswer, TooLongAnswerError

ENCODINGS = "gzip, identity"
"""The accepted encodings. Others, and nested ones, are not decompressed."""
_GZIP = 16 + zlib.MAX_WBITS


async def whole_body(response: httpx.Response, limit: int) -> bytes:
    """Read within the caller's time. Raises `FetchTooLargeError`, `FetchFailedError` and `httpx.TransportError`."""
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip"):
        raise FetchFailedError("The response has a content encoding that was not requested.")
    unpacker = zlib.decompressobj(_GZIP) if "gzip" in coding else None
    content = bytearray()
    try:
        # The head is there already: its bound is not used.
        async for piece in StreamedAnswer(response, Bounds(body_bytes=limit, head_s=0.0), began=0.0).pieces():
            # Each piece is decompressed only up to one byte over the bound.
            content += piece if unpacker is None else unpacker.decompress(piece, limit - len(content) + 1)
            if len(content) > limit:
                raise _too_large(limit)
            if unpacker is not None and unpacker.eof:
                break
    except TooLongAnswerError as error:
        raise _too_large(limit) from error
    except RefusedAnswerError as error:
        raise FetchFailedError("The response body is corrupt.") from error
    except zlib.error as error:
        raise FetchFailedError("The response body can't be decompressed.") from error
    if unpacker is not None and content and not unpacker.eof:
        raise FetchFailedError("The response body is incomplete.")
    return bytes(content)


def _too_large(limit: int) -> FetchTooLargeError:
    return FetchTooLargeError(f"The response is larger than {size_text(limit)}.", limit_bytes=limit)
