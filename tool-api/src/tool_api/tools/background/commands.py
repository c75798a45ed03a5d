"""Commands that run in the background, each in a bash of its own."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from contracts.tools import MAX_BACKGROUND_RUNNING, BackgroundState
from tool_api.tools.shell.bash import Bash, ShellState
from tool_api.tools.shell.command import Command

MAX_KEPT = 16
"""Ended commands that are kept; each may have written as much as any command."""


class TooManyBackgroundCommandsError(Exception):
    """No further one may be started."""


class BackgroundCommand:
    """One command with its bash. `state` is its outcome; whatever it started ends with it."""

    def __init__(self, background_id: str, command: Command, bash: Bash, timeout_s: float) -> None:
        self.id = background_id
        self.command = command
        self.state: BackgroundState = "running"
        self._bash = bash
        self._timeout_s = timeout_s
        self._began = time.monotonic()
        self.ended_at: float | None = None
        """End time by `time.monotonic()`."""
        self._end = asyncio.Event()
        self._wanted = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._follow(), name=f"background {background_id}")

    @property
    def is_running(self) -> bool:
        return self.state == "running"

    @property
    def seconds(self) -> float:
        """The run time in seconds."""
        return (self.ended_at or time.monotonic()) - self._began

    async def wait(self, timeout_s: float) -> bool:
        """Wait; True if it, and all it started, has ended within the time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._end.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """End it with all it started; does nothing if it has ended."""
        self._wanted.set()
        await asyncio.wait({self._task})

    async def _follow(self) -> None:
        ended = asyncio.ensure_future(self.command.wait(self._timeout_s))
        wanted = asyncio.ensure_future(self._wanted.wait())
        state: BackgroundState = "ended"
        try:
            await asyncio.wait({ended, wanted}, return_when=asyncio.FIRST_COMPLETED)
            if not self.command.is_finished:
                state = "stopped" if self._wanted.is_set() else "timed_out"
        finally:
            for waiting in (ended, wanted):
                waiting.cancel()
            await self._bash.close()
            self.ended_at, self.state = time.monotonic(), state
            self._end.set()


class BackgroundCommands:
    """The sandbox's background commands by id; an async context manager that ends them. Opens nothing before it is
    used."""

    def __init__(self, workspace: Path, environment: Callable[[], dict[str, str]]) -> None:
        self._workspace = workspace
        self._environment = environment
        self._commands: dict[str, BackgroundCommand] = {}
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> BackgroundCommands:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end_commands()

    @property
    def is_busy(self) -> bool:
        """Whether any of them runs."""
        return any(one.is_running for one in self._commands.values())

    async def end_commands(self) -> None:
        """End all commands, with all they started."""
        await asyncio.gather(*(one.stop() for one in self._commands.values() if one.is_running))

    def find(self, background_id: str) -> BackgroundCommand | None:
        return self._commands.get(background_id)

    def ids(self) -> list[str]:
        return list(self._commands)

    async def start_command(
        self, background_id: str | None, text: str, timeout_s: float, *, file_bytes: int | None = None
    ) -> BackgroundCommand:
        """Start a command that makes no file larger than `file_bytes`; a known id returns the command that has it.

        Raises `TooManyBackgroundCommandsError` and `OSError`.
        """
        async with self._starting:
            if background_id is not None and (known := self._commands.get(background_id)) is not None:
                return known
            if sum(one.is_running for one in self._commands.values()) >= MAX_BACKGROUND_RUNNING:
                raise TooManyBackgroundCommandsError
            folder = str(self._workspace)
            bash = await Bash.start_shell(ShellState(folder=folder), self._environment())
            command = Command(text, folder)
            bash.run_command(command, file_bytes)
            one = BackgroundCommand(background_id or f"bg_{secrets.token_hex(4)}", command, bash, timeout_s)
            self._commands[one.id] = one
            self._forget_oldest()
            return one

    def _forget_oldest(self) -> None:
        """Forget the commands that ended first; a late end may not have been reported yet, however early the start."""
        ended = [one for one in self._commands.values() if not one.is_running]
        ended.sort(key=lambda one: one.ended_at or 0.0)
        for one in ended[: max(0, len(ended) - MAX_KEPT)]:
            del self._commands[one.id]
