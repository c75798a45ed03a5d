"""Start the gateway with the worker inside: `python -m backend_api.bootstrap`."""

from __future__ import annotations

import contextlib
import socket
import sys

import uvicorn

from backend_api.bootstrap.app import create_app
from backend_api.bootstrap.logs import configure_logs
from backend_api.bootstrap.settings import SettingsError, load_settings, resolve_hosts
from backend_api.bootstrap.wiring import web_options, wire_with


def main() -> int:
    """Answers the exit code; 2 for settings that don't allow a start."""
    try:
        settings = load_settings()
        configure_logs(settings.log_level)
        hosts = resolve_hosts(settings)
        app = create_app(wire_with(settings), web_options(settings))
    except SettingsError as error:
        sys.stderr.write(f"backend-api: {error}\n")
        return 2
    config = uvicorn.Config(
        app,
        port=settings.port,
        host=hosts[0],
        log_config=None,
        access_log=False,
        ws_max_size=4 * 1024 * 1024,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=3,
        server_header=False,
        limit_concurrency=2000,
    )
    server = uvicorn.Server(config)
    sockets = [_listen(host, settings.port) for host in hosts]
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=sockets)
    return 0 if server.started else 1


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


if __name__ == "__main__":
    sys.exit(main())
