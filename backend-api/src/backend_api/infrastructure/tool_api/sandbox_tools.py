"""`SandboxTools` over the door: one POST a call, its output as NDJSON."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
from pydantic import ValidationError

from backend_api.domain.agent.tools import OnOutput, ToolOutcome
from backend_api.domain.sandbox.entity import Computer, Scope
from backend_api.domain.sandbox.errors import ComputerLostError, ComputerUnavailableError
from backend_api.infrastructure.tool_api.doors import Door, Doors
from backend_api.infrastructure.tool_api.problems import error_of
from backend_api.infrastructure.tool_api.told_spans import tell_spans
from contracts.observation.spans import SPANS, Span
from contracts.tools import ToolResult

logger = logging.getLogger(__name__)

SCOPES = (Scope.EXEC, Scope.FILES, Scope.BROWSER)
CANCEL_DEADLINE_S = 0.3
MAX_LINE_BYTES = 32 * 1024 * 1024
IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/webp"})


@dataclass(frozen=True, slots=True)
class _Call:
    id: str
    tool: str
    arguments: dict[str, Any]
    on_output: OnOutput


class DoorTools:
    """Runs tools inside computers."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors

    async def call(
        self, computer: Computer, call_id: str, name: str, arguments: dict[str, Any], on_output: OnOutput
    ) -> ToolOutcome:
        """A refused token is renewed once: nothing ran then. Cancelling ends the call's process group."""
        call = _Call(call_id, name, arguments, on_output)
        with SPANS.span("door call", kind="client", attributes={"tool.name": name}) as span:
            door = await self._doors.open(computer, SCOPES)
            outcome = await self._attempt(door, computer, call, span)
            if outcome is None:
                self._doors.refuse(computer)
                door = await self._doors.open(computer, SCOPES)
                outcome = await self._attempt(door, computer, call, span)
        if outcome is None:
            raise ComputerUnavailableError("The computer refuses the gateway's token.")
        return outcome

    async def _attempt(self, door: Door, computer: Computer, call: _Call, span: Span) -> ToolOutcome | None:
        body = {"call_id": call.id, "arguments": call.arguments}
        began = time.time()
        try:
            async with door.http.stream("POST", f"/tools/{call.tool}", json=body, headers=door.headers) as response:
                if response.status_code == 401:
                    return None
                if response.is_error:
                    error = await error_of(response)
                    # It broke in there, so nobody knows how far the call came: never simply called again.
                    raise ComputerLostError(error.detail) if response.is_server_error else error
                frame, outcome = await _read(response, call.on_output)
                tell_spans(frame.get("spans"), span, began)
                return outcome
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            await self._doors.forget(computer)
            raise ComputerUnavailableError("The computer does not answer at its door.") from error
        except httpx.TransportError as error:
            await self._doors.forget(computer)
            raise ComputerLostError("The connection to the computer broke in the middle of the call.") from error
        except asyncio.CancelledError:
            await self._cancel(door, call.id)
            raise

    async def _cancel(self, door: Door, call_id: str) -> None:
        """Closing the connection has cancelled the call; asking tells when its processes are gone."""
        try:
            async with asyncio.timeout(CANCEL_DEADLINE_S):
                await door.http.post(f"/calls/{call_id}/cancel", headers=door.headers)
        except (TimeoutError, httpx.HTTPError):
            logger.warning("a cancelled call did not confirm in time", extra={"call_id": call_id})


async def _read(response: httpx.Response, on_output: OnOutput) -> tuple[dict[str, Any], ToolOutcome]:
    async for line in _lines(response):
        try:
            frame = json.loads(line)
            if frame["type"] == "output":
                await on_output(str(frame["text"]))
            elif frame["type"] == "result":
                return frame, outcome_of(ToolResult.model_validate(frame["result"]))
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise ComputerLostError("The computer answered something that is not a tool's result.") from error
    raise ComputerLostError("The computer ended the call without a result.")


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    rest = bytearray()
    async for chunk in response.aiter_bytes():
        rest += chunk
        if b"\n" in chunk:
            *lines, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in lines:
                if line.strip():
                    yield line
        elif len(rest) > MAX_LINE_BYTES:
            raise ComputerLostError("The computer answered more than a result may hold.")
    if rest.strip():
        yield bytes(rest)


def outcome_of(result: ToolResult) -> ToolOutcome:
    """The image of a view goes to the body; the view keeps its media type and no bytes."""
    display = result.display.model_dump(mode="json") if result.display is not None else None
    body: bytes | None = None
    media_type = "text/plain"
    if display is not None and display.get("image"):
        try:
            body = base64.b64decode(display["image"], validate=True)
        except (binascii.Error, ValueError):
            body = None
        wanted = display.get("image_media_type") or "image/jpeg"
        media_type = wanted if wanted in IMAGE_TYPES else "application/octet-stream"
        display = {**display, "image": None, "image_media_type": media_type if body else None}
    return ToolOutcome(
        success=result.success,
        output=result.output,
        display=display,
        body=body,
        body_media_type=media_type,
        changed_paths=list(result.changed_paths),
        duration_ms=result.duration_ms,
    )
