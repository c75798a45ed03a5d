"""Server-sent events of model providers, read with one split a network chunk and no object an event."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

MAX_LINE_BYTES = 16 * 1024 * 1024


class SseOverflowError(Exception):
    """A line longer than any provider sends."""


async def data_lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[list[bytes], None]:
    """The `data` fields as they arrive, those of one chunk together. Providers send one line an event."""
    # Grows in place: a long line that comes in small pieces is not copied with each of them.
    rest = bytearray()
    async for chunk in chunks:
        if b"\n" in chunk:
            lines = (bytes(rest) + chunk if rest else chunk).split(b"\n")
            rest = bytearray(lines.pop())
        else:
            lines = []
            rest += chunk
        if len(rest) > MAX_LINE_BYTES:
            raise SseOverflowError
        found = [line[5:].strip() for line in lines if line.startswith(b"data:")]
        if found:
            yield found
    if rest.startswith(b"data:"):
        yield [bytes(rest[5:]).strip()]
