"""`SandboxTools` over the endpoint: one POST a call, its output as NDJSON."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from opentelemetry.trace import Span, SpanKind
from pydantic import BaseModel, Field, TypeAdapter

from backend_api.agent.tool import Done, FolderInstructions, ToolCall
from backend_api.sandboxes.domain.entity import Sandbox, Scope
from backend_api.sandboxes.domain.errors import SandboxLostError, SandboxUnavailableError
from backend_api.sandboxes.tool_api.endpoint_faults import endpoint_faults
from backend_api.sandboxes.tool_api.endpoints import Endpoint, Endpoints
from backend_api.sandboxes.tool_api.problems import REFUSED, error_of, refusal
from backend_api.sandboxes.tool_api.remote_spans import record_remote_spans
from backend_api.sandboxes.tool_api.result_pictures import stored_view
from contracts.tools import MAX_OUTPUT_CHARACTERS, OutputFrame, ToolResult
from contracts.tools import ToolCall as WireCall
from service_kit.bounded_http import Bounds, StreamedAnswer, TransportError
from service_kit.bounded_json import MalformedJsonError, read_json
from service_kit.observation.spans import span

logger = logging.getLogger(__name__)

SCOPES = (Scope.EXEC, Scope.FILES, Scope.BROWSER)
CANCEL_DEADLINE_S = 0.3
MAX_LINE_BYTES = 12 * 1024 * 1024
MAX_FRAMES_SHOWN = 100_000
MAX_DISPLAY_BYTES = 1024 * 1024
MAX_CHANGED = 100
"""The most changed files of a call: tools change one or two."""
MAX_PATH_CHARACTERS = 4_096
NOT_SHOWN = "\n[There is more output than is shown while it comes.]\n"
# A command may be silent for as long as it runs; the tool with the longest deadline ends itself long before.
CALL = Bounds(body_bytes=32 * 1024 * 1024, head_s=30.0, whole_s=700.0)
CANCEL = Bounds(body_bytes=64 * 1024, head_s=CANCEL_DEADLINE_S, whole_s=CANCEL_DEADLINE_S)
_MOST_VALUES = 20_000


class _ResultFrame(BaseModel):
    """The result frame of the contract; malformed spans do not spoil the result."""

    type: Literal["result"]
    result: ToolResult
    spans: Any = None


_FRAME: TypeAdapter[OutputFrame | _ResultFrame] = TypeAdapter(
    Annotated[OutputFrame | _ResultFrame, Field(discriminator="type")]
)


class ToolApiSandboxTools:
    """Runs tools inside sandboxes."""

    def __init__(self, endpoints: Endpoints, bounds: Bounds = CALL) -> None:
        self._endpoints = endpoints
        self._bounds = bounds

    async def call(self, sandbox: Sandbox, call: ToolCall) -> Done:
        """Run a call. A refused token is renewed once: nothing ran then. Cancelling ends the call's process group."""
        with span("endpoint call", kind=SpanKind.CLIENT, attributes={"tool.name": call.name}) as current:
            outcome = await self._attempt(sandbox, call, current)
            if outcome is None:
                self._endpoints.refuse(sandbox)
                outcome = await self._attempt(sandbox, call, current)
        if outcome is None:
            raise SandboxUnavailableError("The computer refuses the connection.")
        return outcome

    async def _attempt(self, sandbox: Sandbox, call: ToolCall, current: Span) -> Done | None:
        """One attempt; None if the token is refused. A call has not begun while its token is waited for."""
        call.mark_started(False)
        async with (
            endpoint_faults(
                self._endpoints,
                sandbox,
                refused="The computer's response was too large or malformed.",
                broken="The connection to the computer broke in the middle of the call.",
            ),
            self._endpoints.open(sandbox, SCOPES) as endpoint,
        ):
            call.mark_started(True)
            return await self._send_call(endpoint, call, current)

    async def _send_call(self, endpoint: Endpoint, call: ToolCall, current: Span) -> Done | None:
        body = WireCall(call_id=call.call_id, arguments=call.arguments).model_dump(exclude_none=True)
        began = time.time()
        try:
            async with endpoint.stream("POST", f"/tools/{call.name}", self._bounds, json=body) as answer:
                if answer.status == 401:
                    return None
                if not answer.is_success:
                    content = await answer.problem()
                    if answer.status in REFUSED:
                        return refusal(answer.status, content, call.name, call.arguments)
                    error = error_of(answer.status, content)
                    # It broke inside the call, so nobody knows how far the call came: it is never simply repeated.
                    raise SandboxLostError(error.detail) if answer.status >= 500 else error
                frame = await _read(answer, call.on_output)
                record_remote_spans(frame.spans, current, began)
                return outcome_of(frame.result)
        except asyncio.CancelledError:
            await self._cancel(endpoint, call.call_id)
            raise

    async def _cancel(self, endpoint: Endpoint, call_id: str) -> None:
        """Wait until the call's processes are gone; closing the connection has cancelled it already."""
        try:
            async with asyncio.timeout(CANCEL_DEADLINE_S):
                await endpoint.ask("POST", f"/calls/{call_id}/cancel", CANCEL)
        except (TimeoutError, TransportError):
            logger.warning("a cancelled call did not confirm in time", extra={"call_id": call_id})


async def _read(answer: StreamedAnswer, on_output: Callable[[str], Awaitable[None]]) -> _ResultFrame:
    room, frames = MAX_OUTPUT_CHARACTERS, 0
    async for line in answer.lines(MAX_LINE_BYTES):
        try:
            frame = read_json(_FRAME, line, most_values=_MOST_VALUES)
        except MalformedJsonError as error:
            raise SandboxLostError("The computer's response is not a tool result.") from error
        if isinstance(frame, _ResultFrame):
            return frame
        if not frame.text or room < 0:
            continue
        frames += 1
        room -= len(frame.text)
        if room < 0 or frames > MAX_FRAMES_SHOWN:
            # The result has what matters; only the live output ends.
            room = -1
            await on_output(NOT_SHOWN)
        else:
            await on_output(frame.text)
    raise SandboxLostError("The computer ended the call without a result.")


def outcome_of(result: ToolResult) -> Done:
    """The outcome of a result. The pictures of a view go to the body, if they are valid; the view keeps their media
    types and no bytes."""
    shown = stored_view(result)
    display = shown.display.model_dump(mode="json") if shown.display is not None else None
    if display is not None and _size(display) > MAX_DISPLAY_BYTES:
        display = None
    return Done(
        success=result.success,
        output=result.output,
        display=display,
        body=shown.body,
        body_media_type=shown.media_type,
        body_parts=shown.parts,
        changed_paths=[path for path in result.changed_paths if len(path) <= MAX_PATH_CHARACTERS][:MAX_CHANGED],
        removed_paths=[path for path in result.removed_paths if len(path) <= MAX_PATH_CHARACTERS][:MAX_CHANGED],
        instructions=[
            FolderInstructions(path=one.path, text=one.text)
            for one in result.instructions
            if len(one.path) <= MAX_PATH_CHARACTERS
        ],
        duration_ms=result.duration_ms,
    )


def _size(display: dict[str, Any]) -> int:
    return len(json.dumps(display))
