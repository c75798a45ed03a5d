"""A streamed answer that closes what it streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class ClosingResponse(StreamingResponse):
    """Closes its content at its end, also when the client disconnects in the middle or before the first piece."""

    def __init__(self, content: AsyncGenerator[bytes], headers: dict[str, str]) -> None:
        super().__init__(self._pieces(), headers=headers)
        self._content = content
        self._has_begun = False

    async def _pieces(self) -> AsyncGenerator[bytes]:
        self._has_begun = True
        async for piece in self._content:
            yield piece

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            try:
                if not self._has_begun:
                    # Its body, which has begun to read, would not be run to close a cursor, file or connection.
                    with suppress(Exception):
                        await anext(self._content, None)
            finally:
                await self._content.aclose()
