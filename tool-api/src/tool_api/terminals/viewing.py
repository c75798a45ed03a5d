"""Carry a terminal's bytes to one viewer's WebSocket, and the viewer's input to the terminal."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from contracts.terminals import (
    MAX_FRAME_CHARACTERS,
    MAX_SENT_BYTES,
    MAX_TYPED_BYTES,
    MAX_VIEWERS,
    VIEWER_FRAME,
    AckFrame,
    BadFrame,
    CloseCode,
    EndedFrame,
    InputDroppedFrame,
)
from tool_api.terminals.terminal import Terminal, TerminalSize
from tool_api.terminals.viewer import Viewer

STALLED_S = 30.0
"""Seconds after which a viewer that takes, or acknowledges, nothing is disconnected."""
MOST_BAD_FRAMES = 50
SMALL_BYTES = 512
_GATHER_S = 0.001
"""Seconds in which small pieces of output are joined into one frame: receivers handle only so many small frames."""


async def serve_viewer(
    websocket: WebSocket, terminal: Terminal, *, after: int | None = None, began: int | None = None
) -> CloseCode:
    """Serve an accepted WebSocket until either side ends; why it did."""
    if len(terminal.viewers) >= MAX_VIEWERS:
        return CloseCode.TOO_MANY
    with terminal.view(after=after, began=began) as viewer:
        tasks = {
            asyncio.create_task(_output(websocket, terminal, viewer), name="terminal output"),
            asyncio.create_task(_input(websocket, terminal, viewer), name="terminal input"),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def close_socket(websocket: WebSocket, code: CloseCode, reason: str = "") -> None:
    """Close the socket; the viewer may have gone first."""
    with suppress(RuntimeError, OSError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(STALLED_S):
            await websocket.close(code, reason)


async def _output(websocket: WebSocket, terminal: Terminal, viewer: Viewer) -> CloseCode:
    try:
        while True:
            if (frame := viewer.next_frame()) is not None:
                await _send_text(websocket, frame.model_dump_json())
            elif piece := terminal.next_piece(viewer, MAX_SENT_BYTES):
                await _send_bytes(websocket, piece)
                if len(piece) < SMALL_BYTES:
                    await asyncio.sleep(_GATHER_S)
            elif terminal.exit_code is not None and viewer.offset >= terminal.backlog.end:
                await _send_text(websocket, EndedFrame(exit_code=terminal.exit_code).model_dump_json())
                return CloseCode.ENDED
            else:
                async with asyncio.timeout(STALLED_S if viewer.offset < terminal.backlog.end else None):
                    await viewer.wait()
    except TimeoutError:
        return CloseCode.TOO_SLOW
    except (OSError, RuntimeError, WebSocketDisconnect):
        return CloseCode.ENDED


async def _send_text(websocket: WebSocket, text: str) -> None:
    async with asyncio.timeout(STALLED_S):
        await websocket.send_text(text)


async def _send_bytes(websocket: WebSocket, data: bytes) -> None:
    async with asyncio.timeout(STALLED_S):
        await websocket.send_bytes(data)


async def _input(websocket: WebSocket, terminal: Terminal, viewer: Viewer) -> CloseCode:
    bad_frames = 0
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return CloseCode.ENDED
        data: bytes | None = message.get("bytes")
        if data is None:
            if (refused := _take_frame(message, terminal, viewer)) is not None:
                bad_frames += 1
                if bad_frames > MOST_BAD_FRAMES:
                    return CloseCode.BAD_FRAMES
                viewer.send(BadFrame(detail=refused))
        elif len(data) > MAX_TYPED_BYTES:
            return CloseCode.UNSUPPORTED
        elif data and not terminal.type_bytes(data):
            viewer.send(InputDroppedFrame(bytes=len(data)))


def _take_frame(message: Any, terminal: Terminal, viewer: Viewer) -> str | None:
    """Carry out a text message; returns the reason if it was not understood, else None."""
    text = str(message.get("text") or "")
    if len(text) > MAX_FRAME_CHARACTERS:
        return f"A text message has {MAX_FRAME_CHARACTERS} characters at most."
    try:
        frame = VIEWER_FRAME.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"{where}: {first['msg']}"[:500] if where else first["msg"][:500]
    if isinstance(frame, AckFrame):
        viewer.acknowledge(frame.offset)
    else:
        terminal.resize(TerminalSize(frame.cols, frame.rows))
    return None
