"""Starts a worker: `python -m backend_api.main.worker`. It reads the gateway's settings; with `--port` it answers
/healthz, /readyz and /metrics there, on HOST."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvloop

from backend_api.kit.errors import StoreUnavailableError
from backend_api.kit.listening.server import listen, server_for
from backend_api.main.closing import Closing
from backend_api.main.runtime import Plan, open_runtime, plan, working
from backend_api.main.settings import Settings, SettingsError, load_settings, resolve_hosts
from backend_api.main.worker_app import build_worker_app
from backend_api.runs.application.worker import Worker
from backend_api.sandboxes.tool_api.remote_spans import SERVICE as SANDBOX_SERVICE
from service_kit.cancellation import let_cancellation_through
from service_kit.former_settings import tell_of_former
from service_kit.observation.logs import log_json_lines
from service_kit.tracing import traced

logger = logging.getLogger(__name__)

GRACEFUL_S = 1


def main() -> int:
    """Runs a worker and returns the exit code; 1 for stores and 2 for settings that prevent the start."""
    port = _port()
    let_cancellation_through()
    try:
        settings = load_settings()
        log_json_lines(settings.log_level)
        tell_of_former(os.environ)
        planned = plan(settings)
        hosts = resolve_hosts(settings) if port else []
    except SettingsError as error:
        sys.stderr.write(f"backend-api: {error}\n")
        return 2
    with traced("backend-api-worker", passed_on=[SANDBOX_SERVICE]):
        try:
            uvloop.run(_run_worker(planned, hosts, port))
        except StoreUnavailableError as error:
            logger.error(error.detail)
            return 1
    return 0


def _port() -> int:
    arguments = argparse.ArgumentParser(prog="backend_api.main.worker", description="Start a worker.")
    arguments.add_argument("--port", type=int, default=0, help="where it answers /healthz, /readyz and /metrics")
    port: int = arguments.parse_args().port
    if not 0 <= port <= 65_535:
        arguments.error(f"argument --port: {port} is no port, which is a number from 0 to 65535")
    return port


async def _run_worker(planned: Plan, hosts: list[str], port: int) -> None:
    closing, ended = Closing(), asyncio.Event()
    closing.on_begin(ended.set)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, closing.begin)
    async with (
        open_runtime(planned, is_gateway=False) as parts,
        _serve_health(planned.settings, hosts, port, parts.ports),
    ):
        name = parts.required("worker", Worker).name
        async with working(parts, closing):
            logger.info("worker started", extra={"worker": name})
            await ended.wait()
            logger.info("worker ends", extra={"worker": name})


@asynccontextmanager
async def _serve_health(
    settings: Settings, hosts: list[str], port: int, ports: Mapping[str, Any]
) -> AsyncGenerator[None]:
    """Serves health over HTTP if a port is set."""
    if not hosts:
        yield
        return
    token = settings.metrics_token.get_secret_value()
    app = build_worker_app(ports["required"], ports["optional"], ports["metrics"], metrics_token=token)
    server = server_for(app, graceful_s=GRACEFUL_S)
    sockets = [listen(host, port) for host in hosts]
    serving = asyncio.create_task(server.serve(sockets=sockets), name="health")
    try:
        yield
    finally:
        server.should_exit = True
        await serving


if __name__ == "__main__":
    sys.exit(main())
