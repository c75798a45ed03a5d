"""The streams of a server that is a program in a session's sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from websockets.exceptions import ConnectionClosed

from backend_api.mcp.client.guarded_transport import Refusals
from backend_api.mcp.client.streams import TransportStreams
from backend_api.mcp.client.traffic import TOO_MUCH, TooMuchError, Traffic
from backend_api.mcp.domain.entity import McpServer
from backend_api.mcp.mcp_programs import McpPrograms
from backend_api.mcp.ports import Place
from backend_api.sandboxes.domain.errors import SandboxUnavailableError
from backend_api.sandboxes.tool_api.sockets import BoundedConnection
from contracts import mcp_programs as wire

SEND_S = 30.0
MAX_REASON_CHARACTERS = 2_000


@asynccontextmanager
async def program_streams(
    server: McpServer, programs: McpPrograms, place: Place, refusals: Refusals
) -> AsyncGenerator[TransportStreams]:
    """Runs the program until the end of the block, and leaves the reason in `refusals` if it ends. Raises
    `SandboxUnavailableError`."""
    start = wire.McpProgramStart(command=server.command, args=[*server.args], env={**server.env})
    read_writer, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, write_reader = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with (
            read_writer,
            read_stream,
            write_stream,
            write_reader,
            programs.open(place.session_id, place.user_id, start) as socket,
        ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, socket, read_writer, refusals)
                tasks.start_soon(_write, socket, write_reader)
                try:
                    yield read_stream, write_stream
                finally:
                    tasks.cancel_scope.cancel()
    except SandboxUnavailableError as error:
        refusals.refuse(f"The computer that it runs in is not available. {error.detail}", "no_computer")
        raise


async def _read(
    socket: BoundedConnection, read_writer: MemoryObjectSendStream[SessionMessage | Exception], refusals: Refusals
) -> None:
    """Reads messages until the connection ends, and then raises an error so that the other tasks end too."""
    traffic, told = Traffic(), ""
    try:
        while True:
            content = await socket.recv(decode=False)
            if content.startswith(wire.ENDING.encode()):
                told = content.decode(errors="replace").removeprefix(wire.ENDING)[:MAX_REASON_CHARACTERS]
                continue
            traffic.take_message(content)
            if (message := _message(content)) is not None:
                await read_writer.send(message)
    except TooMuchError as error:
        refusals.refuse(str(error), "too_large")
        raise
    except ConnectionClosed as error:
        reason = _reason(socket, error, told)
        refusals.refuse(reason, "too_large" if reason == TOO_MUCH else "program_ended")
        raise


def _message(content: bytes) -> SessionMessage | None:
    """The message in a line, or None if it is not one: some programs print greetings and warnings there."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(content, by_name=False))
    except ValueError:
        return None


def _reason(socket: BoundedConnection, error: ConnectionClosed, told: str) -> str:
    if socket.refused is not None or (error.rcvd is not None and error.rcvd.code == wire.TOO_MUCH):
        return TOO_MUCH
    said = " ".join((told or (error.rcvd.reason if error.rcvd is not None else "")).split())
    return f"The program is not running: {(said or 'the connection to its computer ended').removesuffix('.')}."


async def _write(socket: BoundedConnection, write_reader: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for one in write_reader:
        text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            async with asyncio.timeout(SEND_S):
                await socket.send(text)
        except TimeoutError:
            # The program reads no more: ending the connection ends the calls that wait for answers.
            socket.transport.abort()
        except ConnectionClosed:
            return
