"""Serving on the manager's own inner address, and on loopback for its health check."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import uvicorn

from sandbox_manager.bootstrap.app import create_app
from sandbox_manager.bootstrap.settings import Settings, SettingsError
from sandbox_manager.bootstrap.wiring import wire
from sandbox_manager.interfaces.http.use_cases import UseCases
from service_kit.clear_startup import ClearStartup
from service_kit.former_settings import tell_of_former
from service_kit.listening.http import BoundedHttpProtocol, Config
from service_kit.listening.peers import Peers
from service_kit.observation.logs import log_json_lines
from service_kit.tracing import traced

_BACKLOG = 512
_CONNECTIONS = 600


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets on the addresses `host` means now, and on 127.0.0.1; with port 0 all share the port that was free."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except socket.gaierror as error:
        raise SettingsError(f"MANAGER_HOST: {host} is not an address and can't be resolved.") from error
    addresses = dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found)
    if (socket.AF_INET, "0.0.0.0") not in addresses:
        addresses[(socket.AF_INET, "127.0.0.1")] = None
    sockets: list[socket.socket] = []
    for family, address in addresses:
        sockets.append(_bind(family, address, port))
        port = sockets[0].getsockname()[1]
    return sockets


def _bind(family: int, address: str, port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    try:
        listener.bind((address, port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"MANAGER_HOST, MANAGER_PORT: can't listen on {address}:{port} ({error.strerror})."
        ) from error
    listener.listen(_BACKLOG)
    return listener


def serve(settings: Settings, wiring: Callable[[Settings], AbstractAsyncContextManager[UseCases]] = wire) -> int:
    """Serve what `wiring` yields until SIGTERM or SIGINT; returns the exit status."""
    log_json_lines(settings.server.log_level)
    tell_of_former(os.environ)
    sockets = listen(settings.server.host, settings.server.port)
    app = ClearStartup(create_app(lambda: wiring(settings)))
    config = Config(
        app,
        # All who may call share a few addresses.
        peers=Peers(_CONNECTIONS, is_proxy=lambda _: True),
        http=BoundedHttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    with traced("sandbox-manager"):
        server.run(sockets=sockets)
    return 0 if server.started else 3
