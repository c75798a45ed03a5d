"""One bash process on a terminal of its own (on pipes, if there is none), fed commands through a pipe and reporting
their status through another.

Commands run by `eval` in bash itself, so folder, variables, functions and options stay. Being interactive it has job
control (each pipeline is a process group) and drops the rest of a command list on SIGINT.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shlex
import signal
import sys
from asyncio.subprocess import DEVNULL
from dataclasses import dataclass
from pathlib import Path

from service_kit.programs import Program, ProgramStart, start_program
from tool_api.programs import processes
from tool_api.tools.shell import launcher
from tool_api.tools.shell.command import Command
from tool_api.tools.shell.output import TerminalDecoder
from tool_api.tools.shell.pipe_writer import PipeWriter
from tool_api.tools.shell.streams import Streams, open_streams

_SENTINEL_WAIT_S = 0.5
_INTERRUPT_WAIT_S = 0.15
_READ_BYTES = 65536
_DRAIN_BYTES = 1024 * 1024
"""The most that a pipe holds."""
_DRAIN_S = 0.5
_CODE = re.compile(rb"\d{1,3}")


@dataclass(frozen=True, slots=True)
class ShellState:
    """The folder and exported variables of a bash, which the next one starts with."""

    folder: str
    exports: str = ""


class BashEndedError(Exception):
    """The bash process is gone."""


class Bash:
    """A running bash, which runs one command at a time; `start_shell` makes one."""

    def __init__(self, program: Program, streams: Streams, commands: int, status: int) -> None:
        self._program = program
        self._streams = streams
        self._commands = PipeWriter(commands)
        self._status = status
        self._status_bytes = bytearray()
        self._nonce = secrets.token_hex(8)
        self._decoder: TerminalDecoder | None = None
        self._command: Command | None = None
        self._mark = ""
        self._since_ticks = 0
        self._loop = asyncio.get_running_loop()
        self._finish_timer: asyncio.TimerHandle | None = None
        self._pending_exit: int | None = None
        self._waiter: asyncio.Task[None] | None = None
        self.state = ShellState(folder="/")
        self.is_alive = True

    @classmethod
    async def start_shell(cls, state: ShellState, environment: dict[str, str], *, writes: bool = True) -> Bash:
        """Start a bash in a former one's folder with its exported variables. With `writes` false, neither it nor what
        it starts can write to any file. Raises `OSError`."""
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            streams = open_streams()
            _close_at_end(ours, *streams.ours)
            _close_at_end(theirs, *streams.shells)
            commands_read, commands_write = os.pipe()
            _close_at_end(ours, commands_write)
            _close_at_end(theirs, commands_read)
            status_read, status_write = os.pipe()
            _close_at_end(ours, status_read)
            _close_at_end(theirs, status_write)
            given = (commands_read, streams.shell_input, streams.shell_output, status_write)
            program = await start_program(
                ProgramStart(
                    command=(sys.executable, "-I", "-S", str(Path(launcher.__file__)), *map(str, given)),
                    environment=environment,
                    folder=state.folder if Path(state.folder).is_dir() else "/",
                    stdout=DEVNULL,
                    pass_fds=given,
                )
            )
            ours.pop_all()
        if not writes:
            processes.bound_files(program.pid, 0, for_good=True)
        bash = cls(program, streams, commands_write, status_read)
        bash.state = state
        bash._attach()
        bash._commands.write(_preamble(state, bash._nonce))
        return bash

    @property
    def has_terminal(self) -> bool:
        return self._streams.is_terminal

    @property
    def pid(self) -> int:
        return self._program.pid

    def _attach(self) -> None:
        for fd in (*self._streams.ours, self._status):
            os.set_blocking(fd, False)
        self._loop.add_reader(self._streams.output, self._read_output)
        self._loop.add_reader(self._status, self._read_status)
        self._waiter = self._loop.create_task(self._wait_for_exit())

    def run_command(self, command: Command, file_bytes: int | None = None) -> None:
        """Run a command that makes no file larger than `file_bytes`; `command` collects its output and exit code."""
        if not self.is_alive:
            raise BashEndedError
        processes.bound_files(self.pid, file_bytes)
        command.file_bytes = file_bytes
        self._command = command
        self._mark = secrets.token_hex(8)
        start = f"\x1e{self._nonce}"
        self._decoder = TerminalDecoder(f"{start}{self._mark}\x1e".encode(), start.encode())
        self._since_ticks = processes.clock_ticks()
        # An interrupt drops the rest of a line, so the next line reports too; a second report is ignored.
        line = (
            f"{processes.MARK}={self._mark} "
            f"eval {shlex.quote(command.text)} <&{launcher.INPUT_FD} "
            f"{launcher.STATUS_FD}>&- {launcher.OUTPUT_FD}>&- {launcher.INPUT_FD}<&-; __suite_status {self._mark}\n"
            f"__suite_status {self._mark}\n"
        )
        self._commands.write(line)

    def type_text(self, text: str) -> int:
        """Type for the running command; returns how many bytes were accepted."""
        try:
            return os.write(self._streams.keys, text.encode())
        except (BlockingIOError, BrokenPipeError):
            return 0

    async def abort(self) -> bool:
        """End the running command with all it started; True when bash itself could be kept."""
        command = self._command
        if command is None:
            return True
        if processes.ignores(self.pid, signal.SIGINT):
            await self._kill(self._mark)
            return False
        try:
            os.kill(self.pid, signal.SIGINT)
        except ProcessLookupError:
            # It has just ended; processes that it started may still run.
            await self._kill(self._mark)
            return False
        await processes.end_processes(self.pid, self._mark, self._since_ticks)
        if await command.wait(_INTERRUPT_WAIT_S):
            # End what bash started between the two looks.
            await processes.end_processes(self.pid, self._mark, self._since_ticks)
            return self.is_alive
        await self._kill(self._mark)
        return False

    async def close(self) -> None:
        """End bash and everything below it."""
        await self._kill(None)

    async def _kill(self, mark: str | None) -> None:
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGSTOP)
                if mark is not None:
                    self._remember_folder()
            await processes.end_processes(self.pid, mark, self._since_ticks)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        if self._waiter is not None:
            await self._waiter

    def _remember_folder(self) -> None:
        with contextlib.suppress(OSError):
            self.state = ShellState(folder=str(Path(f"/proc/{self.pid}/cwd").readlink()), exports=self.state.exports)

    def _read_output(self) -> None:
        try:
            data = os.read(self._streams.output, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._streams.output)
            return
        if self._command is None or self._decoder is None:
            return
        text = self._decoder.feed(data)
        if text:
            self._command.add_output(text)
        if self._decoder.is_finished and self._pending_exit is not None:
            self._finish()

    def _read_status(self) -> None:
        try:
            data = os.read(self._status, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._status)
            return
        self._status_bytes += data
        if self._status_bytes.count(0) < 3:
            return
        code, folder, exports = bytes(self._status_bytes).split(b"\0")[:3]
        self._status_bytes.clear()
        if not _CODE.fullmatch(code):
            return
        self.state = ShellState(folder=os.fsdecode(folder), exports=os.fsdecode(exports))
        self._pending_exit = int(code)
        if self._decoder is None or self._decoder.is_finished:
            self._finish()
        else:
            self._finish_timer = self._loop.call_later(_SENTINEL_WAIT_S, self._finish)

    def _finish(self) -> None:
        if self._finish_timer is not None:
            self._finish_timer.cancel()
            self._finish_timer = None
        command, decoder, code = self._command, self._decoder, self._pending_exit
        self._command = self._decoder = self._pending_exit = None
        if command is None:
            return
        if decoder is not None and not decoder.is_finished:
            command.add_output(decoder.flush())
        command.finish(code, self.state.folder)

    async def _wait_for_exit(self) -> None:
        code = await self._program.wait()
        self.is_alive = False
        for fd in (self._streams.output, self._status):
            self._loop.remove_reader(fd)
        await self._drain_output()
        if self._pending_exit is None:
            self._pending_exit = code
        self._finish()
        self._commands.close()
        for fd in (*self._streams.ours, self._status):
            os.close(fd)

    async def _drain_output(self) -> None:
        """Read what bash and its programs had written: no more than a pipe holds, as some may go on writing for
        ever."""
        left, until = _DRAIN_BYTES, self._loop.time() + _DRAIN_S
        while self._command is not None and self._decoder is not None and left > 0 and self._loop.time() < until:
            try:
                data = os.read(self._streams.output, min(_READ_BYTES, left))
            except OSError:
                return
            if not data:
                return
            left -= len(data)
            self._command.add_output(self._decoder.feed(data))
            await asyncio.sleep(0)


def _close_at_end(stack: contextlib.ExitStack, *fds: int) -> None:
    for fd in fds:
        stack.callback(os.close, fd)


# Tells the status once a command: the exit code, the folder and the exported variables, then the end of the output.
_REPORT = r"""
__suite_status() {
  local s=$?
  [[ $__suite_told == "$1" ]] && return $s
  __suite_told=$1
  printf '%s\0%s\0' "$s" "$PWD" >&STATUS
  { export -p; printf '\0'; } >&STATUS
  printf '\036%s%s\036' NONCE "$1" >&OUTPUT
  trap - INT
  return $s
}
"""


def _preamble(state: ShellState, nonce: str) -> str:
    """The first commands of a bash: no history, no prompt, a report after each command, and the state of a former
    bash."""
    report = _REPORT.replace("STATUS", str(launcher.STATUS_FD)).replace("OUTPUT", str(launcher.OUTPUT_FD))
    restore = f"eval {shlex.quote(state.exports)}" if state.exports else ":"
    settings = "set +o history +H; PS1=; PS2=; export -n PS1 PS2; unset HISTFILE"
    # On a terminal both are so already.
    settings += f"; exec 2>&{launcher.OUTPUT_FD}; set -m"
    return f"{settings}\n{report.replace('NONCE', nonce)}\n{{ {restore}; }} 2>/dev/null\n"
