"""The output of a short command on a remote host, which may send without end whatever it was asked."""

from __future__ import annotations

from dataclasses import dataclass

import asyncssh

_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Output:
    """The beginning of what it wrote. Of one that is cut the exit code is unknown."""

    content: bytes
    exit_code: int | None
    is_cut: bool = False


async def output_of(connection: asyncssh.SSHClientConnection, command: str, most_bytes: int) -> Output:
    """Run a command, and read no more than so many bytes. Raises `asyncssh.Error`, `OSError`."""
    process = await connection.create_process(command, encoding=None, stdin=asyncssh.DEVNULL, stderr=asyncssh.DEVNULL)
    content = bytearray()
    try:
        while piece := await process.stdout.read(_PIECE):
            content += piece
            if len(content) > most_bytes:
                return Output(bytes(content[:most_bytes]), None, is_cut=True)
        await process.wait_closed()
        return Output(bytes(content), process.exit_status)
    finally:
        process.channel.abort()
