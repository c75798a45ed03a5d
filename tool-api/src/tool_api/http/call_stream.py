"""A call as a streamed answer; a client that goes away cancels its call."""

from __future__ import annotations

import asyncio
import time

from opentelemetry.trace import get_current_span
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from contracts.tools import OutputFrame, RemoteSpan, ResultFrame, ToolResult
from service_kit.requests import ARRIVED
from tool_api.calls import Call

MEDIA_TYPE = "application/x-ndjson"
_FAULT_LOOK_S = 1.0
_SEND_S = 30.0


class CallStream(Response):
    """NDJSON of `OutputFrame` and one `ResultFrame`.

    The answer begins with the first frame, or after a second, so that an early fault can still be a problem detail; a
    later one cuts the stream.
    """

    def __init__(self, call: Call) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"})
        del self.headers["content-length"]
        self._call = call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watcher = asyncio.get_running_loop().create_task(self._watch(receive))
        try:
            await self._stream(send, scope[ARRIVED])
        finally:
            watcher.cancel()
            if not self._call.task.done():
                await asyncio.shield(self._call.cancel())
            await asyncio.wait([watcher])

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await self._call.cancel()

    async def _stream(self, send: Send, arrived: float) -> None:
        call = self._call
        await self._wait_for_first_output()
        if call.task.done() and not call.task.cancelled() and (fault := call.task.exception()) is not None:
            raise fault
        await self._send(send, {"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while not call.task.done():
            if (frame := call.live.next_frame()) is not None:
                await self._send_frame(send, frame)
            await call.live.changed.wait()
        if (frame := call.live.next_frame()) is not None:
            await self._send_frame(send, frame)
        result = call.result()
        spans = _spans(call, result, arrived) if get_current_span().get_span_context().is_valid else None
        await self._send_frame(send, ResultFrame(result=result, spans=spans), is_last=True)

    async def _wait_for_first_output(self) -> None:
        try:
            async with asyncio.timeout(_FAULT_LOOK_S):
                await self._call.live.changed.wait()
        except TimeoutError:
            return

    async def _send_frame(self, send: Send, frame: OutputFrame | ResultFrame, *, is_last: bool = False) -> None:
        body = frame.model_dump_json().encode() + b"\n"
        await self._send(send, {"type": "http.response.body", "body": body, "more_body": not is_last})

    async def _send(self, send: Send, message: dict[str, object]) -> None:
        async with asyncio.timeout(_SEND_S):
            await send(message)


def _spans(call: Call, result: ToolResult, arrived: float) -> list[RemoteSpan]:
    request = RemoteSpan(name="request", start_ms=0, duration_ms=(time.monotonic() - arrived) * 1000)
    handler = RemoteSpan(name="tool", start_ms=(call.began - arrived) * 1000, duration_ms=result.duration_ms)
    return [request, handler]
