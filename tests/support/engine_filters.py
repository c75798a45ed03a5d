"""The filter as a process of its own between a test and the real engine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.sandboxes import ROOT, sandbox_image
from support.sources import python_path

_UP_S = 20.0
_SOURCES = python_path("sandbox-manager/engine-filter")

MISSING_IMAGE = "agent-sandbox:that-nobody-built"
"""One that is allowed and not there."""


def engine_socket() -> str:
    """Where the real engine is."""
    return os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")


@contextmanager
def engine_filter(stack: str, engine: str | None = None, **settings: str) -> Generator[str]:
    """Address of a filter for the stack, to be used as `DOCKER_HOST`."""
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": _SOURCES,
        "COMPOSE_PROJECT_NAME": stack,
        "SANDBOX_IMAGE": sandbox_image(),
        "SANDBOX_IMAGES": f"gone={MISSING_IMAGE}",
        "SANDBOX_SECCOMP_PROFILE": str(ROOT / "sandbox-image" / "seccomp.json"),
        **settings,
    }
    with tempfile.TemporaryDirectory(prefix="filter-", dir="/tmp") as folder:
        socket = Path(folder) / "engine.sock"
        words = [sys.executable, "-m", "engine_filter", engine or engine_socket(), str(socket)]
        with subprocess.Popen(words, env=environ, cwd=folder) as process:
            try:
                _await(socket, process)
                yield f"unix://{socket}"
            finally:
                process.terminate()
                process.wait(timeout=10)


def _await(socket: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _UP_S
    while not socket.is_socket():
        if process.poll() is not None or time.monotonic() > until:
            pytest.fail("the filter did not start")
        time.sleep(0.02)
