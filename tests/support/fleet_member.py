"""One process of a fleet, for tests that hurt it."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from support.forge import Forge, Forged

UP_S = 90.0
STOP_S = 45.0


@dataclass(slots=True, kw_only=True)
class Member:
    """One process of the fleet, on a port it keeps over restarts; its log grows over them."""

    name: str
    port: int
    command: tuple[str, ...]
    environ: Mapping[str, str]
    log: Path
    answers: Callable[[int], bool]
    forge: Forge | None = None
    process: subprocess.Popen[bytes] | Forged | None = None
    pids: list[int] = field(default_factory=list[int])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Begin; `up` waits until it answers. From the main thread only, whose life the member's is tied to."""
        assert not self.is_alive, f"{self.name} runs already"
        if self.forge is not None:
            self.process = self.forge.start(self.command[2:], self.environ, self.log)
        else:
            self.process = self._spawn()
        self.pids.append(self.process.pid)

    def _spawn(self) -> subprocess.Popen[bytes]:
        setpriv = shutil.which("setpriv")
        tied = (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
        with self.log.open("ab") as output:
            return subprocess.Popen(
                [*tied, *self.command],
                env=dict(self.environ),
                cwd=self.log.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    async def up(self, timeout_s: float = UP_S) -> None:
        """Wait until it answers; raises with its last lines when it ends or stays silent."""
        deadline = time.monotonic() + timeout_s
        while not (answers := await asyncio.to_thread(self.answers, self.port)) or not self.is_alive:
            # What answers while it has ended is another server on its port.
            if not self.is_alive or time.monotonic() > deadline:
                other = " (another server answers on its port)" if answers else ""
                raise AssertionError(f"{self.name} did not come up{other}:\n{self.tail()}")
            await asyncio.sleep(0.05)

    def kill(self) -> None:
        """As `kill -9` does, and reaped."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def terminate(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)

    async def stop(self, timeout_s: float = STOP_S) -> int:
        """Ask it to end and wait; its exit status. Killed, and an assertion failure, when it does not."""
        assert self.process is not None
        if self.is_alive:
            self.terminate()
        try:
            return await asyncio.to_thread(self.process.wait, timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {timeout_s:g} s:\n{self.tail()}") from None

    def tail(self, size: int = 4000) -> str:
        return self.log.read_text(errors="replace")[-size:] if self.log.exists() else ""
