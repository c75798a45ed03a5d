"""`python -m engine_filter ENGINE_SOCKET SOCKET`; `python -m engine_filter --ping SOCKET` asks one that runs."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import uvloop

from engine_filter.policy import SettingsError, read_policy
from engine_filter.refusals import Refused
from engine_filter.server import Filter
from engine_filter.wire import Exchange, Order
from service_kit.observation.logs import log_json_lines

_USAGE = 2


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--ping", socket]:
            return asyncio.run(_ping(socket))
        case [engine_socket, socket]:
            return _serve(engine_socket, Path(socket))
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return _USAGE


def _serve(engine_socket: str, socket: Path) -> int:
    try:
        policy = read_policy(os.environ)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return _USAGE
    log_json_lines(os.environ.get("LOG_LEVEL") or "INFO")
    # Every call of the manager waits for this loop.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_until_signalled(Filter(policy, engine_socket), socket))
    return 0


async def _serve_until_signalled(engine_filter: Filter, socket: Path) -> None:
    signalled = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, signalled.set)
    async with engine_filter.listening(socket):
        await signalled.wait()


async def _ping(socket: str) -> int:
    """Ping the engine through the filter; 0 if it answers."""
    try:
        exchange = await Exchange.begin(socket, Order("GET", "/_ping"))
        await exchange.close()
    except (Refused, TimeoutError):
        return 1
    return 0 if exchange.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
