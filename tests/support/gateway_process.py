"""A gateway of its own process, to be attacked and measured: real stores, no sandboxes, accounts with passwords."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from support.servers import Server, end_process, free_port
from support.tls import NO_TLS

START_S = 60.0
PROGRAM = "backend_api.main"
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
_TESTS = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class GatewayProcess:
    """It listens on every loopback address: callers from 127.0.0.2 and 127.0.0.3 are strangers to each other."""

    port: int
    process: psutil.Process
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rss_mb(self) -> float:
        return self.process.memory_info().rss / 1e6

    def cpu_s(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    def logged(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


@contextmanager
def run_gateway_process(
    folder: Path, mongo: Server, database: str, redis: Server, *, program: str = PROGRAM, **settings: str
) -> Generator[GatewayProcess]:
    """It runs for the length of the block."""
    port, log = free_port(), folder / "gateway.log"
    environ = {name: os.environ[name] for name in _KEPT if name in os.environ} | {
        "PYTHONPATH": os.pathsep.join([str(_TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "HOST": "0.0.0.0",
        "PORT": str(port),
        "DATA_DIR": str(folder),
        "MONGO_URI": mongo.uri,
        "MONGO_DB_NAME": database,
        "REDIS_URL": redis.uri,
        "JWT_SECRET_KEY": secrets.token_hex(32),
        "SANDBOX_MANAGER_TOKEN": secrets.token_hex(32),
        "LLM_PROVIDER": "demo",
        **settings,
    }
    with log.open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, "-m", program],
            env=environ,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        gateway = GatewayProcess(port, psutil.Process(started.pid), log)
        _until_ready(gateway, started)
        yield gateway
    finally:
        # With a run at work it would look for its sandbox manager, which is not there, for 15 s.
        end_process(started, 5)


def _until_ready(gateway: GatewayProcess, started: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and started.poll() is None:
        try:
            if httpx.get(f"{gateway.url}/readyz", trust_env=False, verify=NO_TLS).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail(f"the gateway did not start:\n{gateway.logged()[-6000:]}")
