"""One child process: started with the supervisor's life as its own, stopped for certain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from local_stack.log_file import LogFile


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSpec:
    """What to start, how to know it is up, and how long it may take to end."""

    name: str
    command: tuple[str, ...]
    environ: Mapping[str, str]
    working_dir: Path
    is_ready: Callable[[], Awaitable[bool]]
    why_not: Callable[[], Awaitable[str]] | None = None
    ready_within: float = 60
    stop_within: float = 10
    stdin: bytes | None = None


class Child:
    """A running process of a `ChildSpec`."""

    def __init__(self, spec: ChildSpec, process: Process, log: LogFile, follower: asyncio.Task[None]) -> None:
        self.spec = spec
        self._process = process
        self._log = log
        self._follower = follower

    @classmethod
    async def start_process(cls, spec: ChildSpec, log: LogFile) -> Child:
        process = await asyncio.create_subprocess_exec(
            *_dying_with_parent(),
            *spec.command,
            env=dict(spec.environ),
            cwd=spec.working_dir,
            stdin=PIPE if spec.stdin else DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
        if spec.stdin and process.stdin:
            process.stdin.write(spec.stdin)
            process.stdin.close()
        assert process.stdout is not None
        return cls(spec, process, log, asyncio.create_task(log.follow(process.stdout), name=f"log-{spec.name}"))

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.returncode is not None

    async def ended(self) -> str:
        """Wait for the end; the reason in words."""
        code = await self._process.wait()
        await self._finish()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    async def stop_process(self) -> bool:
        """Ask, then insist. False when it had to be killed."""
        asked = True
        if not self.has_ended:
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), self.spec.stop_within)
            except TimeoutError:
                asked = False
        await self._finish()
        return asked

    async def kill(self) -> None:
        await self._finish()

    async def _finish(self) -> None:
        # Its session holds whatever it started and left behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._follower, 1)


def _dying_with_parent() -> tuple[str, ...]:
    """A prefix that ties the child's life to ours even when we are killed, where the system has the tool for it."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()
