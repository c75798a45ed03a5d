"""The real local stack for tests: own ports, own data, ended with everything it started.

Take the fixture `stack` (one for the whole session), or `run_stack` for one of your own.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from support.ordinary_user import as_ordinary_user, hand_to_ordinary_user
from support.servers import end_process

_T = TypeVar("_T")

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0
_ROOMY = {"SANDBOX_MAX_PER_USER": "20", "SANDBOX_MAX_PER_USER_TOTAL": "50", "SANDBOX_POOL_SIZE": "0"}
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "DOCKER_HOST", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack: `base_url` serves page and API, without a slash at its end."""

    base_url: str
    data_dir: Path
    process: subprocess.Popen[bytes]
    output: Path

    def children(self) -> dict[str, int]:
        """Process ids of mongod, redis, manager and gateway as they are now."""
        return dict(json.loads((self.data_dir / "stack.json").read_text(encoding="utf-8"))["children"])

    @property
    def runner(self) -> str:
        """The child the agent runs in."""
        return "worker" if "worker" in self.children() else "gateway"

    async def kill(self, name: str) -> None:
        """Kill a child as `kill -9` does; the supervisor brings it back."""
        victim = psutil.Process(self.children()[name])
        victim.kill()
        await asyncio.to_thread(victim.wait, 5)

    def descendants(self) -> list[psutil.Process]:
        """Every process the stack has started, sandboxes included."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def printed(self) -> str:
        """What it has said on the terminal so far."""
        return self.output.read_text(encoding="utf-8", errors="replace")

    def troubles(self, *, at_most: int = 12_000) -> str:
        """Warnings and errors its services logged last, and what it said on the terminal."""
        lines = [
            f"{log.stem}: {line[:2_000]}"
            for log in sorted((self.data_dir / "logs").glob("*.log"))
            for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
            if '"level": "warning"' in line or '"level": "error"' in line
        ]
        return "\n".join([*lines, self.printed()])[-at_most:]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, wait, and fail the test if a process of its stays."""
        started = self.descendants()
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            pytest.fail(f"the stack did not end within {STOP_TIMEOUT_S:.0f} s:\n{self.printed()}")
        left = [f"{process.pid} {process.name()}" for process in psutil.wait_procs(started, timeout=30)[1]]
        assert left == [], f"the stack left processes: {left}"
        return status


def start_stack(data_dir: Path, *, ordinary: bool = False, **settings: str) -> Stack:
    """Start a stack and wait until its page answers; an `ordinary` one is run by somebody who is not root."""
    data_dir.mkdir(parents=True, exist_ok=True)
    if ordinary:
        hand_to_ordinary_user(data_dir)
    output = data_dir / "terminal.txt"
    process = spawn_stack(data_dir, output, ordinary=ordinary, **settings)
    stack = Stack(base_url="", data_dir=data_dir, process=process, output=output)
    ready = wait_until(lambda: re.search(r"Ready: (\S+)", stack.printed()) or process.poll() is not None)
    if not isinstance(ready, re.Match):
        end_process(process, STOP_TIMEOUT_S)
        pytest.fail(f"the stack did not start:\n{stack.printed()}")
    return Stack(base_url=ready.group(1), data_dir=data_dir, process=process, output=output)


def spawn_stack(data_dir: Path, output: Path, *, ordinary: bool = False, **settings: str) -> subprocess.Popen[bytes]:
    """Start a stack and wait for nothing."""
    command = [sys.executable, "-m", "local_stack"]
    given = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environ = {
        **given,
        "PYTHONPATH": str(ROOT / "scripts"),
        "PORT": "0",
        "SANDBOX_RUNTIME": "process",
        **_ROOMY,
        **settings,
    }
    with output.open("wb") as file:
        return subprocess.Popen(
            as_ordinary_user(command) if ordinary else command,
            env=environ | {"DATA_DIR": str(data_dir)},
            cwd=data_dir,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )


def wait_until(question: Callable[[], _T], timeout_s: float = START_TIMEOUT_S) -> _T:
    """The first answer that is true, or the last one at the deadline."""
    deadline = time.monotonic() + timeout_s
    while not (answer := question()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


running_stacks: list[Stack] = []
"""Those of `run_stack` that have not ended: where a test fails, it is shown what they had to say."""


@contextmanager
def run_stack(data_dir: Path, *, ordinary: bool = False, **settings: str) -> Generator[Stack]:
    """A stack of one's own for the length of the block."""
    stack = start_stack(data_dir, ordinary=ordinary, **settings)
    running_stacks.append(stack)
    try:
        yield stack
    finally:
        running_stacks.remove(stack)
        stack.stop()


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """One that is as it comes, desktops included, for all tests of a session."""
    with run_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running
