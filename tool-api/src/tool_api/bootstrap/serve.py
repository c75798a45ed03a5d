"""Serve the endpoint until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import time
from collections.abc import Callable, Coroutine, Generator
from socket import socket
from typing import cast

import uvicorn
from fastapi import FastAPI

from tool_api.access import Access
from tool_api.bootstrap.settings import Settings
from tool_api.bootstrap.warm_up import warm_up
from tool_api.bootstrap.wiring import open_services
from tool_api.http.app import create_app
from tool_api.http.services import Services
from tool_api.mcp_programs.program import end_mcp_programs

_log = logging.getLogger(__name__)

READY_LINE = "tool-api: ready desktop={}"
DESKTOP_WAIT_S = 40.0
"""Well below the 60 s a manager gives a start: a browser that takes longer comes up in a sandbox that is there."""
_GOODBYE_S = 2
_KEEP_ALIVE_S = 75
_OVERTIME_S = 60.0
_HEAD_START_S = 0.2
_TICK_S = 1.0
_LOOK_AT_CLOCK_S = 30.0


class _Server(uvicorn.Server):
    """A server that reports when it is ready and leaves signals to us: its own handling would end the process before
    our children."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answers = asyncio.Event()
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """End it."""
        self.should_exit = True
        self._leaving.set()

    async def main_loop(self) -> None:
        # uvicorn's loop polls ten times a second, which would be most of an idle sandbox's work.
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S):
                    await self._leaving.wait()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self.answers.set()

    async def accept(self, connection: socket) -> None:
        """Serve a connection that did not come from the listening socket."""

        def protocol() -> asyncio.Protocol:
            kind = cast("Callable[..., asyncio.Protocol]", self.config.http_protocol_class)
            return kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

        await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def _config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    host, port = settings.tcp_endpoint if settings.inherited_endpoint is None else ("127.0.0.1", 0)
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http="httptools",
        loop="uvloop",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        # Pictures come compressed; once more costs the sandbox a core and gains nothing.
        ws_per_message_deflate=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GOODBYE_S,
    )


def _inherited(settings: Settings) -> list[socket] | None:
    """The listening socket this was started with; nothing that is started from here inherits it."""
    if settings.inherited_endpoint is None:
        return None
    listener = socket(fileno=settings.inherited_endpoint)
    listener.set_inheritable(False)
    return [listener]


async def _announce(server: _Server, services: Services) -> None:
    await server.answers.wait()
    desktop = services.desktop
    if desktop is not None:
        await desktop.wait_settled(DESKTOP_WAIT_S)
    if services.access.is_unclaimed:
        await warm_up(services, server.accept)
    has_desktop = desktop is not None and desktop.has_desktop
    print(READY_LINE.format("yes" if has_desktop else "no"), flush=True)  # noqa: T201


async def _wake_when_claimed(services: Services) -> None:
    """Wake the desktop some time after a claim: the browser takes the processors for a moment, and the claimant's first
    command comes first."""
    await services.access.claimed.wait()
    await asyncio.sleep(_HEAD_START_S)
    if services.desktop is not None:
        services.desktop.wake()


async def _end_in_time(access: Access, end: Callable[[], None]) -> None:
    """End a claimed sandbox when its time is over, whatever became of its manager, which has the first go."""
    await access.claimed.wait()
    # The machine's clock may be set, so it is polled.
    while access.ends_at is not None and (left := access.ends_at + _OVERTIME_S - time.time()) > 0:  # noqa: ASYNC110
        await asyncio.sleep(min(left, _LOOK_AT_CLOCK_S))
    end()


def _on_orphaned(end: Callable[[], None]) -> None:
    _log.error("no manager was in contact for too long; the sandbox ends itself")
    end()


async def _on_disk_full(services: Services, *, goes_on: bool) -> None:
    """End the commands that may fill the workspace; a new command can free it again. If the disk still fills after that
    (`goes_on`), end programs left in the background as well."""
    disk = services.keep_alive.disk
    _log.warning("the workspace holds more than it may", extra={"bytes": disk.used_bytes, "files": disk.used_files})
    if goes_on:
        await asyncio.gather(
            services.shells.end_all(),
            services.terminals.end_all(),
            services.kernels.end_all(),
            services.background.end_commands(),
            end_mcp_programs(),
        )
    else:
        await asyncio.gather(
            services.shells.end_commands(),
            services.terminals.end_commands(),
            services.kernels.end_executions(),
            services.background.end_commands(),
        )


def _disk_watch(services: Services) -> Coroutine[None, None, None]:
    return services.keep_alive.disk.watch(
        lambda goes_on: _on_disk_full(services, goes_on=goes_on),
        is_busy=lambda: (
            services.shells.is_busy
            or services.terminals.is_busy
            or services.kernels.is_busy
            or services.background.is_busy
        ),
    )


async def serve(settings: Settings) -> None:
    """Run the sandbox's parts and the endpoint; returns after SIGTERM or SIGINT, when all children have ended."""
    listeners = _inherited(settings)
    async with open_services(settings) as services:
        server = _Server(_config(create_app(services), settings))
        loop = asyncio.get_running_loop()
        goodbye: set[asyncio.Task[None]] = set()

        def end() -> None:
            server.leave()
            goodbye.add(loop.create_task(services.calls.cancel_all()))

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end)
        beside = [
            loop.create_task(_announce(server, services), name="announcement"),
            loop.create_task(_end_in_time(services.access, end), name="end-in-time"),
            loop.create_task(_wake_when_claimed(services), name="wake"),
            loop.create_task(services.keep_alive.listen(), name="keep-alive"),
            loop.create_task(services.keep_alive.watchdog.watch(lambda: _on_orphaned(end)), name="watchdog"),
            loop.create_task(_disk_watch(services), name="disk"),
        ]
        try:
            await server.serve(listeners)
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, *goodbye, return_exceptions=True)
