"""The shell tools' work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts.tools import ShellDisplay, ToolResult
from tool_api.tools.shell.allowed import refused_command
from tool_api.tools.shell.command import Command
from tool_api.tools.shell.shells import Shell, ShellBusyError, Shells, TooManyShellsError
from tool_api.tools.shell.types import ShellExec, ShellKill, ShellView, ShellWait, ShellWrite
from tool_api.tools.tool import CallContext, done, failed
from tool_api.write_bound import WriteBound, unbound

_LAST_WORD_S = 1.0
_BUSY_WAIT_S = 1.0
_WRITE_LOOK_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellController:
    """Runs, watches, feeds and ends commands in named shells."""

    shells: Shells
    default_timeout_s: int
    allowed: frozenset[str]
    notice: Callable[[], str | None] = lambda: None
    """A notice added to each result of a command."""
    bound: Callable[[], Awaitable[WriteBound]] = unbound
    """The write limit of a command; asked before and after each one."""

    async def execute(self, call: CallContext, arguments: ShellExec) -> ToolResult:
        if (refused := refused_command(arguments.command, self.allowed)) is not None:
            return failed(f"The command {refused!r} is not allowed in this sandbox.")
        try:
            shell = await self.shells.open(arguments.shell)
            bound = await self.bound()
            command = await shell.start_command(
                arguments.command, wait_s=min(_BUSY_WAIT_S, call.remaining_s), bound=bound
            )
        except ShellBusyError as busy:
            return failed(
                f"The shell {arguments.shell} is still running: {_shorten(busy.command.text)}\n"
                "Wait for it (shell_wait), end it (shell_kill), or use another shell."
            )
        except TooManyShellsError:
            return failed(f"Too many shells are open; use one of: {', '.join(self.shells.names())}.")
        except OSError as error:
            return failed(f"The shell {arguments.shell} could not be started: {error.strerror or error}.")
        limit = min(arguments.timeout_s or self.default_timeout_s, max(0.0, call.remaining_s - _LAST_WORD_S))
        try:
            if await _follow(call, command, limit):
                await self.bound()
                return self._with_notes(shell, _result(shell, command))
            if arguments.keep_running:
                return self._with_notes(shell, _result(shell, command))
            kept = await shell.abort()
        except asyncio.CancelledError:
            await asyncio.shield(shell.abort())
            raise
        note = f"The command was ended, with all it had started, as it ran longer than {limit:.0f} s."
        return _failed_result(shell, command, note if kept else f"{note} {_RESTARTED}")

    async def view(self, _: CallContext, arguments: ShellView) -> ToolResult:
        shell, command = self._find(arguments.shell)
        if shell is None or command is None:
            return self._no_command(arguments.shell)
        return _result(shell, command, of_failure=False)

    async def wait(self, call: CallContext, arguments: ShellWait) -> ToolResult:
        shell, command = self._find(arguments.shell)
        if shell is None or command is None:
            return self._no_command(arguments.shell)
        limit = min(arguments.timeout_s or self.default_timeout_s, max(0.0, call.remaining_s - _LAST_WORD_S))
        await _follow(call, command, limit)
        return self._with_notes(shell, _result(shell, command))

    async def write(self, call: CallContext, arguments: ShellWrite) -> ToolResult:
        shell, command = self._find(arguments.shell)
        if shell is None or command is None or command.is_finished:
            return failed(f"Nothing is running in the shell {arguments.shell} that could read input.")
        command.take_unread()
        data = arguments.text + ("\n" if arguments.press_enter else "")
        if shell.type_text(data) < len(data.encode()):
            return failed("The command does not read its input; not all of the text was written.")
        await _follow(call, command, _WRITE_LOOK_S)
        return _result(shell, command, of_failure=False)

    async def kill(self, _: CallContext, arguments: ShellKill) -> ToolResult:
        shell, command = self._find(arguments.shell)
        if shell is None or command is None or command.is_finished:
            return done(f"Nothing was running in the shell {arguments.shell}.")
        kept = await asyncio.shield(shell.abort())
        note = "The command was ended, with all it had started."
        return done(note if kept else f"{note} {_RESTARTED}", display=_display(shell, command))

    def _with_notes(self, shell: Shell, result: ToolResult) -> ToolResult:
        notices = (self.notice(), None if shell.has_terminal else _NO_TERMINAL)
        notes = "".join(f"\n[{one}]" for one in notices if one is not None)
        return result.model_copy(update={"output": f"{result.output}{notes}"}) if notes else result

    def _find(self, name: str) -> tuple[Shell | None, Command | None]:
        shell = self.shells.find(name)
        return shell, shell.command if shell is not None else None

    def _no_command(self, name: str) -> ToolResult:
        known = ", ".join(self.shells.names()) or "none"
        return failed(f"No command has run in the shell {name}. Open shells: {known}.")


_NO_TERMINAL = (
    "This shell has no terminal, as the machine had none left: output of a running program may come late, and Ctrl+C "
    "can't be typed (use shell_kill). After `exit` it is started anew, on a terminal if there is one by then."
)
_RESTARTED = "The shell had to be restarted: its folder and exported variables were kept, other variables were not."


async def _follow(call: CallContext, command: Command, limit_s: float) -> bool:
    """Send output as it comes; True if the command ended within the time."""
    loop = asyncio.get_running_loop()
    until = loop.time() + limit_s
    while True:
        has_output = await command.wait_for_output(max(0.0, until - loop.time()))
        if text := command.take_unread():
            await call.output(text)
        if command.is_finished:
            return True
        if not has_output or loop.time() >= until:
            return False


def _result(shell: Shell, command: Command, *, of_failure: bool = True) -> ToolResult:
    """The command as a result; a failing exit code makes it a failure unless `of_failure` is false."""
    output = command.output
    if not command.is_finished:
        note = f"[still running in the shell {shell.name}]"
        return _with_display(shell, command, done(f"{output}\n{note}" if output else note))
    if command.exit_code == 0:
        return _with_display(shell, command, done(output or "[no output]"))
    note = "\n".join(f"[{one}]" for one in command.end_notes(output))
    text = f"{output.rstrip()}\n{note}" if output else note
    return _with_display(shell, command, failed(text) if of_failure else done(text))


def _failed_result(shell: Shell, command: Command, note: str) -> ToolResult:
    output = command.output
    result = failed(f"{output.rstrip()}\n[{note}]" if output else f"[{note}]")
    return _with_display(shell, command, result)


def _with_display(shell: Shell, command: Command, result: ToolResult) -> ToolResult:
    return result.model_copy(update={"display": _display(shell, command), "raw_output": command.raw_output})


def _display(shell: Shell, command: Command) -> ShellDisplay:
    return ShellDisplay(command=command.text, shell=shell.name, exit_code=command.exit_code, cwd=command.folder)


def _shorten(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[:limit] + "..."
