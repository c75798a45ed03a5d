"""Connections to programs that listen on a remote host, over the connection to it (RFC 4254, section 7.2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncssh

from backend_api.targets.errors import HostUnusableError, RemoteHostError
from backend_api.targets.ssh.connections import Connected

OPEN_S = 15.0
LOOPBACK = "127.0.0.1"
_PROHIBITED = 1
"""Reason of a refused channel, `SSH_OPEN_ADMINISTRATIVELY_PROHIBITED` (RFC 4254, section 5.1)."""


class ForwardedPort:
    """`PortConnection` over a channel of its own."""

    def __init__(self, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, most: int) -> bytes:
        try:
            return await self._reader.read(most)
        except asyncssh.Error as error:
            raise ConnectionResetError("The connection to the host was lost.") from error

    async def write(self, piece: bytes) -> None:
        try:
            self._writer.write(piece)
            await self._writer.drain()
        except asyncssh.Error as error:
            raise ConnectionResetError("The connection to the host was lost.") from error


@asynccontextmanager
async def open_port(on: Connected, port: int) -> AsyncGenerator[ForwardedPort]:
    """A connection that is closed with the block. Raises `ConnectionRefusedError` if nothing listens at this port of
    the host's loopback, and `RemoteHostError`."""
    try:
        async with asyncio.timeout(OPEN_S):
            opened = await cast("Any", on.ssh).open_connection(LOOPBACK, port, encoding=None)
    except asyncssh.ChannelOpenError as error:
        if error.code == _PROHIBITED:
            raise HostUnusableError(
                "The host does not allow port forwarding, so apps can't be shown. Turn on AllowTcpForwarding in its "
                "sshd_config."
            ) from error
        raise ConnectionRefusedError(f"Nothing listens on port {port}.") from error
    except TimeoutError as error:
        raise RemoteHostError(f"The host did not connect to port {port} within {OPEN_S:.0f} s.") from error
    except (asyncssh.Error, OSError) as error:
        raise RemoteHostError("The connection to the host was lost. Try again.") from error
    reader: asyncssh.SSHReader[bytes] = opened[0]
    writer: asyncssh.SSHWriter[bytes] = opened[1]
    on.open_ports += 1
    try:
        yield ForwardedPort(reader, writer)
    finally:
        on.open_ports -= 1
        writer.channel.abort()
