"""One bash process on a terminal of its own, fed commands through a pipe and telling their status through another.

Commands run by `eval` in bash itself, so folder, variables, functions and options stay. Being interactive it has job
control (each pipeline is a process group) and drops the rest of a command list on SIGINT.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pty
import secrets
import shlex
import signal
import struct
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

from tool_api.tools.shell import launcher, processes
from tool_api.tools.shell.command import Command
from tool_api.tools.shell.output import TerminalDecoder

_ROWS, _COLUMNS = 40, 160
_SENTINEL_WAIT_S = 0.5
_INTERRUPT_WAIT_S = 0.15
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class ShellState:
    """What outlives a bash that had to be ended: its folder and its exported variables, as bash prints them."""

    folder: str
    exports: str = ""


class BashEndedError(Exception):
    """The bash process is gone."""


class Bash:
    """A running bash. Make one with `start`; one command at a time."""

    def __init__(self, process: asyncio.subprocess.Process, terminal: int, commands: int, status: int) -> None:
        self._process = process
        self._terminal = terminal
        self._commands = commands
        self._status = status
        self._status_bytes = bytearray()
        self._nonce = secrets.token_hex(8)
        self._sentinel = f"\x1e{self._nonce}\x1e".encode()
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
    async def start(cls, state: ShellState, environment: dict[str, str]) -> Bash:
        """Start a bash in a former one's folder with its exported variables."""
        master, slave = pty.openpty()
        commands_read, commands_write = os.pipe()
        status_read, status_write = os.pipe()
        theirs = (commands_read, slave, status_write)
        try:
            _prepare_terminal(slave)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                str(Path(launcher.__file__)),
                *map(str, theirs),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                pass_fds=theirs,
                start_new_session=True,
                env=environment,
                cwd=state.folder if Path(state.folder).is_dir() else "/",
            )
        except BaseException:
            for fd in (master, commands_write, status_read):
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        bash = cls(process, master, commands_write, status_read)
        bash.state = state
        bash._attach()
        bash._write(_preamble(state, bash._nonce))
        return bash

    @property
    def pid(self) -> int:
        return self._process.pid

    def _attach(self) -> None:
        for fd in (self._terminal, self._commands, self._status):
            os.set_blocking(fd, False)
        self._loop.add_reader(self._terminal, self._read_terminal)
        self._loop.add_reader(self._status, self._read_status)
        self._waiter = self._loop.create_task(self._wait_for_exit())

    def run(self, command: Command) -> None:
        """Give bash a command; `command` is told its output and its end."""
        if not self.is_alive:
            raise BashEndedError
        self._command = command
        self._decoder = TerminalDecoder(self._sentinel)
        self._mark = secrets.token_hex(8)
        self._since_ticks = processes.clock_ticks()
        # An interrupt drops the rest of a line, so the report stands on the next one too; told twice it is told once.
        line = (
            f"{processes.MARK}={self._mark} "
            f"eval {shlex.quote(command.text)} <&{launcher.TERMINAL_FD} "
            f"{launcher.STATUS_FD}>&- {launcher.TERMINAL_FD}>&-; __suite_status {self._mark}\n"
            f"__suite_status {self._mark}\n"
        )
        self._write(line)

    def type_text(self, text: str) -> int:
        """Type into the terminal; answers how many bytes it took."""
        try:
            return os.write(self._terminal, text.encode())
        except BlockingIOError:
            return 0

    async def abort(self) -> bool:
        """End the running command with all it started; True when bash itself could be kept."""
        command = self._command
        if command is None:
            return True
        if processes.ignores(self.pid, signal.SIGINT):
            await self._kill(self._mark)
            return False
        os.kill(self.pid, signal.SIGINT)
        await processes.end_processes(self.pid, self._mark, self._since_ticks)
        if await command.wait(_INTERRUPT_WAIT_S):
            # What bash managed to start between the two looks.
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

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            try:
                data = data[os.write(self._commands, data) :]
            except BlockingIOError:
                rest = data
                self._loop.add_writer(self._commands, self._write_rest, bytearray(rest))
                return
            except BrokenPipeError:
                return

    def _write_rest(self, rest: bytearray) -> None:
        try:
            del rest[: os.write(self._commands, rest)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            rest.clear()
        if not rest:
            self._loop.remove_writer(self._commands)

    def _read_terminal(self) -> None:
        try:
            data = os.read(self._terminal, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._loop.remove_reader(self._terminal)
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
        code = await self._process.wait()
        self.is_alive = False
        self._drain_terminal()
        for fd in (self._terminal, self._status):
            self._loop.remove_reader(fd)
        self._loop.remove_writer(self._commands)
        if self._pending_exit is None:
            self._pending_exit = code
        self._finish()
        for fd in (self._terminal, self._commands, self._status):
            os.close(fd)

    def _drain_terminal(self) -> None:
        while self._command is not None and self._decoder is not None:
            try:
                data = os.read(self._terminal, _READ_BYTES)
            except OSError:
                return
            if not data:
                return
            self._command.add_output(self._decoder.feed(data))


def _prepare_terminal(slave: int) -> None:
    attributes = termios.tcgetattr(slave)
    attributes[0] &= ~termios.IXON
    attributes[1] &= ~termios.ONLCR
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))


# Tells the status once a command: the exit code, the folder and the exported variables, then the end of the output.
_REPORT = r"""
__suite_status() {
  local s=$?
  [[ $__suite_told == "$1" ]] && return $s
  __suite_told=$1
  printf '%s\0%s\0' "$s" "$PWD" >&STATUS
  { export -p; printf '\0'; } >&STATUS
  printf '\036%s\036' NONCE >&TERMINAL
  trap - INT
  return $s
}
"""


def _preamble(state: ShellState, nonce: str) -> str:
    """What bash reads first: no history, no prompt, how to report after each command, and what a former bash left."""
    report = _REPORT.replace("STATUS", str(launcher.STATUS_FD)).replace("TERMINAL", str(launcher.TERMINAL_FD))
    restore = f"eval {shlex.quote(state.exports)}" if state.exports else ":"
    settings = "set +o history +H; PS1=; PS2=; export -n PS1 PS2; unset HISTFILE"
    return f"{settings}\n{report.replace('NONCE', nonce)}\n{{ {restore}; }} 2>/dev/null\n"
