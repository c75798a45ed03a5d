"""Starts the gateway, with the worker inside unless USE_BACKGROUND_JOBS: `python -m backend_api.main`. With `--page` it
serves the built page in that folder, too."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

import uvloop

from backend_api.kit.listening.server import Server, listen, server_for
from backend_api.main.app import create_app
from backend_api.main.closing import Closing
from backend_api.main.runtime import plan
from backend_api.main.settings import SettingsError, load_settings, resolve_hosts
from backend_api.main.wiring import web_options, wire_with
from backend_api.sandboxes.tool_api.remote_spans import SERVICE as SANDBOX_SERVICE
from service_kit.cancellation import let_cancellation_through
from service_kit.former_settings import tell_of_former
from service_kit.observation.logs import log_json_lines
from service_kit.tracing import traced

GRACEFUL_S = 3


def main() -> int:
    """Runs the gateway and returns the exit code; 2 for settings that prevent the start."""
    page = _page()
    let_cancellation_through()
    try:
        settings = load_settings()
        log_json_lines(settings.log_level)
        tell_of_former(os.environ)
        planned, hosts = plan(settings), resolve_hosts(settings)
        closing = Closing()
        app = create_app(wire_with(planned, closing), web_options(planned, page))
    except SettingsError as error:
        sys.stderr.write(f"backend-api: {error}\n")
        return 2
    server = server_for(app, graceful_s=GRACEFUL_S, trusted_proxies=settings.trusted_proxies)
    with traced("backend-api", passed_on=[SANDBOX_SERVICE]):
        uvloop.run(_serve(server, closing, hosts, settings.port))
    return 0 if server.started else 1


def _page() -> Path | None:
    arguments = argparse.ArgumentParser(prog="backend_api.main", description="Start the gateway.")
    arguments.add_argument("--page", type=Path, help="folder of the built page, which it serves, too")
    page: Path | None = arguments.parse_args().page
    return page


async def _serve(server: Server, closing: Closing, hosts: list[str], port: int) -> None:
    closing.on_begin(server.end)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, closing.begin)
    await server.serve(sockets=[listen(host, port) for host in hosts])


if __name__ == "__main__":
    sys.exit(main())
