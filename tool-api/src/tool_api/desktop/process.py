"""A program of the desktop, whose output says when it is ready and why it failed."""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import STDOUT
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar

from service_kit.amounts import duration_text
from service_kit.programs import Program, ProgramStart, start_program
from tool_api.desktop.settings import DesktopSettings

TAIL_LINES = 20
LINE_LIMIT = 64 * 1024
LAST_LINES_S = 1.0
_T = TypeVar("_T")


class StartFailedError(Exception):
    """A program ended or stayed silent before it was ready; the message holds its last words."""


class DesktopProgram:
    """A running program whose output is read line by line and whose last lines are kept."""

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.pid = program.pid
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._program = program
        self._waiting: tuple[Callable[[str], str | None], asyncio.Future[str]] | None = None
        self._drained = asyncio.Event()

    async def wait(self) -> int:
        """Wait until it ends and its last lines are read; its exit code."""
        code = await self._program.wait()
        with suppress(TimeoutError):
            # A child that outlives it may keep its output open.
            async with asyncio.timeout(LAST_LINES_S):
                await self._drained.wait()
        return code

    async def said(self, pick: Callable[[str], str | None], timeout_s: float) -> str:
        """The first thing `pick` finds in a line of its output. Raises `StartFailedError`."""
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting = (pick, found)
        return await self.before_end(found, timeout_s)

    async def before_end(self, sign: asyncio.Future[_T], timeout_s: float) -> _T:
        """The result of `sign`. Raises `StartFailedError` when the program ends or the time is over first."""
        ended = asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait({sign, ended}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if sign.done():
                return sign.result()
            state = (
                f"ended with code {ended.result()}" if ended.done() else f"not ready within {duration_text(timeout_s)}"
            )
            raise StartFailedError(f"{self.name} {state}: {' | '.join(self.tail)[-500:]}")
        finally:
            ended.cancel()
            sign.cancel()

    async def drain(self) -> None:
        """Read its output until it closes; a program whose pipe is full would stand still."""
        while raw := await _line(self._program.output):
            line = raw.decode("utf-8", "replace").rstrip()
            self.tail.append(line[:500])
            if self._waiting is not None and (found := self._waiting[0](line)) is not None:
                if not self._waiting[1].done():
                    self._waiting[1].set_result(found)
                self._waiting = None
        self._drained.set()

    async def end(self, grace_s: float) -> None:
        """End its process group: SIGTERM, and after the grace SIGKILL."""
        await self._program.end(grace_s)


async def _line(stream: asyncio.StreamReader) -> bytes:
    try:
        return await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as rest:
        return rest.partial
    except asyncio.LimitOverrunError as overrun:
        return await stream.read(overrun.consumed or LINE_LIMIT)


@asynccontextmanager
async def running(
    name: str,
    command: list[str],
    environment: dict[str, str],
    settings: DesktopSettings,
    pass_fds: tuple[int, ...] = (),
) -> AsyncGenerator[DesktopProgram]:
    """Run `command` for as long as the block lasts. Raises `StartFailedError` where it can't be started."""
    start = ProgramStart(
        command=command,
        environment=environment,
        folder=settings.home,
        stderr=STDOUT,
        pass_fds=pass_fds,
        line_bytes=LINE_LIMIT,
        user=settings.user,
    )
    try:
        program = DesktopProgram(name, await start_program(start))
    except OSError as error:
        raise StartFailedError(f"{name} could not be started: {error}") from error
    reader = asyncio.create_task(program.drain(), name=f"output of {name}")
    try:
        yield program
    finally:
        await asyncio.shield(asyncio.ensure_future(program.end(settings.stop_grace_s)))
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


@contextmanager
def number_pipe() -> Generator[tuple[int, asyncio.Future[str]]]:
    """A pipe's write end, and a future of the first line that is written to it."""
    loop = asyncio.get_running_loop()
    read_fd, write_fd = os.pipe()
    line: asyncio.Future[str] = loop.create_future()
    received = bytearray()

    def take() -> None:
        received.extend(os.read(read_fd, 64))
        if b"\n" in received and not line.done():
            line.set_result(received.split(b"\n")[0].decode("ascii", "replace"))

    loop.add_reader(read_fd, take)
    try:
        yield write_fd, line
    finally:
        loop.remove_reader(read_fd)
        os.close(read_fd)
        os.close(write_fd)
