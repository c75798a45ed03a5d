"""An MCP server that is a program: it is started, spoken to by lines, and ended with all it started."""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from contracts.mcp_programs import MAX_LINE_BYTES, McpProgramStart
from service_kit.programs import Program, ProgramStart, Tail, start_program
from service_kit.terminal.screen import screen_text
from tool_api.mcp_programs import launcher
from tool_api.mcp_programs.complaints import complaint
from tool_api.programs import processes

MAX_SAID_BYTES = 2_000
"""Bytes of standard error that are kept, the last ones."""
WRITE_S = 30.0
END_S = 2.0
"""Seconds that a program may run on after it closed its input or output."""
HIDDEN_CHARACTERS = 8
"""Values of environment variables of at least this length are masked in errors, as in the gateway."""
MARK = "SANDBOX_MCP_PROGRAM"
"""An environment variable of each program; processes that outlive its launcher are found by it."""


class LineTooLongError(Exception):
    """The program wrote a line of more than `MAX_LINE_BYTES`."""


class McpProgram:
    """A running MCP server; `mcp_program` makes one."""

    def __init__(self, program: Program, mark: str, env: Mapping[str, str]) -> None:
        self._program = program
        self._mark = f"{MARK}={mark}".encode()
        self._hidden = sorted((text for text in env.values() if len(text) >= HIDDEN_CHARACTERS), key=len, reverse=True)
        # A hidden value that lost its beginning could not be recognised.
        kept_bytes = MAX_SAID_BYTES + sum(len(text.encode()) for text in self._hidden[:1])
        self._errors = Tail(program.errors, kept_bytes)

    async def read_line(self) -> bytes | None:
        """The next line without its line feed; None once the program has ended. Raises `LineTooLongError`."""
        try:
            line = await self._program.output.readuntil()
        except asyncio.IncompleteReadError as error:
            return error.partial or None
        except asyncio.LimitOverrunError as error:
            raise LineTooLongError from error
        return line[:-1]

    async def write_line(self, line: bytes) -> None:
        """Write a line. Raises `OSError` when the program has ended, and `TimeoutError` when it does not read."""
        self._program.input.write(line.replace(b"\n", b" ") + b"\n")
        async with asyncio.timeout(WRITE_S):
            await self._program.input.drain()

    async def wait(self) -> None:
        """Wait until it has ended."""
        await self._program.wait()

    async def ending(self) -> str:
        """The exit reason of the program with its last errors; values of its environment variables are masked."""
        try:
            async with asyncio.timeout(END_S):
                ended = f"it ended with the exit code {await self._program.wait()}"
        except TimeoutError:
            ended = "it has closed its input and output"
        await self._errors.wait(0.1)
        said = screen_text(self._errors.text).strip()
        for text in self._hidden:
            said = said.replace(text, "***")
        told = complaint(said)
        return ended + (f": {told}" if told else "")

    async def close(self) -> None:
        """End it with all that it started."""
        if self._program.exit_code is None:
            # While stopped, it still adopts processes that lose their parent.
            self._program.send_signal(signal.SIGSTOP)
            await processes.end_found(lambda: processes.descendant_pids(self._program.pid))
        await self._program.end()
        await processes.end_found(lambda: processes.with_variable(self._mark))
        self._errors.close()
        self._program.input.close()


@asynccontextmanager
async def mcp_program(
    start: McpProgramStart, folder: Path, environment: Mapping[str, str]
) -> AsyncGenerator[McpProgram]:
    """An MCP server that runs until the block ends. Raises `OSError`."""
    mark = secrets.token_hex(8)
    start_of_it = ProgramStart(
        command=(sys.executable, "-I", "-S", str(Path(launcher.__file__)), start.command, *start.args),
        environment={**environment, **start.env, MARK: mark},
        folder=folder if folder.is_dir() else "/",
        stdin=PIPE,
        stderr=PIPE,
        line_bytes=MAX_LINE_BYTES,
    )
    program = McpProgram(await start_program(start_of_it), mark, start.env)
    try:
        yield program
    finally:
        await asyncio.shield(asyncio.ensure_future(program.close()))


async def end_mcp_programs() -> None:
    """End all MCP servers with what they started; their sockets close with a reason."""
    await processes.end_found(lambda: processes.with_variable(f"{MARK}=".encode()))
