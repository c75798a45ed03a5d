"""A server that only notices whether anybody came."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress


@contextmanager
def listener() -> Generator[tuple[str, socket.socket]]:
    """Somebody else's server, to which words may be carried off."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield f"127.0.0.1:{server.getsockname()[1]}", server


def was_reached(server: socket.socket) -> bool:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def was_told(server: socket.socket) -> bytes:
    """What whoever came has said so far; opening a connection says nothing."""
    said = b""
    with suppress(BlockingIOError):
        while True:
            with server.accept()[0] as connection, suppress(BlockingIOError):
                connection.setblocking(False)
                said += connection.recv(65536)
    return said
