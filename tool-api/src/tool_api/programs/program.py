"""Starts a program in a process group of its own, reads what it writes within bounds, and ends it with its group.

Everything that the tool API starts by itself is started here.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tool_api

_LINE_BYTES = 64 * 1024
_READ_BYTES = 64 * 1024
_SOURCES = str(Path(tool_api.__file__).parent.parent)
# By its path alone a module would not find our packages, as it is started without our environment.
_RUN_MODULE = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import importlib; "
    "sys.exit(importlib.import_module(sys.argv.pop(1)).main())"
)


class TooMuchOutputError(Exception):
    """The program wrote more than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStart:
    """How a program is started. Unless an environment is given it has none; `user` needs root."""

    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str | Path = "/"
    stdin: int = DEVNULL
    stdout: int = PIPE
    stderr: int = DEVNULL
    pass_fds: Sequence[int] = ()
    line_bytes: int = _LINE_BYTES
    user: int | str | None = None


def module_command(module: str, *arguments: str) -> list[str]:
    """The command that runs `main` of a module of ours, apart from the agent's packages and settings."""
    return [sys.executable, "-I", "-B", "-c", _RUN_MODULE, _SOURCES, module, *arguments]


class Program:
    """A program that was started, and leads a process group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; the negative number of the signal that ended it."""
        return self._process.returncode

    @property
    def input(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def output(self) -> asyncio.StreamReader:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def errors(self) -> asyncio.StreamReader:
        assert self._process.stderr is not None
        return self._process.stderr

    async def wait(self) -> int:
        """Wait until it ends; its exit code."""
        return await self._process.wait()

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it alone, not its group; nothing happens once it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def end(self, grace_s: float = 0.0) -> None:
        """End its process group: at once, or by SIGTERM and after so many seconds by SIGKILL."""
        if grace_s > 0 and self.exit_code is None:
            self._signal_group(signal.SIGTERM)
            # A stopped program hears of it only when it goes on.
            self._signal_group(signal.SIGCONT)
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self.wait()
        self._signal_group(signal.SIGKILL)
        await self.wait()

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


async def start_program(start: ProgramStart) -> Program:
    """Start a program; the caller ends it. Raises `OSError`."""
    as_user: dict[str, Any] = {}
    if start.user is not None:
        as_user = {"user": start.user, "group": start.user, "extra_groups": []}
    process = await asyncio.create_subprocess_exec(
        *start.command,
        stdin=start.stdin,
        stdout=start.stdout,
        stderr=start.stderr,
        env=dict(start.environment),
        cwd=start.folder,
        start_new_session=True,
        pass_fds=tuple(start.pass_fds),
        limit=start.line_bytes,
        **as_user,
    )
    return Program(process)


@asynccontextmanager
async def running_program(start: ProgramStart, *, grace_s: float = 0.0) -> AsyncGenerator[Program]:
    """A program that is ended with its group when the block ends, however it does. Raises `OSError`."""
    program = await start_program(start)
    try:
        yield program
    finally:
        await asyncio.shield(asyncio.ensure_future(program.end(grace_s)))


@dataclass(frozen=True, slots=True)
class Output:
    """What a program wrote to its standard output by its end."""

    exit_code: int
    data: bytes


async def run_program(start: ProgramStart, *, within_s: float, max_bytes: int, text: bytes | None = None) -> Output:
    """Run a program to its end; `text` is its standard input, which then is a pipe.

    Raises:
        OSError: it can't be started.
        TimeoutError: it did not end in time.
        TooMuchOutputError: it wrote more than `max_bytes`.
    """
    async with asyncio.timeout(within_s), running_program(start) as program:
        if text is not None:
            program.input.write(text)
            program.input.close()
        output = BoundedOutput(max_bytes)
        if not await output.read(program.output):
            raise TooMuchOutputError
        return Output(await program.wait(), output.data)


class BoundedOutput:
    """The first bytes of a stream, which stay when reading it is cancelled."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._data = bytearray()

    @property
    def data(self) -> bytes:
        return bytes(self._data[: self._max_bytes])

    async def read(self, stream: asyncio.StreamReader) -> bool:
        """Read to the end of the stream; False where there was more than is kept."""
        while piece := await stream.read(_READ_BYTES):
            self._data += piece
            if len(self._data) > self._max_bytes:
                return False
        return True


class Tail:
    """The last bytes of a stream, which is read so that its writer never waits."""

    def __init__(self, stream: asyncio.StreamReader, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._data = bytearray()
        self._task = asyncio.get_running_loop().create_task(self._read(), name="tail of a program's output")

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")

    async def wait(self, timeout_s: float) -> None:
        """Wait until the stream ends, or for so many seconds."""
        await asyncio.wait({self._task}, timeout=timeout_s)

    def close(self) -> None:
        self._task.cancel()

    async def _read(self) -> None:
        while piece := await self._stream.read(_READ_BYTES):
            self._data = (self._data + piece)[-self._max_bytes :]
