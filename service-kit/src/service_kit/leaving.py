"""The end of a connection to something that may not read any more."""

from __future__ import annotations

import asyncio
from contextlib import suppress


async def leave(writer: asyncio.StreamWriter, flush_s: float) -> None:
    """Close the connection; what the other side does not take within `flush_s` seconds is dropped."""
    writer.close()
    try:
        with suppress(OSError):
            async with asyncio.timeout(flush_s):
                await writer.wait_closed()
    finally:
        writer.transport.abort()
