"""Servers of uvicorn that listen for the length of a block."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn

START_S = 30.0


@asynccontextmanager
async def serving(server: uvicorn.Server, *listeners: socket.socket) -> AsyncGenerator[None]:
    """Where its configuration says, or on sockets that listen already."""
    ends = asyncio.create_task(server.serve(sockets=list(listeners) or None))
    try:
        async with asyncio.timeout(START_S):
            while not server.started:
                await asyncio.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        await ends


@asynccontextmanager
async def on_loopback(server: uvicorn.Server, *, port: int = 0) -> AsyncGenerator[str]:
    """Its address, with a free port or one that was."""
    # Named as TCP: asyncio turns delays of small writes off for sockets of that protocol alone.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        async with serving(server, listener):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
