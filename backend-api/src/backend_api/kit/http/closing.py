"""A streamed answer that closes what it streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class ClosingResponse(StreamingResponse):
    """Closes its content at its end, also when the client disconnects in the middle."""

    def __init__(self, content: AsyncGenerator[bytes], headers: dict[str, str]) -> None:
        super().__init__(content, headers=headers)
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._content.aclose()
