"""A transport whose answers come from a function, and are read as they come."""

from __future__ import annotations

import httpx


class AnsweringTransport(httpx.MockTransport):
    """`MockTransport` whose bodies are still unread, as those of a server are."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        if not response.is_stream_consumed:
            return response
        return httpx.Response(
            response.status_code, headers=response.headers, stream=httpx.ByteStream(response.content), request=request
        )
