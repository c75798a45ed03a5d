"""Starts a program in a process group of its own, reads what it writes within bounds, and ends it with its group.

Everything that the gateway and the tool API start by themselves is started here.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_LINE_BYTES = 64 * 1024
_READ_BYTES = 64 * 1024


class TooMuchOutputError(Exception):
    """The program wrote more than it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStart:
    """Parameters of a program's start. Its environment is empty unless one is given; `user` needs root."""

    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str | Path = "/"
    stdin: int = DEVNULL
    stdout: int = PIPE
    stderr: int = DEVNULL
    pass_fds: Sequence[int] = ()
    line_bytes: int = _LINE_BYTES
    user: int | str | None = None


class _Pipes(SubprocessStreamProtocol):
    """Reports when the program has exited. asyncio's own wait ends only when its pipes are closed too, which a full
    buffer that nobody reads, or a child that left the group, can keep open without end."""

    def __init__(self, line_bytes: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(line_bytes, loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.exited.set()


class Program:
    """A program that was started, and leads a process group."""

    def __init__(self, transport: asyncio.SubprocessTransport, pipes: _Pipes) -> None:
        self._transport = transport
        self._pipes = pipes
        self.pid = transport.get_pid()

    @property
    def exit_code(self) -> int | None:
        """The exit code: None while it runs, the negative number of the signal that ended it."""
        return self._transport.get_returncode()

    @property
    def input(self) -> asyncio.StreamWriter:
        assert self._pipes.stdin is not None
        return self._pipes.stdin

    @property
    def output(self) -> asyncio.StreamReader:
        assert self._pipes.stdout is not None
        return self._pipes.stdout

    @property
    def errors(self) -> asyncio.StreamReader:
        assert self._pipes.stderr is not None
        return self._pipes.stderr

    async def wait(self) -> int:
        """Wait until it ends; returns its exit code. Its last output may still be unread."""
        await self._pipes.exited.wait()
        code = self.exit_code
        assert code is not None
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it alone, not its group; nothing happens once it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    async def end(self, grace_s: float = 0.0) -> None:
        """End its process group: at once, or by SIGTERM and after so many seconds by SIGKILL.

        Output that is unread by then is dropped.
        """
        if grace_s > 0 and self.exit_code is None:
            self._signal_group(signal.SIGTERM)
            # A stopped program hears of it only when it goes on.
            self._signal_group(signal.SIGCONT)
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self.wait()
        self._signal_group(signal.SIGKILL)
        await self.wait()
        for number in range(3):
            pipe = self._transport.get_pipe_transport(number)
            if pipe is None or pipe.is_closing():
                continue
            if isinstance(pipe, asyncio.WriteTransport):
                pipe.abort()
            else:
                pipe.close()

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


async def start_program(start: ProgramStart) -> Program:
    """Start a program; the caller ends it. Raises `OSError`."""
    as_user: dict[str, Any] = {}
    if start.user is not None:
        as_user = {"user": start.user, "group": start.user, "extra_groups": []}
    loop = asyncio.get_running_loop()
    transport, pipes = await loop.subprocess_exec(
        lambda: _Pipes(start.line_bytes, loop),
        *start.command,
        stdin=start.stdin,
        stdout=start.stdout,
        stderr=start.stderr,
        env=dict(start.environment),
        cwd=start.folder,
        start_new_session=True,
        pass_fds=tuple(start.pass_fds),
        **as_user,
    )
    return Program(transport, pipes)


@asynccontextmanager
async def running_program(start: ProgramStart) -> AsyncGenerator[Program]:
    """A program that is ended with its group when the block ends, however it does. Raises `OSError`."""
    program = await start_program(start)
    try:
        yield program
    finally:
        await asyncio.shield(asyncio.ensure_future(program.end()))


@dataclass(frozen=True, slots=True)
class Output:
    """The exit code of a program and its whole standard output."""

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
        """Read to the end of the stream; False if there was more than is kept."""
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
        """Wait until the stream ends, or the time is over."""
        await asyncio.wait({self._task}, timeout=timeout_s)

    def close(self) -> None:
        self._task.cancel()

    async def _read(self) -> None:
        while piece := await self._stream.read(_READ_BYTES):
            self._data = (self._data + piece)[-self._max_bytes :]
