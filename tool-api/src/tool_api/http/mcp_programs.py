"""WS /mcp-programs: a program that is an MCP server, for as long as the socket is open."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path

from fastapi import APIRouter, WebSocket
from pydantic import ValidationError
from starlette.websockets import WebSocketDisconnect

from contracts.mcp_programs import ENDED, ENDING, NOT_STARTED, PATH, TOO_MUCH, UNAUTHENTICATED, McpProgramStart
from contracts.sandboxes import Scope
from service_kit.amounts import duration_text
from tool_api.access import Access
from tool_api.errors import ClaimedError, UnauthenticatedError
from tool_api.mcp_programs.program import END_S, LineTooLongError, McpProgram, mcp_program
from tool_api.tools.shell.allowed import refused_command

START_S = 5.0
SEND_S = 30.0
MAX_PROGRAMS = 20
_MAX_REASON_BYTES = 123
"""RFC 6455, section 5.5."""


class _NotStartedError(Exception):
    """The program was not started; the message says why."""


def mcp_programs_router(
    access: Access, folder: Path, environment: Callable[[], Mapping[str, str]], allowed: frozenset[str]
) -> APIRouter:
    """The route; `environment` is that of programs, besides what the client sends, and `allowed` as for shells."""
    router = APIRouter()
    running = 0

    @router.websocket(PATH)
    async def run(websocket: WebSocket) -> None:
        nonlocal running
        # Accepted before it may be refused: a socket that never opened can't carry a close code.
        await websocket.accept()
        if not _may_run(access, websocket):
            await websocket.close(UNAUTHENTICATED)
            return
        if running >= MAX_PROGRAMS:
            await _close(
                websocket, NOT_STARTED, f"{MAX_PROGRAMS} such programs run already: switch some MCP servers off"
            )
            return
        running += 1
        try:
            await _run(websocket, folder, environment(), allowed)
        finally:
            running -= 1

    return router


def _may_run(access: Access, websocket: WebSocket) -> bool:
    try:
        return access.verify_header(websocket.headers.get("authorization")).allows(Scope.EXEC)
    except (UnauthenticatedError, ClaimedError):
        return False


async def _run(websocket: WebSocket, folder: Path, environment: Mapping[str, str], allowed: frozenset[str]) -> None:
    try:
        start = await _read_start(websocket)
    except WebSocketDisconnect:
        return
    except _NotStartedError as refused:
        await _close(websocket, NOT_STARTED, str(refused))
        return
    if (refused := refused_command(shlex.join([start.command, *start.args]), allowed)) is not None:
        await _close(websocket, NOT_STARTED, f"the command {refused!r} is not allowed in this sandbox")
        return
    async with AsyncExitStack() as stack:
        try:
            program = await stack.enter_async_context(mcp_program(start, folder, environment))
        except OSError as error:
            await _close(websocket, NOT_STARTED, error.strerror or "it can't be started")
            return
        code, reason = await _relay(websocket, program)
    await _close(websocket, code, reason)


async def _read_start(websocket: WebSocket) -> McpProgramStart:
    """Raises `WebSocketDisconnect` and `_NotStartedError`."""
    try:
        async with asyncio.timeout(START_S):
            return McpProgramStart.model_validate_json(await websocket.receive_text())
    except TimeoutError as error:
        raise _NotStartedError(f"no start message came within {duration_text(START_S)}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise _NotStartedError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except KeyError as error:
        raise _NotStartedError("the first message is not text") from error


async def _relay(websocket: WebSocket, program: McpProgram) -> tuple[int, str]:
    output = asyncio.create_task(_output(websocket, program), name="mcp output")
    heard = asyncio.create_task(_input(websocket, program), name="mcp input")
    end = asyncio.create_task(program.wait(), name="mcp end")
    try:
        done, _ = await asyncio.wait({output, heard, end}, return_when=asyncio.FIRST_COMPLETED)
        if end in done:
            # Its earlier output is read to the end, unless another process goes on writing there.
            await asyncio.wait({output, heard}, timeout=END_S, return_when=asyncio.FIRST_COMPLETED)
        for direction in (output, heard):
            if direction.done():
                return direction.result()
        return ENDED, await program.ending()
    finally:
        for task in (output, heard, end):
            task.cancel()
        await asyncio.gather(output, heard, end, return_exceptions=True)


async def _output(websocket: WebSocket, program: McpProgram) -> tuple[int, str]:
    try:
        while (line := await program.read_line()) is not None:
            async with asyncio.timeout(SEND_S):
                await websocket.send_text(line.decode(errors="replace"))
    except LineTooLongError:
        return TOO_MUCH, "it wrote a line that is too long"
    except (WebSocketDisconnect, OSError, TimeoutError):
        return ENDED, ""
    return ENDED, await program.ending()


async def _input(websocket: WebSocket, program: McpProgram) -> tuple[int, str]:
    try:
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return ENDED, ""
            await program.write_line(str(message.get("text") or "").encode(errors="replace"))
    except TimeoutError:
        return ENDED, "it does not read its input"
    except OSError:
        return ENDED, await program.ending()


async def _close(websocket: WebSocket, code: int, reason: str) -> None:
    # The end is kept, which holds the errors.
    encoded = reason.encode(errors="replace")
    short = encoded if len(encoded) <= _MAX_REASON_BYTES else b"..." + encoded[3 - _MAX_REASON_BYTES :]
    with suppress(RuntimeError, OSError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(SEND_S):
            if short is not encoded:
                await websocket.send_text(f"{ENDING}{reason}")
            await websocket.close(code, short.decode(errors="ignore"))
