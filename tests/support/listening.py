"""Servers of uvicorn that listen for the length of a block."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import uvicorn

START_S = 30.0
TICK_S = 0.1
"""The pace at which a server looks whether it is to end, as in uvicorn."""


@asynccontextmanager
async def serving(server: uvicorn.Server, *listeners: socket.socket) -> AsyncGenerator[None]:
    """Where its configuration says, or on sockets that listen already."""
    over = asyncio.Event()
    ends = asyncio.create_task(_serve(server, listeners, over))
    try:
        async with asyncio.timeout(START_S):
            while not server.started and not ends.done():
                await asyncio.sleep(0.01)
        yield
    finally:
        server.should_exit = True
        over.set()
        await ends


async def _serve(server: uvicorn.Server, listeners: Sequence[socket.socket], over: asyncio.Event) -> None:
    """As `Server.serve`, which waits up to 0.2 s at its end, also where nobody is connected: half of what a test of a
    route would take."""
    config, sockets = server.config, list(listeners) or None
    # Applications look for their server among the handlers of signals.
    with server.capture_signals():
        if not config.loaded:
            config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup(sockets=sockets)
        if not server.started:
            return
        while not await server.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), TICK_S)
        if await _let_go(server):
            await server.lifespan.shutdown()
        else:
            await server.shutdown(sockets=sockets)


async def _let_go(server: uvicorn.Server) -> bool:
    """Takes no more connections and closes those that ask for nothing. Whether none is left."""
    state = server.server_state
    for one in server.servers:
        one.close()
    for connection in list(state.connections):
        connection.shutdown()
    for _ in range(10):
        if not state.connections and not state.tasks:
            return True
        await asyncio.sleep(0.005)
    return False


@asynccontextmanager
async def on_loopback(server: uvicorn.Server, *, port: int = 0) -> AsyncGenerator[str]:
    """Its address, with a free port or one that was."""
    # Named as TCP: asyncio turns delays of small writes off for sockets of that protocol alone.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        async with serving(server, listener):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
